import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Answer } from '../call.ts';
import { wholeAnswer } from '../whole-answer.ts';
import { toRanking, unranked } from './ranking.ts';

const answering = (results: unknown, documents: readonly unknown[]): Answer =>
  wholeAnswer({ call: { route: 'rerank', model: 'm', body: { documents } }, json: { results } });

test("documents are in the response's order, with missing ones last", () => {
  const results = [
    { index: 2, relevance_score: 0.8 },
    { index: 0, relevance_score: 0.2 },
  ];
  const ranking = toRanking(answering(results, ['a', { text: 'b' }, 'c']));
  assert.deepEqual(
    ranking?.documents.map(({ index, text, score, share }) => [index, text, score, share]),
    [
      [2, 'c', 0.8, 1],
      [0, 'a', 0.2, 0.25],
      [1, 'b', undefined, 0],
    ],
  );
});

test('negative scores are drawn relative to the others', () => {
  const results = [
    { index: 0, relevance_score: 8 },
    { index: 1, relevance_score: -2 },
    { index: 2, relevance_score: 3 },
  ];
  assert.deepEqual(
    toRanking(answering(results, ['a', 'b', 'c']))?.documents.map(({ share }) => share),
    [1, 0, 0.5],
  );
});

test('a response without a valid ranking gives no ranking', () => {
  for (const results of [undefined, null, {}, [], [null], [{ index: 9 }], [{ index: '0' }], [{ index: -1 }]]) {
    assert.equal(toRanking(answering(results, ['a'])), undefined);
  }
  assert.equal(unranked(['a']).isRanked, false);
});
