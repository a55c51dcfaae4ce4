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

test('counts this node and those in the store, and at least as many as it has workers', async () => {
  const { take, answerWith } = rig();
  assert.equal((await take(1)).count, 1);
  assert.equal((await take(4)).count, 4);
  answerWith(async () => 5);
  assert.equal((await take(4)).count, 6);
});

test('counts the nodes again only while something needs the number', async (t) => {
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

test('while the store fails, the last node count is kept, and the failure is logged once', async (t) => {
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
  assert.deepEqual(lines, ['node count unavailable']);
});

test('if the store fails at the first count, only the workers are counted, and the failure is logged', async () => {
  const { take, answerWith, lines } = rig();
  answerWith(() => Promise.reject(new Error('away')));
  assert.equal((await take(2)).count, 2);
  assert.deepEqual(lines, ['node count unavailable']);
});
