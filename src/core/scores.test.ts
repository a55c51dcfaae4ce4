import assert from 'node:assert/strict';
import { test } from 'node:test';
import { needsScoring, type ScoreScale, scoringOf } from './scores.ts';

const scored = (scale: ScoreScale | undefined, wanted: ScoreScale | undefined, isSwitched = false) => ({
  scale,
  wanted,
  isSwitched,
});

test("without a configured scale, rerank scores stay on the target's scale, or on the one that the client chose", () => {
  for (const asked of [undefined, true, false, 'unclear'] as const) {
    for (const scale of ['raw', 'sigmoid', undefined] as const) {
      assert.deepEqual(scoringOf(scored(scale, undefined), asked), { from: scale, to: scale, raw: undefined });
      assert.equal(needsScoring(scored(scale, undefined, true), asked), false);
    }
  }
  const switched = [undefined, true, false, 'unclear'] as const;
  assert.deepEqual(
    switched.map((asked) => scoringOf(scored('sigmoid', undefined, true), asked).to),
    ['sigmoid', 'raw', 'sigmoid', undefined],
  );
});

test('a target with raw_scores is asked for the configured scale, and scores of other targets are converted', () => {
  assert.deepEqual(scoringOf(scored('sigmoid', 'raw', true), undefined), { from: 'raw', to: 'raw', raw: true });
  assert.deepEqual(scoringOf(scored('sigmoid', 'raw'), undefined), { from: 'sigmoid', to: 'raw', raw: false });
  assert.equal(needsScoring(scored('sigmoid', 'raw', true), undefined), true);
  assert.equal(needsScoring(scored('sigmoid', 'raw', true), true), false);
  assert.equal(needsScoring(scored('sigmoid', 'raw'), undefined), true);
  assert.equal(needsScoring(scored('sigmoid', 'sigmoid'), undefined), false);
});

test("raw_scores: true from the client overrides the model's score scale, and raw_scores: false does not", () => {
  assert.equal(scoringOf(scored('raw', 'sigmoid'), true).to, 'raw');
  assert.equal(scoringOf(scored('raw', 'sigmoid'), false).to, 'sigmoid');
  assert.equal(scoringOf(scored('raw', 'raw'), false).to, 'raw');
  assert.equal(needsScoring(scored('sigmoid', 'sigmoid'), true), true);
  assert.equal(needsScoring(scored('raw', 'sigmoid'), true), false);
});
