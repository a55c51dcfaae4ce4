/** As long as one fitting target works, the client does not notice; and nothing is sent twice that may not be. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertError } from '../support/clients/error-answer.ts';
import {
  answering,
  refusingWith,
  resetting,
  type SeveralOptions,
  silent,
  startSeveral,
} from '../support/gateways/several.ts';
import { patiently, patientMs } from '../support/time/patience.ts';
import type { Handler, Script } from '../support/upstreams/fake-upstream.ts';

const quick: SeveralOptions = { upstream: { timeouts: { first_byte: patiently(37.5), total: '5s' } } };

interface Failing {
  readonly what: string;
  readonly script: Script;
  /** On completions and edits, which may not be sent twice once a byte of them left. */
  readonly movesOn: 'always' | 'where it may be repeated';
  /** The status for the client if no other target may be called. */
  readonly seen: number;
}

const failing: readonly Failing[] = [
  { what: 'answers 429', script: refusingWith(429), movesOn: 'always', seen: 429 },
  { what: 'refuses the credential with 401', script: refusingWith(401), movesOn: 'always', seen: 401 },
  { what: 'refuses the credential with 403', script: refusingWith(403), movesOn: 'always', seen: 403 },
  { what: 'answers 500', script: refusingWith(500), movesOn: 'where it may be repeated', seen: 500 },
  { what: 'answers 503', script: refusingWith(503), movesOn: 'where it may be repeated', seen: 503 },
  { what: 'resets the connection', script: resetting, movesOn: 'where it may be repeated', seen: 502 },
  { what: 'sends no response', script: silent, movesOn: 'where it may be repeated', seen: 504 },
  {
    what: 'sends bytes that are not HTTP',
    script: (_request, reply) => reply.raw('+PONG\r\n\r\n'),
    movesOn: 'where it may be repeated',
    seen: 502,
  },
  {
    what: 'answers with a redirect',
    script: (_request, reply) => reply.bytes(307, [['location', 'http://127.0.0.1:1/']], ''),
    movesOn: 'where it may be repeated',
    seen: 502,
  },
  {
    what: 'answers 200 with an error object',
    script: (_request, reply) => reply.json(200, { error: { message: 'provider failed', code: 502 } }),
    movesOn: 'where it may be repeated',
    seen: 200,
  },
];

for (const { what, script, movesOn, seen } of failing) {
  test(`embeddings move to the next target when the first target ${what}`, async (t) => {
    const setup = await startSeveral(t, [script, answering('b')], quick);
    const answer = await setup.embed();
    assert.equal(answer.status, 200);
    assert.deepEqual(answer.json(), { from: 'b' });
    assert.equal(answer.header('x-postern-attempts'), '2');
    assert.equal(answer.header('x-postern-upstream'), 'b');
    assert.deepEqual(setup.seen(), [1, 1]);
    const { tries, target } = await setup.rig.exchange();
    assert.deepEqual(
      tries.map(({ upstream }) => upstream),
      ['a', 'b'],
    );
    assert.equal(target?.upstream.id, 'b');
  });

  const isMoving = movesOn === 'always';
  test(`completions ${isMoving ? 'move to the next target' : 'return the error'} when the first target ${what}`, async (t) => {
    const setup = await startSeveral(t, [script, answering('b')], quick);
    const answer = await setup.complete();
    assert.equal(answer.status, isMoving ? 200 : seen);
    assert.deepEqual(setup.seen(), [1, isMoving ? 1 : 0]);
  });

  test(`completions with retry: always move to the next target when the first target ${what}`, async (t) => {
    const setup = await startSeveral(t, [script, answering('b')], { ...quick, model: { retry: 'always' } });
    const answer = await setup.complete();
    assert.deepEqual(answer.json(), { from: 'b' });
    assert.deepEqual(setup.seen(), [1, 1]);
  });
}

test('a stream that is an error passes as it comes, is recorded as an error, and is not billed', async (t) => {
  const openai = 'data: {"error": {"message": "overloaded", "code": 503}}\n\ndata: [DONE]\n\n';
  const anthropic = 'event: error\ndata: {"type":"error","error":{"type":"overloaded_error"}}\n\n';
  const text = 'data: {"choices":[{"index":0,"text":"a"}]}\n\n';
  const rows: readonly [stream: string, outcome: string][] = [
    [openai, 'error'],
    [anthropic, 'error'],
    [text + openai, 'ok'],
    ['data: {"choices":[]}\n\n', 'ok'],
  ];
  for (const [stream, outcome] of rows) {
    for (const n of [1, 2]) {
      if (n === 2 && stream === anthropic) continue;
      const script: Handler = (_request, reply) =>
        reply.bytes(200, [['content-type', 'text/event-stream']], [stream.slice(0, 9), stream.slice(9)], {
          chunked: true,
        });
      const setup = await startSeveral(t, [script], { ...quick, model: { price: { input: 1, output: 1 } } });
      const body = { model: 'm', prompt: 'p', stream: true, max_tokens: 9, n };
      const answer = await setup.rig.post('/v1/completions', body);
      assert.equal(answer.status, 200);
      assert.equal(answer.body.toString(), stream);
      const exchange = await setup.rig.exchange();
      assert.equal(exchange.outcome, outcome, stream);
      assert.equal((exchange.bill?.costNanos ?? 0) > 0, outcome === 'ok', stream);
    }
  }
});

test('a target that refuses connections is skipped for every operation', async (t) => {
  const setup = await startSeveral(t, [answering('a'), answering('b')]);
  await setup.upstreams[0]?.close();
  for (const ask of [setup.embed, setup.complete]) {
    const answer = await ask();
    assert.deepEqual(answer.json(), { from: 'b' });
    assert.equal(answer.header('x-postern-attempts'), '2');
  }
});

