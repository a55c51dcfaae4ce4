import assert from 'node:assert/strict';
import { test } from 'node:test';
import { noCaps, type Rate } from '../core/caps.ts';
import { toRateLines, toSpan } from './limit-words.ts';
import { Window } from './window.ts';

test('writes reset times as OpenAI does, rounded up', () => {
  const spans: [number, string][] = [
    [0, '0s'],
    [0.2, '1ms'],
    [120, '120ms'],
    [999, '999ms'],
    [1_000, '1s'],
    [1_001, '2s'],
    [59_999, '1m0s'],
    [360_000, '6m0s'],
    [3_600_000, '1h0m0s'],
    [87_839_500, '24h24m0s'],
  ];
  for (const [ms, text] of spans) assert.equal(toSpan(ms), text);
});

/** The displayed limit of several, as `[most, total]`. */
function shown(...states: [number, number][]): string | undefined {
  const rates = states.map(([most]) => {
    const rate: Rate = { measure: 'requests', window: 'minute', most };
    return { holder: { kind: 'key', id: 'dev', caps: noCaps } as const, rate, window: new Window(60_000, 0) };
  });
  const lines = toRateLines(rates, 1, {
    totalOf: (_planned, index) => states[index]?.[1] ?? 0,
    resetAfterMsOf: () => 0,
  });
  return /^x-ratelimit-limit-requests: (.*)$/m.exec(lines)?.[1];
}

test('shows the limit with the smallest remaining share, and of equal shares the smaller limit', () => {
  assert.equal(shown([100, 50], [10, 2]), '100');
  assert.equal(shown([10, 2], [100, 50]), '100');
  assert.equal(shown([100, 50], [10, 5]), '10');
  assert.equal(shown([10, 5], [100, 50]), '10');
  assert.equal(shown([5, 1], [0, 0]), '0', 'a limit of nothing has nothing left');
});
