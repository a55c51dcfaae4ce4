import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toUpstream } from '../../../test/support/upstreams/upstream.ts';
import type { Pacing } from '../../core/dispatch.ts';
import { GatewayError } from '../../core/errors.ts';
import type { Upstream } from '../../core/snapshot.ts';
import type { Plan } from '../../plan/planned-call.ts';
import { RateWait, usedUpForMsIn } from './rate-wait.ts';

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

const noTarget = { kind: 'tried', retryAfterMs: 0, isLimited: false, why: [] } as const;

/** Where the call waits once it was denied by these upstreams, and for how long. */
async function waitAfter(...denials: readonly (readonly [Upstream, ms: number, error?: GatewayError])[]) {
  let waits: string | undefined;
  const pacing = ({ id }: Upstream): Pacing => ({
    behindMs: () => undefined,
    wait(call, inMs) {
      waits = `${id} ${inMs}`;
      call.resume();
    },
    done: () => undefined,
  });
  const plan = { exchange: { lane: 'interactive' }, resolved: { model: {} }, deadlineMs: Number.POSITIVE_INFINITY };
  const wait = new RateWait(plan as unknown as Plan, { dispatcher: { pacing } }, { gone: false, work: undefined });
  for (const [upstream, retryAfterMs, error] of denials) {
    wait.denied(upstream, { limit: 'a limit', retryAfterMs, ...(error !== undefined && { error }) });
  }
  return (await wait.next(noTarget)) === 'again' ? waits : undefined;
}

test('waits for the paced upstream that is free soonest, except for one refused by a budget', async () => {
  const paced = (id: string): Upstream => ({ ...toUpstream('http://127.0.0.1:1'), id, paceMs: 60_000 });
  const unpaced = toUpstream('http://127.0.0.1:1');
  assert.equal(await waitAfter([paced('a'), 500], [paced('b'), 100], [paced('c'), 300]), 'b 100');
  assert.equal(await waitAfter([paced('a'), 500], [paced('b'), 100, new GatewayError('budget_exceeded')]), 'a 500');
  assert.equal(await waitAfter([unpaced, 100], [paced('a'), 500]), 'a 500');
  assert.equal(await waitAfter([unpaced, 100]), undefined);
});
