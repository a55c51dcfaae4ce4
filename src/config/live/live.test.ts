import assert from 'node:assert/strict';
import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { createDirectory, sampleFamilies } from '../../../test/support/gateways/configuration.ts';
import { createMemoryResources } from '../../../test/support/stores/memory-resources.ts';
import { createFakeClock } from '../../../test/support/time/fake-clock.ts';
import { until } from '../../../test/support/time/until.ts';
import type { Resource, ResourceStore } from '../../core/store/resources.ts';
import { openStore } from '../../store/open-store.ts';
import { loadConfiguration } from '../load.ts';
import { type ConfigurationFeedOptions, createConfigurationFeed } from './live.ts';

const upstream = { id: 'openai', family: 'openai' };
const model = { id: 'm', operations: ['embeddings'], targets: [{ upstream: 'openai' }] };
const file = 'upstreams:\n  - { id: near, family: openai }\n';

/** A feed over a file and a store, and all its effects. */
async function startFeed(
  t: TestContext,
  store: ConfigurationFeedOptions['store'],
  more: Partial<ConfigurationFeedOptions> = {},
) {
  const cwd = await createDirectory(t, { 'postern.yaml': file });
  // A file that was written in the millisecond of its reading is read again.
  await wait(10);
  const load = (resources: readonly Resource[]) =>
    loadConfiguration({ env: {}, families: sampleFamilies, cwd, resources });
  const loaded = await load([]);
  assert.ok(loaded.ok);
  const lines: string[] = [];
  const faults: unknown[] = [];
  const swapped: string[][] = [];
  const keys: string[] = [];
  const reloads: boolean[] = [];
  const log = (message: string, fields: Record<string, unknown> = {}) => {
    lines.push(message);
    if (fields.faults !== undefined) faults.push(fields.faults);
  };
  const feed = createConfigurationFeed({
    store,
    clock: createFakeClock(),
    log: { info: log, warn: log, error: log },
    running: { loaded, resources: [], lastChange: await store.changes.latest() },
    load,
    swap({ snapshot }) {
      swapped.push([...snapshot.upstreams.keys(), ...snapshot.models.all.map(({ id }) => id)]);
      return [];
    },
    keys: { changed: (ids = ['all']) => keys.push(...ids), confirmed: () => keys.push('confirmed') },
    onReload: (refused) => reloads.push(refused === undefined),
    fileIntervalMs: 2,
    storeIntervalMs: 2,
    ...more,
  });
  t.after(() => feed.close());
  return { feed, cwd, lines, faults, swapped, keys, reloads };
}

const actor = 'test';

test('a stored resource takes effect soon after it is added, and stops doing so when it is removed', async (t) => {
  const { resources, changes } = createMemoryResources();
  const { swapped } = await startFeed(t, { resources, changes });
  await resources.put('upstream', 'openai', upstream, { actor });
  await until(() => swapped.length === 1);
  await resources.put('model', 'm', model, { actor });
  await until(() => swapped.length === 2);
  await resources.remove('model', 'm', { actor });
  await until(() => swapped.length === 3);
  assert.deepEqual(swapped, [
    ['near', 'openai'],
    ['near', 'openai', 'm'],
    ['near', 'openai'],
  ]);
});

test('with a SQLite store, stored resources take effect and changed keys are reported', async (t) => {
  const cwd = await createDirectory(t);
  const store = await openStore('sqlite:postern.db', { cwd });
  t.after(() => store.close());
  const { swapped, keys } = await startFeed(t, store);
  await store.resources.put('upstream', 'openai', upstream, { actor });
  await until(() => swapped.length === 1);
  const key = await store.keys.create({ name: 'k', digest: '0'.repeat(64), hint: 'pst_0000…', models: ['*'] });
  await until(() => keys.includes(key.id));
  const before = keys.length;
  await store.keys.revoke(key.id);
  await until(() => keys.slice(before).includes(key.id));
  assert.deepEqual(swapped, [['near', 'openai']]);
});

test('a changed key causes no reload of the configuration, and is applied before the store is confirmed', async (t) => {
  const memory = createMemoryResources();
  const { swapped, keys } = await startFeed(t, memory);
  await until(() => keys.includes('confirmed'));
  const before = keys.length;
  memory.note('key', 'key_a');
  memory.note('setting', 's');
  memory.note('key', 'key_b');
  await until(() => keys.includes('key_b'));
  await until(() => keys.at(-1) === 'confirmed');
  assert.deepEqual(
    keys.slice(before).filter((word) => word !== 'confirmed'),
    ['key_a', 'key_b'],
  );
  assert.equal(swapped.length, 0);
});

