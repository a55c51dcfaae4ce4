/** What breaks stays visibly broken: answers that end, are reset or fall silent at any byte. */

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { Exchange } from '../../src/core/exchange.ts';
import { readBeginning } from '../support/clients/answer-beginning.ts';
import { assertError } from '../support/clients/error-answer.ts';
import { type HeaderField, lastChunk, toChunk, toHead } from '../support/clients/http-message.ts';
import { type RawResponse, send } from '../support/clients/raw-client.ts';
import { connect } from '../support/clients/raw-connection.ts';
import { authorized, type Pair, question, questionBytes, startPair } from '../support/gateways/pair.ts';
import { patiently, patientMs } from '../support/time/patience.ts';
import type { Handler } from '../support/upstreams/fake-upstream.ts';

const data = `{"object":"list","data":[{"embedding":[${'0.0123456789,'.repeat(20)}1],"index":0}],"model":"x"}`;
const events = Array.from({ length: 6 }, (_, i) => `data: {"id":"c","choices":[{"text":"word ${i}","index":0}]}\n\n`);
const chunks = (parts: readonly string[]): Buffer => Buffer.concat(parts.map((part) => toChunk(Buffer.from(part))));

function headOf(...headers: readonly HeaderField[]): Buffer {
  return toHead('HTTP/1.1 200 Fine', [...headers, ['X-Request-Id', 'req_1'], ['X-Filler', '.'.repeat(60)]]);
}

const chunked: HeaderField = ['Transfer-Encoding', 'chunked'];
const closing: HeaderField = ['Connection', 'close'];
const json: HeaderField = ['Content-Type', 'application/json'];
const eventStream: HeaderField = ['Content-Type', 'text/event-stream'];
const length: HeaderField = ['Content-Length', String(data.length)];
const pieces = data.match(/.{1,50}/g) ?? [];

/** About 600 bytes each. */
const answers: Readonly<Record<string, Buffer>> = {
  'with a length': Buffer.concat([headOf(json, length), Buffer.from(data)]),
  'in chunks': Buffer.concat([headOf(json, chunked), chunks(pieces), lastChunk]),
  'of events': Buffer.concat([headOf(eventStream, chunked), chunks([...events, 'data: [DONE]\n\n']), lastChunk]),
};

/** The same with something that the end of a connection could be taken for; looked at less closely. */
const variants: Readonly<Record<string, Buffer>> = {
  'with a length on a connection to be closed': Buffer.concat([headOf(json, length, closing), Buffer.from(data)]),
  'in chunks on a connection to be closed': Buffer.concat([headOf(json, chunked, closing), chunks(pieces), lastChunk]),
  'in chunks with trailers': Buffer.concat([headOf(json, chunked), chunks(pieces), toHead('0', [['X-T', 'yes']])]),
};

function stopsIn(kind: string, bytes: Buffer): number[] {
  const every = Array.from({ length: bytes.length + 1 }, (_, i) => i);
  return kind in answers ? every : every.filter((after) => after % 8 === 0 || after > bytes.length - 30);
}

type Ending = 'cut' | 'reset';

/** The request contains after how many bytes the answer ends, and how. */
const breakingOff =
  (bytes: Buffer): Handler =>
  async (request, reply) => {
    const { after, how }: { after: number; how: Ending } = JSON.parse(request.body.toString());
    if (after > 0) await reply.raw(bytes.subarray(0, after));
    reply[how]();
  };

function askFor(pair: Pair, after: number, how: Ending): Promise<RawResponse> {
  const body = JSON.stringify({ model: 'm', input: 'x', after, how });
  return send(pair.rig.port, questionBytes(body, [['X-Request-Id', `${how}-${after}`]]));
}

/** At once, so that thousands of them take seconds. */
const sideBySide = 24;

async function askAll(pair: Pair, stops: readonly number[], how: Ending): Promise<Map<number, RawResponse>> {
  const answers = new Map<number, RawResponse>();
  const left = [...stops];
  const worker = async (): Promise<void> => {
    for (let after = left.shift(); after !== undefined; after = left.shift()) {
      answers.set(after, await askFor(pair, after, how));
    }
  };
  await Promise.all(Array.from({ length: sideBySide }, worker));
  return answers;
}

async function settledOnce(pair: Pair, id: string, total: number): Promise<Exchange> {
  await pair.rig.exchange(total);
  const found = pair.rig.settled.filter((exchange) => exchange.clientRequestId === id);
  assert.equal(found.length, 1, `${id} was settled ${found.length} times`);
  const [exchange] = found;
  if (exchange === undefined) throw new Error(`${id} was not settled`);
  return exchange;
}

