/** The stories in their short form: broken promises fail, and the figures are printed. */

import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { test } from 'node:test';
import { playMoneyStory } from '../chaos/money-story.ts';
import { playStory } from '../chaos/story.ts';
import { whyNoPostgres } from '../support/servers/postgres.ts';

const seed = randomInt(2 ** 31);

test('three upstreams fail in three ways and recover, and no client notices', async (t) => {
  const figures = await playStory({ seed, seconds: 16, log: (line) => t.diagnostic(line) });
  t.diagnostic(`seed ${seed}`);
  for (const { name, measured, bar } of figures) t.diagnostic(`${name}: ${measured} (bar: ${bar})`);
  assert.deepEqual(
    figures.filter(({ broken }) => broken),
    [],
  );
});

for (const [store, skip] of [
  ['postgres', whyNoPostgres],
  ['sqlite', false],
] as const) {
  test(`on ${store}: a node is killed, and the ledger's sums agree to the last request`, {
    skip,
  }, async (t) => {
    const figures = await playMoneyStory({ seed, seconds: 10, store, log: (line) => t.diagnostic(line) });
    t.diagnostic(`seed ${seed}`);
    for (const { name, measured, bar } of figures) t.diagnostic(`${name}: ${measured} (bar: ${bar})`);
    assert.deepEqual(
      figures.filter(({ broken }) => broken),
      [],
    );
  });
}