test('when the store conflicts with the file the running configuration stays, and the reason is logged', async (t) => {
  const { resources, changes } = createMemoryResources();
  const { swapped, faults, lines, reloads } = await startFeed(t, { resources, changes });
  await resources.put('upstream', 'near', { id: 'near', family: 'openai' }, { actor });
  await until(() => reloads.length === 1);
  assert.equal(swapped.length, 0);
  assert.deepEqual(lines, ['configuration not reloaded']);
  assert.match(JSON.stringify(faults), /store: upstream \\"near\\" \(version 1\).*upstreams\[0\]\.id \(line 2\)/);
  await resources.remove('upstream', 'near', { actor });
  await until(() => reloads.length === 2);
  assert.deepEqual(reloads, [false, true]);
});

test('a changed file is combined with the stored resources, even while the store is unreachable', async (t) => {
  const memory = createMemoryResources();
  const { cwd, swapped, lines } = await startFeed(t, memory);
  await memory.resources.put('upstream', 'openai', upstream, { actor });
  await until(() => swapped.length === 1);
  memory.mode = 'down';
  await until(() => lines.includes('store unreachable for configuration'));
  await writeFile(join(cwd, 'next'), 'upstreams:\n  - { id: other, family: openai }\n');
  await rename(join(cwd, 'next'), join(cwd, 'postern.yaml'));
  await until(() => swapped.length === 2);
  assert.deepEqual(swapped[1], ['other', 'openai']);
});

test('a refused configuration is loaded when the included file or secret file with the fault is fixed', async (t) => {
  const { resources, changes } = createMemoryResources();
  const { cwd, swapped, reloads } = await startFeed(t, { resources, changes });
  await writeFile(join(cwd, 'more.yaml'), 'upstreams:\n  - { id: more, famly: openai }\n');
  await writeFile(join(cwd, 'postern.yaml'), `include: [more.yaml]\n${file}`);
  await until(() => reloads.length === 1);
  await writeFile(join(cwd, 'more.yaml'), 'upstreams:\n  - { id: more, family: openai, api_key_file: key }\n');
  await until(() => reloads.length === 2);
  await writeFile(join(cwd, 'key'), 'sk-of-a-secret-file');
  await until(() => reloads.length === 3);
  assert.deepEqual(reloads, [false, false, true]);
  assert.deepEqual(swapped, [['near', 'more']]);
});

test('resources that could not be read are loaded as soon as the store answers, and the failure is logged once', async (t) => {
  const memory = createMemoryResources();
  let isReadable = false;
  const resources: ResourceStore = {
    ...memory.resources,
    list: async () => {
      if (!isReadable) throw new Error('connection refused');
      return memory.resources.list();
    },
  };
  const { swapped, lines, keys } = await startFeed(t, { resources, changes: memory.changes });
  await memory.resources.put('upstream', 'openai', upstream, { actor });
  await until(() => lines.length > 0);
  const before = keys.length;
  await until(() => keys.length > before + 5);
  assert.deepEqual(lines, ['stored configuration unreadable']);
  isReadable = true;
  await until(() => swapped.length === 1);
  assert.deepEqual(swapped, [['near', 'openai']]);
});

test('a reload that changes a setting which needs a restart is logged and not applied', async (t) => {
  const { resources, changes } = createMemoryResources();
  const swap = () => ['store'];
  const { lines, reloads } = await startFeed(t, { resources, changes }, { swap });
  await resources.put('upstream', 'openai', upstream, { actor });
  await until(() => reloads.length === 1);
  assert.deepEqual(lines, ['configuration not reloaded: restart required']);
});

test('check() reloads the file, even if it has not changed', async (t) => {
  const { resources, changes } = createMemoryResources();
  const { feed, swapped } = await startFeed(t, { resources, changes });
  feed.check();
  await until(() => swapped.length === 1);
  await feed.close();
  feed.check();
  await new Promise((resolve) => setTimeout(resolve, 10));
  assert.equal(swapped.length, 1);
});

test('a continuous series of writes to the store causes reloads that take only a part of the time', async (t) => {
  const { resources, changes } = createMemoryResources();
  let [busyMs, reloads] = [0, 0];
  const load = async (all: readonly Resource[]) => {
    const startedMs = performance.now();
    await new Promise((resolve) => setTimeout(resolve, 20));
    const loaded = await loadConfiguration({ env: {}, families: sampleFamilies, cwd: '/', resources: all });
    busyMs += performance.now() - startedMs;
    reloads += 1;
    return loaded;
  };
  const { swapped } = await startFeed(t, { resources, changes }, { load });
  await resources.put('upstream', 'openai', upstream, { actor });
  await until(() => swapped.length === 1);
  const [startedMs, busyBefore] = [performance.now(), busyMs];
  for (let version = 2; reloads < 5; version++) {
    await resources.put('upstream', 'openai', { ...upstream, base_url: `http://127.0.0.1:${version}/v1` }, { actor });
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  const elapsedMs = performance.now() - startedMs;
  assert.ok(busyMs - busyBefore < elapsedMs / 2, `busy for ${busyMs - busyBefore} of ${elapsedMs} ms`);
});