test('a client error is returned without calling another target', async (t) => {
  for (const status of [400, 404, 413, 422]) {
    const setup = await startSeveral(t, [refusingWith(status), answering('b')]);
    const answer = await setup.embed();
    assert.equal(answer.status, status);
    assert.deepEqual(setup.seen(), [1, 0]);
  }
});

test("when all targets failed, an upstream's own error passes unchanged", async (t) => {
  const own: Handler = (_request, reply) => reply.bytes(503, [['X-Own', 'yes']], '{"error": "as  it came"}');
  const setup = await startSeveral(t, [refusingWith(500), own, resetting]);
  const answer = await setup.embed();
  assert.equal(answer.status, 503);
  assert.equal(answer.body.toString(), '{"error": "as  it came"}');
  assert.equal(answer.header('x-own'), 'yes');
  assert.equal(answer.header('x-postern-upstream'), 'b');
  assert.equal(answer.header('x-postern-attempts'), '3');
});

test('a rejected credential of the gateway is reported only if no target has another error', async (t) => {
  const setup = await startSeveral(t, [refusingWith(503), refusingWith(401)]);
  assert.equal((await setup.embed()).status, 503);
});

test('if no target gave a usable response, the error says so', async (t) => {
  const setup = await startSeveral(t, [silent, resetting], quick);
  const answer = await setup.embed();
  assertError(answer, 'upstream_unreachable');
  assert.deepEqual(setup.seen(), [1, 1]);
});

test('a failed target is not called again for the same request', async (t) => {
  const setup = await startSeveral(t, [refusingWith(500), refusingWith(500), refusingWith(500)]);
  await setup.embed();
  assert.deepEqual(setup.seen(), [1, 1, 1]);
});

test('a request makes no more calls than the model allows', async (t) => {
  const scripts = [refusingWith(500), refusingWith(500), answering('c')];
  const setup = await startSeveral(t, scripts, { model: { retry: { attempts: 2 } } });
  assert.equal((await setup.embed()).status, 500);
  assert.deepEqual(setup.seen(), [1, 1, 0]);
});

test('one deadline covers all attempts', async (t) => {
  const setup = await startSeveral(t, [silent, silent, silent], {
    upstream: { timeouts: { first_byte: patiently(75), total: patiently(112.5) } },
  });
  const answer = await setup.embed();
  assertError(answer, 'upstream_timeout', { message: /timeouts\.total/ });
  assert.deepEqual(setup.seen(), [1, 1, 0]);
});

test("a replayed body is complete and identical at every target, with each one's model name", async (t) => {
  const setup = await startSeveral(t, [refusingWith(500), answering('b')], {
    target: [{ model: 'name at a' }, { model: 'name at b' }],
    model: { space: 's' },
  });
  const input = 'é模'.repeat(400_000);
  const answer = await setup.rig.post('/v1/embeddings', `{ "input": ${JSON.stringify(input)}, "model":"m", "n":1.0}`);
  assert.equal(answer.status, 200);
  const bodies = setup.upstreams.map(({ requests }) => requests[0]?.body.toString());
  assert.deepEqual(
    bodies,
    ['name at a', 'name at b'].map((name) => `{ "input": ${JSON.stringify(input)}, "model":"${name}", "n":1.0}`),
  );
});

test('each target gets only its own credential', async (t) => {
  const setup = await startSeveral(t, [refusingWith(500), answering('b')]);
  await setup.embed();
  const keys = setup.upstreams.map(({ requests }) => requests[0]?.header('authorization'));
  assert.deepEqual(keys, ['Bearer sk-credential-of-a', 'Bearer sk-credential-of-b']);
});

test('a response that breaks after its head is not completed from another target', async (t) => {
  const cutting: Handler = async (_request, reply) => {
    await reply.head(200, [
      ['content-type', 'application/json'],
      ['content-length', '1000'],
    ]);
    await reply.raw('{"half":');
    reply.cut();
  };
  const setup = await startSeveral(t, [cutting, answering('b')]);
  const answer = await setup.embed();
  assert.equal(answer.status, 200);
  assert.equal(answer.complete, false);
  assert.equal(answer.body.toString(), '{"half":');
  assert.deepEqual(setup.seen(), [1, 0]);
});

test('a stale connection is no failure: the call is repeated on a new one', async (t) => {
  let calls = 0;
  const setup = await startSeveral(t, [
    (request, reply) => {
      calls += 1;
      // The first connection serves one request and resets the second as it arrives.
      return request.connectionNo === 1 && calls > 1 ? reply.reset() : reply.json(200, { calls });
    },
  ]);
  assert.equal((await setup.embed()).status, 200);
  const answer = await setup.embed();
  assert.deepEqual(answer.json(), { calls: 3 });
  assert.equal(setup.upstreams[0]?.connections().accepted, 2);
});

test('a completion is not sent again after an idle connection breaks', async (t) => {
  let calls = 0;
  const setup = await startSeveral(t, [
    (_request, reply) => {
      calls += 1;
      return calls > 1 ? reply.reset() : reply.json(200, { calls });
    },
  ]);
  assert.equal((await setup.complete()).status, 200);
  assertError(await setup.complete(), 'upstream_unreachable');
  assert.deepEqual(setup.seen(), [2]);
});

test('a client that disconnects between two attempts ends the request', async (t) => {
  const setup = await startSeveral(t, [silent, answering('b')], quick);
  await setup.rig.post('/v1/embeddings', { model: 'm', input: 'x' }, { timeoutMs: patientMs(15) });
  const exchange = await setup.rig.exchange();
  assert.equal(exchange.errorCode, 'client_closed');
  assert.deepEqual(setup.seen(), [1, 0]);
});
