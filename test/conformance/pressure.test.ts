/** Excess requests wait for a while, in order, or are refused; nothing waits for a client that has left. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { assertError } from '../support/clients/error-answer.ts';
import { connect } from '../support/clients/raw-connection.ts';
import { questionBytes, startPair } from '../support/gateways/pair.ts';
import { answering, silent, startSeveral } from '../support/gateways/several.ts';
import { patiently } from '../support/time/patience.ts';
import { until } from '../support/time/until.ts';
import type { Handler } from '../support/upstreams/fake-upstream.ts';

/** Answers in the order of their release. */
function gate(): { readonly script: Handler; open(): void } {
  const waiting: (() => void)[] = [];
  return {
    script: async (_request, reply) => {
      await new Promise<void>((resolve) => waiting.push(resolve));
      await reply.json(200, {});
    },
    open: () => waiting.shift()?.(),
  };
}

const ask = (n: number): string => `{"model":"m","input":"${n}"}`;

test('calls over the limit wait in order', async (t) => {
  const { script, open } = gate();
  const pair = await startPair(t, script, { upstream: { limits: { concurrency: 2, queue: 10 } } });
  const answers: Promise<unknown>[] = [];
  for (let n = 0; n < 6; n += 1) {
    answers.push(pair.rig.post('/v1/embeddings', ask(n)));
    if (n < 2) await pair.upstream.nextRequest();
    else await wait(20);
  }
  assert.equal(pair.upstream.requests.length, 2);
  for (let n = 2; n < 6; n += 1) {
    open();
    const next = await pair.upstream.nextRequest();
    assert.equal(next.body.toString(), ask(n));
    assert.equal(pair.upstream.requests.length, n + 1);
  }
  open();
  open();
  await Promise.all(answers);
});

test('a call that waited too long is refused with the limit and Retry-After', async (t) => {
  const pair = await startPair(t, silent, {
    upstream: { limits: { concurrency: 1, queue: 5, queue_timeout: patiently(20) } },
  });
  const first = await connect(pair.rig.port);
  await first.write(questionBytes());
  await pair.upstream.nextRequest();
  const answer = await pair.rig.post('/v1/embeddings', ask(2));
  assertError(answer, 'overloaded', { message: /upstreams\[\]\.limits/ });
  assert.match(answer.header('retry-after') ?? '', /^[1-9]\d*$/);
  assert.equal(pair.upstream.requests.length, 1);
  first.destroy();
});

test('a waiting client that disconnects leaves the queue', async (t) => {
  const { script, open } = gate();
  const pair = await startPair(t, script, { upstream: { limits: { concurrency: 1, queue: 1 } } });
  const first = pair.rig.post('/v1/embeddings', ask(1));
  await pair.upstream.nextRequest();
  const leaving = await connect(pair.rig.port);
  await leaving.write(questionBytes(ask(2)));
  await wait(30);
  leaving.destroy();
  assert.equal((await pair.rig.exchange(1)).errorCode, 'client_closed');
  const third = pair.rig.post('/v1/embeddings', ask(3));
  await wait(30);
  open();
  assert.equal((await pair.upstream.nextRequest()).body.toString(), ask(3));
  open();
  assert.equal((await first).status, 200);
  assert.equal((await third).status, 200);
  assert.equal(pair.upstream.requests.length, 2);
});

test('a served client that disconnects frees its slot', async (t) => {
  const pair = await startPair(t, silent, { upstream: { limits: { concurrency: 1, queue: 0 } } });
  for (let n = 0; n < 5; n += 1) {
    const client = await connect(pair.rig.port);
    await client.write(questionBytes());
    await pair.upstream.nextRequest();
    client.destroy();
    assert.equal((await pair.rig.exchange(n + 1)).errorCode, 'client_closed');
  }
  pair.upstream.respondWith(answering('a'));
  assert.equal((await pair.rig.post('/v1/embeddings', ask(1))).status, 200);
});

test('a slot is freed however a call ends', async (t) => {
  const endings: Handler[] = [
    (_request, reply) => reply.json(200, {}),
    (_request, reply) => reply.json(500, { error: 'x'.repeat(300_000) }),
    (_request, reply) => reply.reset(),
    (_request, reply) => reply.cut(),
    (_request, reply) => reply.raw('+PONG\r\n\r\n'),
    (_request, reply) => reply.bytes(302, [['location', '/']], ''),
    (_request, reply) => reply.stall(),
    (_request, reply) => reply.json(200, { error: { code: 500 } }),
    (_request, reply) => reply.sse(['one', 'two']),
    async (_request, reply) => {
      await reply.head(200, [['content-length', '100']]);
      reply.cut();
    },
    async (_request, reply) => {
      await reply.head(200, [['content-length', '100']]);
      await reply.stall();
    },
  ];
  const pair = await startPair(t, undefined, {
    upstream: { limits: { concurrency: 1, queue: 0 }, timeouts: { first_byte: patiently(20), idle: patiently(20) } },
  });
  for (const ending of [...endings, ...endings]) {
    pair.upstream.respondWith(ending);
    await pair.rig.post('/v1/embeddings', ask(1));
    await pair.rig.exchange(pair.rig.settled.length);
    pair.upstream.respondWith(answering('a'));
    let answer = await pair.rig.post('/v1/embeddings', ask(2));
    // The end of the call and the answer to its client are two events.
    for (let tries = 0; tries < 20 && answer.status === 503; tries += 1) {
      await wait(10);
      answer = await pair.rig.post('/v1/embeddings', ask(2));
    }
    assert.equal(answer.status, 200, ending.toString());
  }
});

test('when an upstream is saturated, a lower priority takes over', async (t) => {
  const setup = await startSeveral(t, [silent, answering('b')], { upstream: { limits: { concurrency: 1, queue: 0 } } });
  const first = await connect(setup.rig.port);
  await first.write(questionBytes(ask(1)));
  await setup.upstreams[0]?.nextRequest();
  const answer = await setup.embed();
  assert.deepEqual(answer.json(), { from: 'b' });
  first.destroy();
});

test('a gateway short of memory refuses work, and its health check still answers', async (t) => {
  const pair = await startPair(t, answering('a'), { server: { shedding: { memory: '64MiB' } } });
  const answer = await pair.rig.post('/v1/embeddings', ask(1));
  assertError(answer, 'overloaded', { message: /server\.shedding\.memory/ });
  assert.equal(answer.header('retry-after'), '1');
  assert.equal(pair.upstream.receivedBytes, 0);
  assert.equal((await pair.rig.get('/healthz')).status, 200);
  assert.equal((await pair.rig.get('/readyz')).status, 200);
  assert.equal((await pair.rig.get('/v1/models')).status, 200);
  // With a valid key it has its row; without one it is judged as ever.
  const stranger = await pair.rig.post('/v1/embeddings', ask(2), {
    headers: [['x-api-key', 'nobody-has-this-key-here']],
  });
  assertError(stranger, 'invalid_api_key');
  const readRows = async () => (await pair.rig.store.ledger.page({}, { limit: 10 })).rows;
  await until(async () => (await readRows()).length > 0);
  const rows = await readRows();
  assert.deepEqual(
    rows.map(({ key, outcome, status, error, costNanos }) => [key, outcome, status, error, costNanos]),
    [['test', 'refused', 503, 'overloaded', 0]],
  );
});
