import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { createMemoryResources, type MemoryResources } from '../../../test/support/stores/memory-resources.ts';
import { createFakeClock } from '../../../test/support/time/fake-clock.ts';
import { until } from '../../../test/support/time/until.ts';
import type { Change, ChangeFeed } from '../../core/store/store.ts';
import { type ChangeWatchOptions, watchChanges } from './live.ts';

/** The reports of a watch, in order, with a stopped clock. */
function startWatch(t: TestContext, memory: MemoryResources, more: Partial<ChangeWatchOptions> = {}) {
  const said: string[] = [];
  const clock = createFakeClock();
  const watch = watchChanges({
    changes: memory.changes,
    clock,
    from: undefined,
    intervalMs: 2,
    timeoutMs: 20,
    onChanges: (changes) => said.push(changes === undefined ? 'anything' : inWords(changes)),
    onConfirmed: (atMs) => said.push(`confirmed ${atMs}`),
    onOutage: (state) => said.push(`outage ${state}`),
    ...more,
  });
  t.after(() => watch.close());
  /** Waits for a further report. */
  const reports = (words: string) => until(() => said.includes(words));
  return { watch, said, clock, reports };
}

const inWords = (changes: readonly Change[]): string =>
  changes.map(({ sequence, id }) => `${sequence} ${id}`).join(', ');

test('changes in the store are reported once and in order, and then everything is confirmed as current', async (t) => {
  const memory = createMemoryResources();
  memory.note('key', 'a');
  memory.note('resource', 'upstream/b');
  const { said, clock, reports } = startWatch(t, memory);
  await reports('confirmed 0');
  assert.deepEqual(said.slice(0, 2), ['1 a, 2 upstream/b', 'confirmed 0']);
  clock.advance(1);
  memory.note('key', 'c');
  await reports('3 c');
  await reports('confirmed 1');
  assert.equal(said.filter((words) => !words.startsWith('confirmed')).length, 2);
});

test('changes in the store before the starting position are not reported', async (t) => {
  const memory = createMemoryResources();
  memory.note('key', 'a');
  const { said, reports } = startWatch(t, memory, { from: await memory.changes.latest() });
  await reports('confirmed 0');
  assert.deepEqual(said.slice(0, 1), ['confirmed 0']);
});

test('more changes in the store than one page holds are all reported', async (t) => {
  const memory = createMemoryResources();
  for (let count = 0; count < 2_500; count++) memory.note('key', 'k');
  const reported: number[] = [];
  const { reports } = startWatch(t, memory, { onChanges: (changes) => reported.push(changes?.length ?? -1) });
  await reports('confirmed 0');
  assert.deepEqual(reported, [1_000, 1_000, 500]);
});

test('if the store deleted older changes meanwhile, everything is reloaded', async (t) => {
  const memory = createMemoryResources();
  for (let count = 0; count < 10; count++) memory.note('key', 'k');
  const from = (await memory.changes.since(undefined))?.[2];
  memory.forget(5);
  const { said, reports } = startWatch(t, memory, { from });
  await reports('confirmed 0');
  assert.deepEqual(said.slice(0, 2), ['anything', 'confirmed 0']);

  memory.forget(100);
  const other = startWatch(t, memory, { from });
  await other.reports('confirmed 0');
  assert.deepEqual(other.said.slice(0, 2), ['anything', 'confirmed 0']);
});

test('a database restored from a backup causes a full reload, and later changes are reported again', async (t) => {
  const memory = createMemoryResources();
  for (let count = 0; count < 5; count++) memory.note('key', 'k');
  const { said, reports } = startWatch(t, memory, { from: await memory.changes.latest() });
  await reports('confirmed 0');
  memory.putBack(0);
  await reports('anything');
  memory.note('key', 'a');
  await reports('1 a');
  assert.equal(said.filter((words) => words === 'anything').length, 1);
});

test('an older copy of the database causes a full reload, even if new changes already reused its change numbers', async (t) => {
  for (const others of [0, 1, 2, 3]) {
    const memory = createMemoryResources();
    for (let count = 0; count < 5; count++) memory.note('key', 'k');
    const { said, reports, watch } = startWatch(t, memory, { from: await memory.changes.latest() });
    await reports('confirmed 0');
    memory.putBack(3);
    for (let count = 0; count < others; count++) memory.note('key', 'k');
    await reports('anything');
    memory.note('key', 'a');
    await reports(`${4 + others} a`);
    assert.deepEqual(
      said.filter((words) => !words.startsWith('confirmed')),
      ['anything', `${4 + others} a`],
    );
    await watch.close();
  }
});

test('a change notification from the store triggers a check for changes at once', async (t) => {
  const memory = createMemoryResources();
  const { reports, watch } = startWatch(t, memory, { intervalMs: 3_600_000 });
  await reports('confirmed 0');
  memory.note('key', 'a');
  memory.notify();
  await reports('1 a');
  await watch.close();
  assert.equal(memory.listeners(), 0);
});

test('a store outage is reported once and confirms nothing, and changes made during it are reported afterwards', async (t) => {
  const memory = createMemoryResources();
  const { said, clock, reports } = startWatch(t, memory);
  await reports('confirmed 0');
  memory.mode = 'down';
  await reports('outage begins');
  clock.advance(1);
  const { asked } = memory;
  await until(() => memory.asked >= asked + 3);
  memory.note('key', 'a');
  memory.mode = 'up';
  await reports('confirmed 1');
  assert.deepEqual(said.slice(said.indexOf('outage begins')).slice(0, 4), [
    'outage begins',
    '1 a',
    'outage ends',
    'confirmed 1',
  ]);
});

test('a store that does not answer counts as unreachable, and its late answers are ignored', async (t) => {
  const memory = createMemoryResources();
  const late = Promise.withResolvers<undefined>();
  let isLate = true;
  const changes: ChangeFeed = {
    ...memory.changes,
    since: (known) => (isLate ? late.promise : memory.changes.since(known)),
  };
  const { said, reports } = startWatch(t, memory, { changes });
  await reports('outage begins');
  memory.note('key', 'a');
  isLate = false;
  await reports('1 a');
  await reports('outage ends');
  late.resolve(undefined);
  await new Promise((resolve) => setTimeout(resolve, 10));
  assert.equal(said.includes('anything'), false);
});

test('after close the store is neither queried nor reported on', async (t) => {
  const memory = createMemoryResources();
  const { said, reports, watch } = startWatch(t, memory);
  await reports('confirmed 0');
  await watch.close();
  const { asked } = memory;
  const { length } = said;
  memory.note('key', 'a');
  await new Promise((resolve) => setTimeout(resolve, 20));
  assert.equal(memory.asked, asked);
  assert.equal(said.length, length);
});
