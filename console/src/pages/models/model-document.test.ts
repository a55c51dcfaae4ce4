import assert from 'node:assert/strict';
import { test } from 'node:test';
import { differencesOf, toDocument, toValues } from './model-document.ts';

const written = {
  id: 'bge',
  aliases: ['b'],
  operations: ['embeddings'],
  visible: false,
  space: 'bge-m3',
  scores: 'sigmoid',
  accepts_messages: true,
  usage: 'ask',
  shape: 'voyage',
  targets: [
    {
      upstream: 'one',
      model: 'BAAI/bge-m3',
      priority: 1,
      weight: 3,
      scores: 'raw',
      price: { input: '0.01' },
      token_ids: 'pass',
    },
    { upstream: 'two', price: 'free', defaults: { input_type: 'search_query' } },
  ],
  balance: 'fastest',
  retry: { scope: 'always', attempts: 2 },
  hedge: { after: 'p95' },
  price: 'unknown',
  limits: { requests_per_minute: 60 },
  budgets: [{ every: 'month', amount: '50', alerts: ['90%'] }],
  cache: true,
};

test('what the form does not show comes back as it was written, and nothing is added', () => {
  assert.deepEqual(toDocument(toValues(written)), written);
  const short = { id: 'm', targets: [{ upstream: 'one' }] };
  assert.deepEqual(toDocument(toValues(short)), short);
  const retry = { id: 'm', targets: [{ upstream: 'one' }], retry: 'always' };
  assert.deepEqual(toDocument(toValues(retry)), retry);
});

test('a field that was emptied is not written', () => {
  const values = toValues(written);
  values.limits.requests_per_minute = '';
  values.price.kind = 'standard';
  values.budgets = [];
  values.space = ' ';
  // A choice that is cleared is null.
  values.balance = null;
  values.scores = null;
  values.shape = null;
  values.usage = false;
  values.retry = { scope: null, attempts: '' };
  const document = toDocument(values);
  for (const key of ['limits', 'price', 'budgets', 'space', 'balance', 'scores', 'shape', 'usage', 'retry'])
    assert.equal(key in document, false, key);
});

test('two versions differ where they say different things', () => {
  const differences = differencesOf({ id: 'm', visible: false }, { id: 'm', aliases: ['a'] });
  assert.deepEqual(differences, [
    { field: 'aliases', mine: '', theirs: '["a"]' },
    { field: 'visible', mine: 'false', theirs: '' },
  ]);
});
