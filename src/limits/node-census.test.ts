import assert from 'node:assert/strict';
import { test } from 'node:test';
import { takeNodeCensus } from './node-census.ts';

function rig() {
  const lines: string[] = [];
  let latest = async () => 0;
  return {
    lines,
    answerWith(answer: typeof latest) {
      latest = answer;
    },
    take: (workers: number) =>
      takeNodeCensus({
        health: {
          nodes: async () =>
            Array.from({ length: await latest() }, (_, at) => ({ node: String(at), secretKeys: undefined })),
        },
        workers,
        log: { warn: (message) => lines.push(message) },
      }),
  };
}

test('counts itself and the nodes it hears, and at least its own workers', async () => {
  const { take, answerWith } = rig();
  assert.equal((await take(1)).count, 1);
  assert.equal((await take(4)).count, 4);
  answerWith(async () => 5);
  assert.equal((await take(4)).count, 6);
});

test('recounts only while needed', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const { take, answerWith } = rig();
  const census = await take(1);
  t.after(() => census.close());
  let isNeeded = false;
  census.keepUp(() => isNeeded);
  answerWith(async () => 3);
  t.mock.timers.tick(5_000);
  await new Promise(setImmediate);
  assert.equal(census.count, 1);
  isNeeded = true;
  t.mock.timers.tick(5_000);
  await new Promise(setImmediate);
  assert.equal(census.count, 3);
});

test('an unresponsive store keeps the last count, and is reported once', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const { take, answerWith, lines } = rig();
  answerWith(async () => 2);
  const census = await take(1);
  t.after(() => census.close());
  census.keepUp(() => true);
  answerWith(() => Promise.reject(new Error('away')));
  for (const _ of [1, 2]) {
    t.mock.timers.tick(5_000);
    await new Promise(setImmediate);
  }
  assert.equal(census.count, 3);
  assert.deepEqual(lines, ['the nodes could not be counted in the store']);
});

test('a store that is unreachable from the beginning is reported', async () => {
  const { take, answerWith, lines } = rig();
  answerWith(() => Promise.reject(new Error('away')));
  assert.equal((await take(2)).count, 2);
  assert.deepEqual(lines, ['the nodes could not be counted in the store']);
});
