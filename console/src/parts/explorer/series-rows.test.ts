import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Series } from '../../../../src/admin/contract.ts';
import {
  changeWords,
  failedShareAt,
  isOfAll,
  ratesOf,
  rateUnitOf,
  shareAt,
  spansOf,
  toNamedLines,
} from './series-rows.ts';

const minuteMs = 60_000;
const startMs = Date.UTC(2026, 10, 26, 12);
const at = (minutes: number): string => new Date(startMs + minutes * minuteMs).toISOString();
const range = { from: at(2), to: at(15), stepMs: 5 * minuteMs, times: [at(0), at(5), at(10)] };

test('the first point spans from the start of the range, and the last one up to now', () => {
  assert.deepEqual(spansOf(range, startMs + 60 * minuteMs), [3 * minuteMs, 5 * minuteMs, 5 * minuteMs]);
  assert.deepEqual(spansOf(range, startMs + 12 * minuteMs), [3 * minuteMs, 5 * minuteMs, 2 * minuteMs]);
});

test('rates are per second, minute or hour, so that the busiest point is at least one', () => {
  const total = (requests: readonly number[]) => ({ points: { requests } }) as unknown as Series['total'];
  assert.equal(rateUnitOf({ ...range, total: total([0, 600, 0]) }).words, 'a second');
  assert.equal(rateUnitOf({ ...range, total: total([0, 10, 0]) }).words, 'a minute');
  assert.equal(rateUnitOf({ ...range, total: total([0, 1, 0]) }).words, 'an hour');
  const points = { requests: [6] } as unknown as Parameters<typeof ratesOf>[0];
  assert.deepEqual(ratesOf(points, 'requests', [2 * minuteMs], { ms: minuteMs, words: '' }), [3]);
});

test('the failed share leaves out refused and cancelled requests, and zero requests have no share', () => {
  const points = {
    ...{ requests: [100], succeeded: [7], failed: [3], refused: [80], cancelled: [10] },
  } as unknown as Parameters<typeof failedShareAt>[0];
  assert.equal(failedShareAt(points, 0), 0.3);
  assert.equal(shareAt(0, 0), null);
});

test('a comparison with an earlier range that has no data or zero states so instead of a percentage', () => {
  assert.equal(changeWords(5, undefined), 'no data before');
  assert.equal(changeWords(5, 0), 'none before');
  assert.equal(changeWords(100, 100), 'as before');
  assert.match(changeWords(150, 100), /^\+50\s?%$/);
  assert.equal(changeWords(34_900, 100), '349 × before');
});

test('a chart line is labelled with its values, and the combined rest as "All others"', () => {
  const line = (by: object, isOthers = false) => ({ by, isOthers }) as unknown as Series['lines'][number];
  const named = toNamedLines(
    [line({ model: 'a', key: 'k' }), line({}, true)],
    ['model', 'key'],
    (_, value) => value ?? 'None',
  );
  assert.deepEqual(
    named.map(({ series }) => series.label),
    ['a · k', 'All others'],
  );
});

test("failures split by error code are a share of all requests, and split by model of the model's requests", () => {
  assert.deepEqual(
    [['code'], ['model', 'outcome'], ['model'], []].map((by) => isOfAll(by as never)),
    [true, true, false, false],
  );
});
