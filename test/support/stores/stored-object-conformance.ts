/** Conformance tests of every store: stored objects. */

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { StoredObject } from '../../../src/core/store/stored-objects.ts';
import { hostileTexts } from '../json/hostile-texts.ts';
import { createFakeClock } from '../time/fake-clock.ts';
import type { OpenStore } from './store-writes.ts';

const kept = (more: Partial<StoredObject>): StoredObject => ({
  kind: 'response',
  id: 'resp_1',
  owner: 'project/one',
  upstream: 'up',
  credential: '0123456789abcdef',
  model: 'm',
  createdAtMs: 1_000,
  ...more,
});

export function describeStoredObjects(openStore: OpenStore): void {
  const open = async (t: TestContext) => (await openStore(t, createFakeClock())).storedObjects;

  test('a stored object is found by ID and kind only', async (t) => {
    const objects = await open(t);
    const response = kept({});
    const item = kept({ kind: 'item', id: 'msg_1' });
    await objects.add([response, item]);
    assert.deepEqual(await objects.find([{ kind: 'response', id: 'resp_1' }]), [response]);
    const names = [response, item, kept({ id: 'resp_2' })].map(({ kind, id }) => ({ kind, id }));
    assert.equal((await objects.find(names)).length, 2);
    for (const [kind, id] of [
      ['item', 'resp_1'],
      ['response', 'msg_1'],
      ['response', 'RESP_1'],
      ['response', 'resp_1 '],
      ['response', 'resp_%'],
    ] as const) {
      assert.deepEqual(await objects.find([{ kind, id }]), [], id);
    }
    for (const id of hostileTexts) assert.deepEqual(await objects.find([{ kind: 'item', id }]), [], id);
    assert.deepEqual(await objects.find([]), []);
    await objects.add([]);
  });

  test('an ID at an upstream belongs to its first owner, and is another object at another upstream', async (t) => {
    const objects = await open(t);
    await Promise.all([objects.add([kept({})]), objects.add([kept({})])]);
    await objects.add([
      kept({ owner: 'project/two' }),
      kept({ owner: 'key/k', upstream: 'other', createdAtMs: 2_000 }),
    ]);
    const found = await objects.find([{ kind: 'response', id: 'resp_1' }]);
    assert.deepEqual(
      found.map(({ owner, upstream }) => [owner, upstream]),
      [
        ['key/k', 'other'],
        ['project/one', 'up'],
      ],
    );
    await objects.remove(kept({}));
    await objects.remove(kept({}));
    assert.deepEqual(
      (await objects.find([{ kind: 'response', id: 'resp_1' }])).map(({ upstream }) => upstream),
      ['other'],
    );
  });

  test('expired objects are deleted in steps of thousands', async (t) => {
    const objects = await open(t);
    const many = Array.from({ length: 2_500 }, (_, no) => kept({ id: `resp_${no}`, createdAtMs: no }));
    await objects.add(many);
    const gone = [];
    for (let some = -1; some !== 0; gone.push(some)) some = await objects.prune(2_400);
    assert.deepEqual([gone.length, gone.reduce((sum, some) => sum + some)], [3, 2_400]);
    assert.equal((await objects.find(many)).length, 100);
  });

  test('files are paged, by owner, and stay until deleted', async (t) => {
    const objects = await open(t);
    const file = (no: number, more: Partial<StoredObject> = {}) =>
      kept({ kind: 'file', id: `file-${no}`, createdAtMs: Math.floor(no / 2), document: `{"no":${no}}`, ...more });
    const files = [0, 1, 2, 3, 4].map((no) => file(no));
    await objects.add([...files, file(9, { owner: 'project/two' }), kept({ createdAtMs: 0 })]);
    const [, second] = files;
    assert.deepEqual(await objects.page('project/one', 'file', { order: 'asc', limit: 10 }), files);
    assert.deepEqual(
      await objects.page('project/one', 'file', { order: 'desc', limit: 2 }),
      files.toReversed().slice(0, 2),
    );
    assert.deepEqual(
      await objects.page('project/one', 'file', { order: 'asc', limit: 2, after: second }),
      files.slice(2, 4),
    );
    assert.deepEqual(
      await objects.page('project/one', 'file', { order: 'desc', limit: 5, after: second }),
      files.slice(0, 1),
    );
    assert.equal(await objects.prune(1_000_000), 1);
    assert.equal((await objects.page('project/one', 'file', { order: 'asc', limit: 10 })).length, 5);
  });

  test('a batch keeps its last reported state, and is listed apart from files', async (t) => {
    const objects = await open(t);
    const batch = kept({ kind: 'batch', id: 'batch_1', document: '{"status":"validating"}' });
    await objects.add([batch, kept({ kind: 'file', id: 'file-1', document: '{}' })]);
    await objects.describe(batch, '{"status":"completed"}');
    await objects.describe({ ...batch, upstream: 'other' }, '{}');
    const page = await objects.page('project/one', 'batch', { order: 'desc', limit: 10 });
    assert.deepEqual(page, [{ ...batch, document: '{"status":"completed"}' }]);
    assert.equal(await objects.prune(1_000_000), 1);
  });

  test("the operations and models of a file's lines are stored with it", async (t) => {
    const objects = await open(t);
    const counts = { items: 3, images: 0, likelyInputTokens: 10, mostInputTokens: 100, mostOutputTokens: 5 };
    const estimate = { ...counts, mostSearchUnits: 0, batch: { path: '/v1/chat/completions', lines: 3 } };
    const input = { model: 'm', upstreamModel: 'n', estimate };
    const file = kept({ kind: 'file', id: 'file-1', input });
    const unbounded = { ...file, id: 'file-2', input: { ...input, estimate: { ...estimate, unbounded: 'tools' } } };
    await objects.add([file, unbounded]);
    assert.deepEqual(await objects.find([{ kind: 'file', id: 'file-1' }]), [file]);
    assert.deepEqual(await objects.find([{ kind: 'file', id: 'file-2' }]), [unbounded]);
  });
}
