import assert from 'node:assert/strict';
import { test } from 'node:test';
import { usedUpForMsIn } from './rate-wait.ts';

const nowMs = Date.parse('2026-11-26T12:00:00Z');

test('a rate-limit header of 0 remaining gives the wait until its reset', () => {
  const cases: readonly [headers: readonly string[], ms: number | undefined][] = [
    [[], undefined],
    [['X-RateLimit-Remaining-Requests', '1', 'X-RateLimit-Reset-Requests', '1s'], undefined],
    [['x-ratelimit-remaining-requests', '0', 'x-ratelimit-reset-requests', '1s'], 1_000],
    [['x-ratelimit-remaining-tokens', '0', 'x-ratelimit-reset-tokens', '6m0s'], 360_000],
    [['x-ratelimit-remaining-tokens', '0', 'x-ratelimit-reset-tokens', '20ms'], 20],
    [['x-ratelimit-remaining-tokens', '0', 'x-ratelimit-reset-tokens', '7'], 7_000],
    [['x-ratelimit-remaining', '0', 'x-ratelimit-reset', `${nowMs / 1_000 + 3}`], 3_000],
    [
      ['anthropic-ratelimit-requests-remaining', '0', 'anthropic-ratelimit-requests-reset', '2026-11-26T12:00:05Z'],
      5_000,
    ],
    [['ratelimit-remaining', '0', 'ratelimit-reset', '2'], 2_000],
    [['x-ratelimit-remaining-requests', '0', 'x-ratelimit-reset-requests', 'soon'], undefined],
    [['x-ratelimit-remaining-requests', '0'], undefined],
    [['x-ratelimit-remaining-requests', '-1', 'x-ratelimit-reset-requests', '1s'], undefined],
  ];
  for (const [headers, ms] of cases) assert.equal(usedUpForMsIn(headers, nowMs), ms, headers.join(': '));
});
