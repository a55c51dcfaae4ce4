/** What an upstream keeps of a request is written down before its client sees the ID, and no byte is changed for it. */

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { assertError } from '../support/clients/error-answer.ts';
import { type Rig, startRig, testKey } from '../support/gateways/rig.ts';
import { type FakeUpstream, type Handler, startFakeUpstream } from '../support/upstreams/fake-upstream.ts';
import { createKeepingService } from '../support/upstreams/keeping-service.ts';

const path = '/v1/responses';
const sse = [['content-type', 'text/event-stream']] as const;

async function startSetup(t: TestContext, handler: Handler): Promise<{ rig: Rig; up: FakeUpstream }> {
  const up = await startFakeUpstream(handler);
  t.after(() => up.close());
  const rig = await startRig(t, {
    upstreams: [{ id: 'up', family: 'openai', base_url: up.url, api_key: 'sk-upstream-credential' }],
    models: [{ id: 'm', operations: ['responses'], price: { input: 2, output: 10 }, targets: [{ upstream: 'up' }] }],
    projects: [{ id: 'team' }],
    keys: [{ id: 'test', secret: testKey, project: 'team', budgets: [{ every: 'day', amount: '10' }] }],
  });
  return { rig, up };
}

const namesOf = async ({ store }: Rig, ids: readonly string[]): Promise<string[]> => {
  const names = ids.flatMap((id) => (['response', 'item', 'container'] as const).map((kind) => ({ kind, id })));
  const found = await store.storedObjects.find(names);
  return found.map(({ kind, id, owner, upstream, model }) => `${kind} ${id} ${owner} ${upstream} ${model}`).sort();
};

const ids = ['resp_1', 'rs_1', 'msg_1'];
const expected = ['item msg_1 project/team up m', 'item rs_1 project/team up m', 'response resp_1 project/team up m'];

test('the IDs of a response and its items are recorded, plain and streamed', async (t) => {
  for (const more of [{}, { stream: true }, { store: true }, { store: null }]) {
    const { rig, up } = await startSetup(t, createKeepingService().handler);
    const answer = await rig.post(path, { model: 'm', input: 'x', ...more });
    assert.equal(answer.status, 200);
    assert.deepEqual(await namesOf(rig, ids), expected, JSON.stringify(more));
    assert.equal(up.requests[0]?.header('accept-encoding'), 'identity');
  }
});

test('with store: false no object ID is recorded', async (t) => {
  const { rig } = await startSetup(t, createKeepingService().handler);
  assert.equal((await rig.post(path, { model: 'm', input: 'x', store: false })).status, 200);
  assert.deepEqual(await namesOf(rig, ids), []);
  assertError(await rig.post(path, '{"model":"m","input":"x","store":false,"Store":true}'), 'duplicate_parameter', {
    param: 'store',
  });
});

test('an ID is recorded before it is sent to the client, plain and in each event', async (t) => {
  const { rig } = await startSetup(t, createKeepingService().handler);
  for (const stream of [false, true]) {
    const order: string[] = [];
    const add = rig.store.storedObjects.add.bind(rig.store.storedObjects);
    const mock = t.mock.method(rig.store.storedObjects, 'add', async (objects: Parameters<typeof add>[0]) => {
      await new Promise((resolve) => setTimeout(resolve, 30));
      await add(objects);
      order.push(...objects.map(({ id }) => id));
    });
    const response = await fetch(`${rig.url}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${testKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'm', input: 'x', stream }),
    });
    const decoder = new TextDecoder();
    let text = '';
    for await (const chunk of response.body ?? assert.fail()) {
      text += decoder.decode(chunk, { stream: true });
      for (const [, id = ''] of text.matchAll(/"id":"(\w+)"/g)) assert.ok(order.includes(id), `${id} came too early`);
    }
    assert.equal(order.length, 3);
    mock.mock.restore();
  }
});

test('bytes pass unchanged, wherever the stream is split', async (t) => {
  const service = createKeepingService();
  let whole = '';
  const { rig } = await startSetup(t, service.handler);
  whole = (await rig.post(path, { model: 'm', input: 'x', stream: true })).body.toString();
  const { rig: other, up } = await startSetup(t, service.handler);
  for (let at = 1; at < whole.length; at += 7) {
    const pieces = [whole.slice(0, at), whole.slice(at)];
    up.respondWith((_request, reply) => reply.bytes(200, [...sse], pieces, { chunked: true }));
    const answer = await other.post(path, { model: 'm', input: 'x', stream: true });
    assert.equal(answer.body.toString(), whole, `cut at ${at}`);
  }
});

test('if a stored response cannot be recorded the client gets an error, and nothing is billed', async (t) => {
  const { rig } = await startSetup(t, createKeepingService().handler);
  t.mock.method(rig.store.storedObjects, 'add', () => Promise.reject(new Error('the disk is full')));
  let count = 0;
  for (const stream of [false, true]) {
    const answer = await rig.post(path, { model: 'm', input: 'x', stream });
    assertError(answer, 'store_unavailable');
    assert.match(answer.body.toString(), /cannot be written down/);
    assert.doesNotMatch(answer.body.toString(), /resp_/);
    count += 1;
    const { bill, outcome } = await rig.exchange(count);
    assert.deepEqual([bill, outcome], [null, 'error']);
  }
  assert.equal((await rig.post(path, { model: 'm', input: 'x', store: false })).status, 200);
});

test('if a later object ID of a stream cannot be recorded, the stream breaks before that ID is sent', async (t) => {
  const first = Promise.withResolvers<void>();
  const { rig } = await startSetup(t, async (_request, reply) => {
    await reply.head(200, [...sse, ['transfer-encoding', 'chunked']]);
    await reply.chunk('data: {"response":{"id":"resp_1"}}\n\n');
    await first.promise;
    await reply.chunk('data: {"item":{"id":"rs_1"}}\n\ndata: [DONE]\n\n');
    await reply.lastChunk();
  });
  const add = rig.store.storedObjects.add.bind(rig.store.storedObjects);
  t.mock.method(rig.store.storedObjects, 'add', (objects: Parameters<typeof add>[0]) => {
    first.resolve();
    const isItem = objects.some(({ kind }) => kind === 'item');
    return isItem ? Promise.reject(new Error('the disk is full')) : add(objects);
  });
  const answer = await rig.post(path, { model: 'm', input: 'x', stream: true });
  assert.equal(answer.complete, false);
  assert.equal(answer.body.toString(), 'data: {"response":{"id":"resp_1"}}\n\n');
  assert.equal((await rig.exchange(1)).errorCode, 'store_unavailable');
});

test('errors, and responses that are neither JSON nor events, record nothing', async (t) => {
  const { rig } = await startSetup(t, (request, reply) =>
    request.body.includes('fail')
      ? reply.json(400, { id: 'resp_1', error: { message: 'no' } })
      : reply.bytes(200, [['content-type', 'text/plain']], '{"id":"resp_1"}'),
  );
  assert.equal((await rig.post(path, { model: 'm', input: 'fail' })).status, 400);
  assert.equal((await rig.post(path, { model: 'm', input: 'x' })).status, 200);
  assert.deepEqual(await namesOf(rig, ids), []);
});
