/** How answers pass while they are made: at once, piece by piece, no faster than they are read, and no longer than they are wanted. */

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import type { Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { beforeDeadline } from '../../src/lib/deadline.ts';
import { type HeaderField, nowMs } from '../support/clients/http-message.ts';
import { toRequestBytes } from '../support/clients/raw-client.ts';
import { connect, type RawConnection } from '../support/clients/raw-connection.ts';
import {
  authorized,
  newestExchange,
  type Pair,
  question,
  questionBytes,
  startPair,
  toDocument,
} from '../support/gateways/pair.ts';
import { startRig } from '../support/gateways/rig.ts';
import { patiently, patientMs } from '../support/time/patience.ts';
import type { Reply } from '../support/upstreams/fake-reply.ts';
import { listen } from '../support/upstreams/listen.ts';

const eventStream: HeaderField[] = [
  ['Content-Type', 'text/event-stream'],
  ['Transfer-Encoding', 'chunked'],
];

async function connectTo(t: TestContext, pair: Pair): Promise<RawConnection> {
  const connection = await connect(pair.rig.port);
  t.after(() => connection.destroy());
  return connection;
}

/** Lets one side wait for what the other has done, one turn after the other. */
function createTurns(): { done(turn: number): void; until(turn: number): Promise<void> } {
  let last = -1;
  let wake = (): void => {};
  return {
    done(turn) {
      last = turn;
      wake();
    },
    async until(turn) {
      while (last < turn) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
  };
}

const median = (values: readonly number[]): number => [...values].sort((a, b) => a - b)[values.length >> 1] ?? 0;

test('the head and each event reach the client before the upstream makes the next', async (t) => {
  const client = createTurns();
  const sentAtMs: number[] = [];
  const events = Array.from({ length: 8 }, (_, i) => `data: {"choices":[{"text":"event ${i}"}]}\n\n`);
  const pair = await startPair(t, async (_request, reply) => {
    await reply.head(200, eventStream);
    await client.until(0);
    for (const [i, event] of events.entries()) {
      await reply.sleep(patientMs(25));
      sentAtMs.push(nowMs());
      await reply.chunk(event);
      await client.until(i + 1);
    }
    await reply.chunk('data: [DONE]\n\n');
    await reply.lastChunk();
  });
  const connection = await connectTo(t, pair);
  await connection.write(questionBytes());
  await connection.sees('\r\n\r\n');
  assert.ok(!connection.received().includes('data:'), 'the head came with the first event');
  client.done(0);
  for (const [i, event] of events.entries()) {
    // Were it held back until there is more, the upstream would wait for this for ever.
    await connection.sees(event);
    client.done(i + 1);
  }
  const answer = await connection.nextResponse();
  assert.equal(answer.complete, true);
  assert.equal(answer.header('transfer-encoding'), 'chunked');
  assert.deepEqual(
    answer.chunks.slice(0, events.length).map(({ bytes }) => bytes.toString()),
    events,
  );
  assert.equal(answer.body.toString(), `${events.join('')}data: [DONE]\n\n`);

  const delaysMs = sentAtMs.map((at, i) => (answer.chunks[i]?.atMs ?? 0) - at);
  t.diagnostic(
    `delay of an event: median ${median(delaysMs).toFixed(2)} ms, most ${Math.max(...delaysMs).toFixed(2)} ms`,
  );
});

test('a stream of the built-in upstream arrives event by event, too', async (t) => {
  const rig = await startRig(t, { upstreams: [{ id: 'here', family: 'local' }] });
  const answer = await rig.post('/v1/completions', { model: 'local/echo', prompt: 'one two three', stream: true });
  assert.equal(answer.status, 200);
  assert.match(answer.header('content-type') ?? '', /^text\/event-stream/);
  assert.ok(answer.chunks.length >= 4, `${answer.chunks.length} chunks`);
  assert.match(answer.body.toString(), /data: \[DONE\]\n\n$/);
  assert.equal(answer.complete, true);
});

test('a response with a Content-Length is passed on piece by piece as well', async (t) => {
  const client = createTurns();
  const pair = await startPair(t, async (_request, reply) => {
    await reply.head(200, [['Content-Length', '11']]);
    for (const [i, piece] of ['"one', 'two', 'six"'].entries()) {
      await reply.raw(piece);
      await client.until(i);
    }
  });
  const connection = await connectTo(t, pair);
  await connection.write(questionBytes());
  for (const [i, piece] of ['"one', '"onetwo', '"onetwosix"'].entries()) {
    await connection.sees(piece);
    client.done(i);
  }
  assert.equal((await connection.nextResponse()).complete, true);
});

test('events split or joined by the network arrive as the same bytes', async (t) => {
  const pair = await startPair(t);
  const text = Buffer.from('event: x\r\ndata: é模😀\n\n: keep-alive\n\ndata: {"a":"\\n\\n"}\n\ndata: [DONE]\n\n');
  for (let size = 1; size <= text.length; size += 7) {
    pair.upstream.respondWith(async (_request, reply) => {
      await reply.head(200, eventStream);
      for (let at = 0; at < text.length; at += size) await reply.chunk(text.subarray(at, at + size));
      await reply.lastChunk();
    });
    const connection = await connectTo(t, pair);
    await connection.write(questionBytes());
    const answer = await connection.nextResponse();
    assert.ok(answer.body.equals(text));
    assert.equal(answer.complete, true);
  }
});

test('a slow reader slows down the upstream, and nothing piles up in the gateway', async (t) => {
  const piece = Buffer.alloc(256 * 1024, '["slow"]    ');
  const pieces = 400;
  let sent = 0;
  const pair = await startPair(t, async (_request, reply) => {
    await reply.head(200, [['Content-Length', String(piece.length * pieces)]]);
    for (; sent < pieces; sent += 1) await reply.raw(piece);
  });
  const connection = await connectTo(t, pair);
  connection.pause();
  await connection.write(questionBytes());

  // Until nothing has moved for a while: what is on its way then is what kernel and gateway hold.
  let before = -1;
  while (sent === 0 || sent !== before) {
    before = sent;
    await wait(300);
  }
  const heldMb = (sent * piece.length) / 1e6;
  t.diagnostic(`the upstream could send ${heldMb.toFixed(1)} of ${((pieces * piece.length) / 1e6).toFixed(0)} MB`);
  assert.ok(heldMb < 40, `${heldMb} MB were taken from the upstream while nobody read`);

  connection.resume();
  const answer = await connection.nextResponse();
  assert.equal(answer.complete, true);
  const expected = createHash('sha256');
  for (let i = 0; i < pieces; i += 1) expected.update(piece);
  assert.equal(createHash('sha256').update(answer.body).digest('hex'), expected.digest('hex'));
});

test('a reader slower than the idle timeout does not make the upstream time out', async (t) => {
  const body = Buffer.alloc(30_000_000, '1');
  const pair = await startPair(t, (_request, reply) => reply.bytes(200, [], body), {
    upstream: { timeouts: { idle: patiently(100) } },
  });
  const connection = await connectTo(t, pair);
  connection.pause();
  await connection.write(questionBytes());
  await wait(1_200);
  connection.resume();
  const answer = await connection.nextResponse();
  assert.equal(answer.complete, true);
  assert.equal(answer.body.length, body.length);
  assert.equal((await newestExchange(pair)).cut, false);
});

interface Departure {
  /** What the upstream has said when the client leaves. */
  readonly said: (reply: Reply) => Promise<void>;
  /** What the client has seen of it by then. */
  readonly seen: string;
  readonly status: number;
}

const departures: Readonly<Record<string, Departure>> = {
  'waiting for the head': { said: async () => {}, seen: '', status: 499 },
  'in the middle of a body with a length': {
    said: async (reply) => {
      await reply.head(200, [['Content-Length', '1000']]);
      await reply.raw('"some of it');
    },
    seen: '"some of it',
    status: 200,
  },
  'in the middle of chunks': {
    said: async (reply) => {
      await reply.head(201, [['Transfer-Encoding', 'chunked']]);
      await reply.chunk('"some of it');
    },
    seen: '"some of it',
    status: 201,
  },
  'between two events': {
    said: async (reply) => {
      await reply.head(200, eventStream);
      await reply.chunk('data: one\n\n');
    },
    seen: 'data: one',
    status: 200,
  },
  'before the first event': {
    said: (reply) => reply.head(200, eventStream),
    seen: '\r\n\r\n',
    status: 200,
  },
  'while an error is held back': {
    said: async (reply) => {
      await reply.head(500, [['Content-Length', '1000']]);
      await reply.raw('{"error":');
    },
    seen: '',
    status: 499,
  },
};

for (const [when, { said, seen, status }] of Object.entries(departures)) {
  test(`a client that disconnects ${when} cancels the upstream call`, async (t) => {
    let halfSaid = (): void => {};
    let left = (): void => {};
    const pair = await startPair(t);
    for (const leave of ['destroy', 'reset', 'finish'] as const) {
      const underWay = new Promise<void>((resolve) => {
        halfSaid = resolve;
      });
      const upstreamLeft = new Promise<void>((resolve) => {
        left = resolve;
      });
      pair.upstream.respondWith(async (_request, reply) => {
        await said(reply);
        halfSaid();
        await reply.clientClosed;
        left();
      });
      const connection = await connectTo(t, pair);
      await connection.write(questionBytes());
      await underWay;
      await connection.sees(seen);
      const leftAtMs = nowMs();
      connection[leave]();
      await withinSeconds(10, upstreamLeft, 'the call to the upstream goes on');
      t.diagnostic(`${leave}: the upstream knew after ${(nowMs() - leftAtMs).toFixed(1)} ms`);

      const exchange = await withinSeconds(10, newestExchange(pair), 'the exchange is not settled');
      assert.equal(exchange.client.gone, true);
      assert.equal(exchange.status, status);
      assert.equal(exchange.errorCode, 'client_closed');
      assert.equal(exchange.cut, false, 'it was not the upstream that broke off');
    }
    assert.equal(pair.rig.settled.length, 3);
  });
}

const withinSeconds = <T>(seconds: number, wanted: Promise<T>, otherwise: string): Promise<T> =>
  beforeDeadline(wanted, seconds * 1000, () => new Error(otherwise));

test('a client that disconnects during its upload ends the upload to the upstream as well', async (t) => {
  let receivedBytes = 0;
  let begun = (): void => {};
  let left = (): void => {};
  const sending = new Promise<void>((resolve) => {
    begun = resolve;
  });
  const upstreamLeft = new Promise<void>((resolve) => {
    left = resolve;
  });
  const sockets: Socket[] = [];
  // A slow upstream: it reads the beginning, and the rest once released.
  const port = await listen(t, (socket) => {
    sockets.push(socket);
    socket.on('data', (bytes) => {
      if (receivedBytes === 0) socket.pause();
      receivedBytes += bytes.length;
      begun();
    });
    socket.on('error', () => undefined);
    socket.on('close', left);
  });
  const rig = await startRig(t, toDocument(`http://127.0.0.1:${port}`));
  const body = Buffer.from(`{"model":"m","input":"${'x'.repeat(20_000_000)}"}`);
  const connection = await connect(rig.port);
  await connection.write(questionBytes(body));
  await sending;
  connection.destroy();
  assert.equal((await withinSeconds(10, rig.exchange(), 'the exchange is not settled')).status, 499);
  sockets[0]?.resume();
  await withinSeconds(10, upstreamLeft, 'the call to the upstream goes on');
  assert.ok(receivedBytes < body.length, `${receivedBytes} bytes were sent on`);
});

test('a client that disconnects ends its running pipelined request, and the next never begins', async (t) => {
  const pair = await startPair(t, (_request, reply) => reply.stall());
  const connection = await connectTo(t, pair);
  await connection.write(Buffer.concat([questionBytes(), questionBytes()]));
  await pair.upstream.nextRequest();
  connection.destroy();
  assert.equal((await pair.rig.exchange(1)).status, 499);
  const other = await connectTo(t, pair);
  await other.write(questionBytes());
  await pair.upstream.nextRequest();
  other.destroy();
  await pair.rig.exchange(2);
  assert.equal(pair.upstream.requests.length, 2);
});

test('if the upstream breaks the second of two pipelined responses, the first is complete, then the connection ends', async (t) => {
  const pair = await startPair(t);
  pair.upstream.respondWith(async (request, reply) => {
    const isFirst = request.body.includes('first');
    await reply.head(200, [['Content-Length', '11']]);
    await reply.raw(isFirst ? '"first"    ' : '"secon');
    if (!isFirst) reply.cut();
  });
  const connection = await connectTo(t, pair);
  const ask = (input: string): Buffer => questionBytes(`{"model":"m","input":"${input}"}`);
  await connection.write(Buffer.concat([ask('first'), ask('second')]));
  const first = await connection.nextResponse();
  assert.equal(first.body.toString(), '"first"    ');
  const second = await connection.nextResponse();
  assert.equal(second.body.toString(), '"secon');
  assert.equal(second.complete, false);
  assert.notEqual(second.closed, 'open');
  assert.equal((await pair.rig.exchange(2)).cut, true);
});

test('a client that has its complete response may disconnect without being recorded as gone', async (t) => {
  const pair = await startPair(t, (_request, reply) => reply.bytes(200, [], ['1', '2'], { chunked: true }));
  for (let i = 1; i <= 20; i += 1) {
    const connection = await connectTo(t, pair);
    await connection.write(
      toRequestBytes({ path: '/v1/embeddings', headers: authorized(['Connection', 'close']), body: question }),
    );
    assert.equal((await connection.nextResponse()).complete, true);
    connection.destroy();
    const exchange = await pair.rig.exchange(i);
    assert.equal(exchange.client.gone, false);
    assert.equal(exchange.errorCode, undefined);
  }
});
