import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Answer } from '../call.ts';
import { wholeAnswer } from '../whole-answer.ts';
import { toTitle, toVerdicts } from './verdicts.ts';

const answering = (results: unknown): Answer =>
  wholeAnswer({ call: { route: 'moderations', model: 'm', body: {} }, json: { results } });

test('flagged categories come first, then by score', () => {
  const result = {
    flagged: true,
    categories: { hate: false, violence: true, sexual: false },
    category_scores: { hate: 0.9, violence: 0.6, sexual: 0.1 },
  };
  assert.deepEqual(toVerdicts(answering([result])), [
    {
      isFlagged: true,
      categories: [
        { name: 'violence', score: 0.6, isFlagged: true },
        { name: 'hate', score: 0.9, isFlagged: false },
        { name: 'sexual', score: 0.1, isFlagged: false },
      ],
    },
  ]);
});

test('any upstream response can be displayed, also one that is no list of results', () => {
  assert.deepEqual(toVerdicts(answering([null, 'x', {}])), Array(3).fill({ isFlagged: false, categories: [] }));
  assert.deepEqual(toVerdicts(answering('none')), []);
  assert.deepEqual(toVerdicts(undefined), []);
});

test('categories have readable names', () => {
  assert.equal(toTitle('self-harm/intent'), 'Self-harm: intent');
  assert.equal(toTitle('dangerous_content'), 'Dangerous content');
});