for (const [kind, bytes] of Object.entries({ ...answers, ...variants })) {
  const stops = stopsIn(kind, bytes);

  test(`a response ${kind} truncated at any byte arrives up to it, and never looks complete`, async (t) => {
    const pair = await startPair(t, breakingOff(bytes));
    for (const [after, answer] of await askAll(pair, stops, 'cut')) {
      const expected = readBeginning(bytes.subarray(0, after));
      const exchange = await settledOnce(pair, `cut-${after}`, stops.length);
      const shown = `after byte ${after}: ${answer.statusLine}`;
      if (!expected.headComplete) {
        assertError(answer, 'upstream_unreachable', { of: shown });
        assert.equal(exchange.errorCode, 'upstream_unreachable', shown);
        assert.equal(exchange.cut, false, shown);
        continue;
      }
      assert.equal(answer.statusLine, 'HTTP/1.1 200 Fine', shown);
      assert.equal(answer.header('x-upstream-request-id'), 'req_1', shown);
      assert.ok(
        answer.body.equals(expected.body),
        `${shown}: ${answer.body.length} bytes, not ${expected.body.length}`,
      );
      assert.equal(answer.complete, expected.complete, shown);
      assert.equal(exchange.status, 200, shown);
      assert.equal(exchange.cut, !expected.complete, shown);
      assert.equal(exchange.errorCode !== undefined, !expected.complete, shown);
      assert.equal(exchange.responseBytes, expected.body.length, shown);
      if (!expected.complete) assert.notEqual(answer.closed, 'open', shown);
    }
    assert.equal(pair.rig.settled.length, stops.length);
  });

  test(`a response ${kind} reset at any byte arrives partly, and never looks complete`, async (t) => {
    const pair = await startPair(t, breakingOff(bytes));
    const whole = readBeginning(bytes).body;
    for (const [after, answer] of await askAll(pair, stops, 'reset')) {
      const sent = readBeginning(bytes.subarray(0, after));
      const exchange = await settledOnce(pair, `reset-${after}`, stops.length);
      const shown = `after byte ${after}: ${answer.statusLine}`;
      if (answer.status === 502) {
        // A reset may overtake the bytes before it.
        assertError(answer, 'upstream_unreachable', { of: shown });
        assert.equal(exchange.cut, false, shown);
        continue;
      }
      assert.ok(sent.headComplete, shown);
      assert.equal(answer.status, 200, shown);
      assert.ok(whole.subarray(0, answer.body.length).equals(answer.body), shown);
      assert.ok(answer.body.length <= sent.body.length, shown);
      if (answer.complete) assert.ok(sent.complete, `${shown}: it looks complete`);
      assert.equal(exchange.cut, !answer.complete, shown);
      assert.equal(exchange.status, 200, shown);
    }
    assert.equal(pair.rig.settled.length, stops.length);
  });
}

test('a reset does not complete a body that ends with the connection', async (t) => {
  const pair = await startPair(t);
  for (const version of ['HTTP/1.0', 'HTTP/1.1']) {
    for (const asked of ['HTTP/1.1', 'HTTP/1.0']) {
      let breakOff = (): void => {};
      const seen = new Promise<void>((resolve) => {
        breakOff = resolve;
      });
      pair.upstream.respondWith(async (_request, reply) => {
        await reply.raw(`${version} 200 OK\r\nContent-Type: text/plain\r\n\r\n"half of it`);
        await seen;
        reply.reset();
      });
      const head = authorized(['Content-Length', String(question.length)], ['Host', 'x']);
      const connection = await connect(pair.rig.port);
      await connection.write(Buffer.concat([toHead(`POST /v1/embeddings ${asked}`, head), Buffer.from(question)]));
      await connection.sees('half of it');
      breakOff();
      const answer = await connection.nextResponse();
      assert.equal(answer.status, 200);
      assert.equal(answer.complete, false);
      // Where the body would end with the connection, FIN would make it whole.
      if (asked === 'HTTP/1.0') assert.equal(answer.closed, 'reset');
    }
  }
  await pair.rig.exchange(4);
  assert.ok(pair.rig.settled.every(({ cut }) => cut));
});

