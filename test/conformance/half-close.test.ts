/** Clients that end their side of the connection behind a request. */

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { createSecret, digestOf } from '../../src/lib/secrets/key-secret.ts';
import { assertError } from '../support/clients/error-answer.ts';
import { toRequestBytes } from '../support/clients/raw-client.ts';
import { connect } from '../support/clients/raw-connection.ts';
import { newKey } from '../support/gateways/keys.ts';
import { type Rig, startRig, testKey } from '../support/gateways/rig.ts';
import { type FakeUpstream, startFakeUpstream } from '../support/upstreams/fake-upstream.ts';

const request = toRequestBytes({
  path: '/v1/embeddings',
  headers: [['x-api-key', testKey]],
  body: '{"model":"m","input":"x"}',
});

/** The upstream answers after the client could have been refused. */
async function open(t: TestContext, halfClose: 'leave' | 'answer'): Promise<{ rig: Rig; upstream: FakeUpstream }> {
  const upstream = await startFakeUpstream(async (_request, reply) => {
    await wait(200);
    reply.bytes(200, [], Buffer.from('{}'));
  });
  t.after(() => upstream.close());
  const rig = await startRig(t, {
    server: { half_close: halfClose },
    upstreams: [{ id: 'up', family: 'openai', base_url: upstream.url, api_key: 'sk-upstream-key' }],
    models: [{ id: 'm', operations: ['embeddings'], targets: [{ upstream: 'up' }] }],
  });
  return { rig, upstream };
}

test('by default a client that half-closes after its request has disconnected', async (t) => {
  const { rig } = await open(t, 'leave');
  const connection = await connect(rig.port);
  await connection.write(request);
  connection.finish();
  assert.equal((await connection.nextResponse()).status, 0);
  assert.equal((await rig.exchange()).errorCode, 'client_closed');
});

test('with half-close enabled the client gets all responses, then the connection closes', async (t) => {
  const { rig, upstream } = await open(t, 'answer');
  const connection = await connect(rig.port);
  await connection.write(Buffer.concat([request, request, request]));
  connection.finish();
  for (const keepsOn of ['keep-alive', 'keep-alive', 'close']) {
    const answer = await connection.nextResponse();
    assert.equal(answer.status, 200);
    assert.equal(answer.complete, true);
    assert.equal(answer.header('connection'), keepsOn);
  }
  assert.equal(await connection.closed(), 'fin');
  assert.equal(upstream.requests.length, 3);
});

test('an incomplete request before a half-close gets 400, with half-close enabled or not', async (t) => {
  for (const mapping of ['leave', 'answer'] as const) {
    const { rig, upstream } = await open(t, mapping);
    const connection = await connect(rig.port);
    await connection.write(request.subarray(0, request.length - 3));
    connection.finish();
    assert.equal((await connection.nextResponse()).status, 400);
    assert.equal(upstream.requests.length, 0);
  }
});

test('with half-close enabled an incomplete request behind a complete one is refused at once', async (t) => {
  const { rig, upstream } = await open(t, 'answer');
  const connection = await connect(rig.port);
  await connection.write(Buffer.concat([request, request.subarray(0, request.length - 3)]));
  connection.finish();
  assert.equal((await connection.nextResponse()).status, 200);
  const refusal = await connection.nextResponse();
  assertError(refusal, 'malformed_request', { message: /in the middle of the body/ });
  assert.equal(await connection.closed(), 'fin');
  assert.equal(upstream.requests.length, 1);
});

test('with half-close enabled a request that waits for its key is answered if it is complete', async (t) => {
  const { rig, upstream } = await open(t, 'answer');
  const { keys } = rig.store;
  const { find } = keys;
  t.mock.method(keys, 'find', async (digest: string) => {
    await wait(100);
    return find(digest);
  });
  for (const [leftOut, status] of [
    [0, 200],
    [3, 400],
  ] as const) {
    const secret = createSecret();
    await rig.store.keys.create(newKey({ digest: digestOf(secret), name: `without ${leftOut}` }));
    const body = '{"model":"m","input":"x"}';
    const bytes = toRequestBytes({ path: '/v1/embeddings', headers: [['x-api-key', secret]], body });
    const connection = await connect(rig.port);
    await connection.write(bytes.subarray(0, bytes.length - leftOut));
    connection.finish();
    assert.equal((await connection.nextResponse()).status, status);
  }
  assert.equal(upstream.requests.length, 1);
});

test('a client that resets its connection within a body has disconnected', async (t) => {
  const { rig, upstream } = await open(t, 'leave');
  for (const part of [request.length - 3, request.indexOf('\r\n\r\n') + 4]) {
    const connection = await connect(rig.port);
    await connection.write(request.subarray(0, part));
    await rig.get('/healthz'); // the gateway has read what was sent before
    const seen = rig.settled.length;
    connection.reset();
    assert.equal((await rig.exchange(seen + 1)).errorCode, 'client_closed');
  }
  assert.equal(upstream.requests.length, 0);
});
