import assert from 'node:assert/strict';
import { test } from 'node:test';
import openai from './openai.ts';

test('offers every operation at the path that follows the base URL, and the legacy path only where it is switched on', () => {
  const paths = Object.fromEntries(Object.entries(openai.offers.openai ?? {}).map(([name, { path }]) => [name, path]));
  assert.deepEqual(paths, {
    completions: '/completions',
    edits: '/edits',
    rerank: '/rerank',
    moderations: '/moderations',
    embeddings: '/embeddings',
  });
  assert.deepEqual(openai.offers.engines, {
    embeddings: { path: '/engines/{model}/embeddings', onlyWhen: 'legacy_engines' },
  });
});

test('starts with models that serve operations which it offers', () => {
  for (const { operations } of openai.starter?.models ?? []) {
    for (const operation of operations) assert.ok(openai.offers.openai?.[operation] !== undefined);
  }
});
