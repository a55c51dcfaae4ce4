/** Limits counted in this process only. */

import type { Holder } from '../core/caps.ts';
import type { Clock } from '../lib/clock.ts';
import { Counters, type Plan } from './counters.ts';
import type { Amounts, Begun, Refused, Taken } from './limiter.ts';
import { begin, localRateHeaders, obstacleTo, refusalOf } from './local-judgement.ts';

export interface MemoryLimiterDeps {
  readonly clock: Pick<Clock, 'monotonicMs'>;
}

export function createMemoryLimiter({ clock }: MemoryLimiterDeps) {
  const counters = new Counters();
  return {
    begin(holders: readonly Holder[]): Begun | Refused {
      const nowMs = Math.floor(clock.monotonicMs());
      return begin(counters.plan(holders, nowMs), nowMs, 1);
    },
    reserve(holders: readonly Holder[], amounts: Amounts): Taken | Refused {
      const nowMs = Math.floor(clock.monotonicMs());
      const plan = counters.plan(holders, nowMs);
      const obstacle = obstacleTo(plan, amounts, nowMs, 1);
      if (obstacle !== undefined) return refusalOf(obstacle, () => localRateHeaders(plan, nowMs, 1));
      plan.take(nowMs, amounts);
      return new LocallyTaken(plan, amounts, nowMs);
    },
    get size(): number {
      return counters.size;
    },
  };
}

class LocallyTaken implements Taken {
  readonly kind = 'taken';
  readonly #plan: Plan;
  readonly #amounts: Amounts;
  readonly #atMs: number;
  #isSettled = false;

  constructor(plan: Plan, amounts: Amounts, atMs: number) {
    this.#plan = plan;
    this.#amounts = amounts;
    this.#atMs = atMs;
  }

  headers(): string[] {
    return localRateHeaders(this.#plan, this.#atMs, 1);
  }

  settle(used: Amounts): void {
    if (this.#isSettled) return;
    this.#isSettled = true;
    this.#plan.settle(this.#atMs, this.#amounts, used);
  }
}
