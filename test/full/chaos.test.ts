/** Every promise in its short form: what is broken fails, and the figures are told. */

import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { test } from 'node:test';
import { tellMoneyStory } from '../chaos/money-story.ts';
import { tellStory } from '../chaos/story.ts';
import { findPromises, runPromise } from '../chaos/support/promise-process.ts';
import { whyNoPostgres } from '../support/postgres.ts';

const seed = randomInt(2 ** 31);

for (const file of findPromises()) {
  test(`promise ${file.no} holds: ${file.slug.replaceAll('-', ' ')}`, async (t) => {
    const { figures, failure } = await runPromise(file, { scale: 'short', seed });
    t.diagnostic(`seed ${seed}`);
    for (const { name, measured, bar } of figures) t.diagnostic(`${name}: ${measured} (bar: ${bar})`);
    assert.equal(failure, undefined);
    assert.deepEqual(
      figures.filter(({ broken }) => broken),
      [],
    );
    assert.ok(figures.length > 0, 'it measured nothing');
  });
}

test('the story holds: three upstreams fail in three ways and come back, and no client notices', async (t) => {
  const figures = await tellStory({ seed, seconds: 16, log: (line) => t.diagnostic(line) });
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
  test(`the story of the books holds on ${store}: a node is killed, and the sums agree to the last request`, {
    skip,
  }, async (t) => {
    const figures = await tellMoneyStory({ seed, seconds: 10, store, log: (line) => t.diagnostic(line) });
    t.diagnostic(`seed ${seed}`);
    for (const { name, measured, bar } of figures) t.diagnostic(`${name}: ${measured} (bar: ${bar})`);
    assert.deepEqual(
      figures.filter(({ broken }) => broken),
      [],
    );
  });
}
