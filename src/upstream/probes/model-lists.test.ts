import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { toUpstream } from '../../../test/support/upstreams/upstream.ts';
import type { ModelList } from '../../core/family.ts';
import { defineFamily } from '../../core/family.ts';
import type { Model, ModelIndex, Upstream } from '../../core/snapshot.ts';
import { createModelLists } from './model-lists.ts';

const list: ModelList = { path: '/models', read: () => undefined };

function upstreamOf(modelList: ModelList | undefined = list, more: Partial<Upstream> = {}): Upstream {
  const family = defineFamily({ id: 'f', title: 'F', offers: {}, ...(modelList !== undefined && { modelList }) });
  return { ...toUpstream('http://127.0.0.1:1', { family }), readsModelList: true, ...more };
}

/** The parts of a configuration's models that matter here. */
function modelsOf(upstream: Upstream, ...names: readonly string[]): ModelIndex {
  const targets = names.map((model) => ({ upstream, model }));
  const all = [{ targets } as unknown as Model];
  return { resolve: () => undefined, all, namesByUpstream: new Map([[upstream.id, new Set(names)]]) };
}

type Read = Parameters<typeof createModelLists>[0]['read'];

interface Lists {
  readonly lists: ReturnType<typeof createModelLists>;
  readonly asked: string[];
  readonly missing: string[];
  /** The next reading and its result. */
  next(): Promise<void>;
}

function open(t: TestContext, read: Read): Lists {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const asked: string[] = [];
  const missing: string[] = [];
  const lists = createModelLists({
    random: () => 0.5,
    read(upstream, signal) {
      asked.push(upstream.id);
      return read(upstream, signal);
    },
    onMissing: (upstream, model) => missing.push(`${upstream} ${model}`),
    firstAfterMs: 10,
    everyMs: 1000,
  });
  t.after(() => lists.close());
  return {
    lists,
    asked,
    missing,
    async next() {
      const before = asked.length;
      const dueMs = before === 0 ? 11 : 1100;
      t.mock.timers.tick(dueMs - 1);
      assert.equal(asked.length, before, 'up to a fifth later than configured');
      t.mock.timers.tick(1);
      for (let turn = 0; turn < 10; turn += 1) await Promise.resolve();
    },
  };
}

const listing =
  (...ids: readonly string[]): Read =>
  async () => ({ kind: 'listed', models: ids.map((id) => ({ id })) });

test("a model missing from the upstream's list is reported once, from the first reading", async (t) => {
  const upstream = upstreamOf();
  const { lists, asked, missing, next } = open(t, listing('there', 'tagged:latest'));
  const models = modelsOf(upstream, 'there', 'gone', 'tagged', 'models/there', 'oa-*');
  lists.watch([upstream], models);
  assert.deepEqual([asked.length, lists.lacks(upstream.id, 'gone')], [0, false]);
  await next();
  const names = ['there', 'gone', 'tagged', 'models/there', 'oa-*'];
  assert.deepEqual(
    names.filter((name) => lists.lacks(upstream.id, name)),
    ['gone'],
  );
  await next();
  assert.equal(asked.length, 2);
  assert.deepEqual(missing, [`${upstream.id} gone`]);
});

test('a model list that cannot be read or is empty does not change which models are reported missing', async (t) => {
  const upstream = upstreamOf();
  const answers: Read[] = [
    async () => ({ kind: 'failed' }),
    listing(),
    listing('there'),
    async () => ({ kind: 'failed' }),
    async () => Promise.reject(new Error('no')),
    listing(),
  ];
  const { lists, asked, next } = open(t, (...call) => (answers[asked.length - 1] ?? listing('m'))(...call));
  lists.watch([upstream], modelsOf(upstream, 'm'));
  const seen: boolean[] = [];
  for (let reading = 0; reading < 7; reading += 1) {
    await next();
    seen.push(lists.lacks(upstream.id, 'm'));
  }
  assert.deepEqual(seen, [false, false, true, true, true, true, false]);
});

test('does not query upstreams without a list, with patterns only, disabled, or without targets', async (t) => {
  const { lists, asked, next } = open(t, listing('other'));
  const some = upstreamOf();
  for (const upstream of [
    { ...some, family: defineFamily({ id: 'f', title: 'F', offers: {} }) },
    upstreamOf({ ...list, takesAnyName: true }),
    { ...some, readsModelList: false },
    { ...some, origin: undefined },
  ]) {
    lists.watch([upstream], modelsOf(upstream, 'm'));
    await next();
  }
  lists.watch([some], modelsOf(some, 'p-*'));
  await next();
  assert.deepEqual(asked, []);
});

test("a reload reuses the model list that was read if the upstream's address and account stay", async (t) => {
  const upstream = upstreamOf();
  const { lists, asked, next } = open(t, listing('there'));
  lists.watch([upstream], modelsOf(upstream, 'there'));
  await next();
  lists.watch([{ ...upstream }], modelsOf(upstream, 'there', 'new'));
  assert.equal(lists.lacks(upstream.id, 'new'), true);
  assert.equal(asked.length, 1);
  const elsewhere = { ...upstream, pathPrefix: '/elsewhere' };
  lists.watch([elsewhere], modelsOf(elsewhere, 'new'));
  assert.equal(lists.lacks(upstream.id, 'new'), false);
  lists.watch([], modelsOf(upstream, 'new'));
  await next();
  assert.equal(asked.length, 1);
});