test('an error response that breaks is broken for the client, byte for byte', async (t) => {
  for (const body of ['{"error":{"message":"half an er', '']) {
    const pair = await startPair(t, async (_request, reply) => {
      await reply.head(503, [json, ['Content-Length', '100']]);
      if (body !== '') await reply.raw(body);
      reply.cut();
    });
    const answer = await send(pair.rig.port, questionBytes());
    assert.equal(answer.status, 503);
    assert.equal(answer.body.toString(), body);
    assert.equal(answer.complete, false);
    assert.notEqual(answer.closed, 'open');
    const exchange = await pair.rig.exchange();
    assert.equal(exchange.status, 503);
    assert.equal(exchange.cut, true);
  }
});

/** Sends so many bytes, and then nothing more. */
const fallingSilent =
  (bytes: Buffer): Handler =>
  async (request, reply) => {
    const { after }: { after: number } = JSON.parse(request.body.toString());
    if (after > 0) await reply.raw(bytes.subarray(0, after));
    await reply.stall();
  };

async function assertSilenceBroken(t: TestContext, bytes: Buffer, timeouts: Record<string, string>): Promise<void> {
  const pair = await startPair(t, fallingSilent(bytes), { upstream: { timeouts } });
  const headEnd = bytes.indexOf('\r\n\r\n') + 4;
  const stops = [40, headEnd - 1, headEnd, headEnd + 1, bytes.length - 300, bytes.length - 6, bytes.length - 1];
  const seen = await Promise.all(stops.map((after) => askFor(pair, after, 'cut')));
  for (const [i, answer] of seen.entries()) {
    const after = stops[i] ?? 0;
    const expected = readBeginning(bytes.subarray(0, after));
    const exchange = await settledOnce(pair, `cut-${after}`, stops.length);
    assert.equal(exchange.errorCode, 'upstream_timeout', String(after));
    if (!expected.headComplete) {
      assertError(answer, 'upstream_timeout', { message: /timeouts\.idle/ });
      continue;
    }
    assert.equal(answer.status, 200);
    assert.ok(answer.body.equals(expected.body), String(after));
    assert.equal(answer.complete, false);
    assert.notEqual(answer.closed, 'open', 'the connection was left to hang');
    assert.equal(exchange.cut, true);
    assert.match(exchange.errorCause ?? '', /idle/);
  }
}

test('an upstream silent within a body is given up at the idle timeout, visibly for the client', async (t) => {
  for (const bytes of Object.values({ ...answers, ...variants }))
    await assertSilenceBroken(t, bytes, { idle: patiently(37.5) });
});

test('the idle timeout starts at the head, however long the first byte may take', async (t) => {
  const bytes = answers['of events'] ?? Buffer.alloc(0);
  await assertSilenceBroken(t, bytes, { first_byte: '60s', idle: patiently(37.5) });
});

test('bytes that keep coming keep a response alive up to the total timeout', async (t) => {
  const dripping: Handler = async (_request, reply) => {
    await reply.head(200, [chunked]);
    for (let i = 0; i < 8 && reply.open; i += 1) {
      await reply.sleep(patientMs(50));
      await reply.chunk(`"drop ${i}",`);
    }
    await reply.lastChunk();
  };
  const patient = await startPair(t, dripping, { upstream: { timeouts: { idle: patiently(225) } } });
  const hurried = await startPair(t, dripping, {
    upstream: { timeouts: { first_byte: patiently(175), total: patiently(175) } },
  });
  const [whole, half] = await Promise.all([
    send(patient.rig.port, questionBytes()),
    send(hurried.rig.port, questionBytes()),
  ]);
  assert.equal(whole.complete, true);
  assert.match(whole.body.toString(), /"drop 7",$/);
  assert.equal(half.status, 200);
  assert.equal(half.complete, false);
  assert.ok(!half.body.includes('drop 7'));
  const exchange = await hurried.rig.exchange();
  assert.equal(exchange.cut, true);
  assert.match(exchange.errorCause ?? '', /total/);
});

test('the connection of a broken response is not reused, and the next response is complete', async (t) => {
  const bytes = answers['in chunks'] ?? Buffer.alloc(0);
  const pair = await startPair(t, [
    async (_request, reply) => {
      await reply.raw(bytes.subarray(0, 300));
      reply.cut();
    },
    (_request, reply) => reply.raw(bytes),
  ]);
  const broken = await connect(pair.rig.port);
  await broken.write(questionBytes());
  assert.equal((await broken.nextResponse()).complete, false);
  assert.notEqual(await broken.closed(), 'open');
  const answer = await send(pair.rig.port, questionBytes());
  assert.ok(answer.body.equals(readBeginning(bytes).body));
  assert.equal(answer.complete, true);
});
