import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { StoredObject } from '../../core/store/stored-objects.ts';
import { openStore } from '../../store/open-store.ts';
import { ObjectRegistry } from './object-registry.ts';

const stored = (more: Partial<StoredObject> = {}): StoredObject => ({
  kind: 'response',
  id: 'resp_1',
  owner: 'project/one',
  upstream: 'up',
  credential: 'c',
  model: 'm',
  createdAtMs: 1,
  ...more,
});

async function setUp(t: TestContext, maxEntries = 100) {
  const { storedObjects: store, close } = await openStore('sqlite::memory:', { cwd: '/nowhere' });
  t.after(close);
  const add = t.mock.method(store, 'add');
  const find = t.mock.method(store, 'find');
  return { store, add, find, registry: new ObjectRegistry({ store, maxEntries, deadlineMs: 200 }) };
}

test('a found object is cached for its owner, an unknown one is looked up each time', async (t) => {
  const { store, find, registry } = await setUp(t);
  assert.deepEqual(await registry.find([stored()], 'project/one'), []);
  await store.add([stored()]);
  for (let turn = 0; turn < 3; turn += 1) assert.deepEqual(await registry.find([stored()], 'project/one'), [stored()]);
  assert.equal(find.mock.callCount(), 2);
  for (let turn = 0; turn < 3; turn += 1) assert.deepEqual(await registry.find([stored()], 'project/two'), [stored()]);
  assert.equal(find.mock.callCount(), 5);
});

test('an ID looked up as several kinds of object is cached when it is found as one of them', async (t) => {
  const { store, find, registry } = await setUp(t);
  await store.add([stored()]);
  const names = (['item', 'response'] as const).map((kind) => ({ kind, id: 'resp_1' }));
  for (let turn = 0; turn < 3; turn += 1) assert.deepEqual(await registry.find(names, 'project/one'), [stored()]);
  assert.equal(find.mock.callCount(), 1);
});

test('an object that another owner stores under a cached ID is visible to that owner at once', async (t) => {
  const { store, registry } = await setUp(t);
  await store.add([stored()]);
  await registry.find([stored()], 'project/one');
  const other = stored({ owner: 'project/two', upstream: 'far', createdAtMs: 2 });
  await store.add([other]);
  assert.deepEqual(await registry.find([stored()], 'project/two'), [other, stored()]);
});

test('writes during a running write are combined into the next, without duplicates', async (t) => {
  const { add, store, registry } = await setUp(t);
  const ids = Array.from({ length: 50 }, (_, no) => `resp_${no}`);
  await Promise.all(ids.map((id) => registry.record([stored({ id })])));
  assert.equal(add.mock.callCount(), 2);
  assert.equal((await store.find(ids.map((id) => stored({ id })))).length, 50);
  await registry.record(ids.map((id) => stored({ id })));
  assert.equal(add.mock.callCount(), 2);
  await registry.forget(stored({ id: 'resp_3' }));
  assert.equal((await store.find([stored({ id: 'resp_3' })])).length, 0);
  await registry.record([stored({ id: 'resp_3' })]);
  assert.equal((await store.find([stored({ id: 'resp_3' })])).length, 1);
});

test('a failed write fails for its requests, and the next one proceeds', async (t) => {
  const { add, registry } = await setUp(t);
  add.mock.mockImplementationOnce(() => Promise.reject(new Error('the disk is full')));
  await assert.rejects(registry.record([stored()]), { code: 'store_unavailable' });
  await registry.record([stored()]);
});

test('a store that does not answer is reported as unreachable', async (t) => {
  const { add, find, registry } = await setUp(t);
  const never = new Promise<never>(() => undefined);
  find.mock.mockImplementationOnce(() => never);
  await assert.rejects(async () => registry.find([stored()], 'project/one'), { code: 'store_unavailable' });
  add.mock.mockImplementationOnce(() => never);
  await assert.rejects(registry.record([stored()]), { code: 'store_unavailable' });
});

test('limits the number of cached objects', async (t) => {
  const { find, store, registry } = await setUp(t, 2);
  const all = ['a', 'b', 'c'].map((id) => stored({ id }));
  await store.add(all);
  for (const one of all) await registry.find([one], one.owner);
  for (const one of all.slice(1)) await registry.find([one], one.owner);
  assert.equal(find.mock.callCount(), 3);
  await registry.find(all.slice(0, 1), 'project/one');
  assert.equal(find.mock.callCount(), 4);
});
