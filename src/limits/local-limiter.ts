/** Decides by the counts of this process alone whether a request fits its limits. */

import type { Holder } from '../core/caps.ts';
import type { Clock } from '../lib/clock.ts';
import { amountOf, Counters, type Plan, type PlannedRate } from './counters.ts';
import { inWords, messageFor, type Obstacle, retryAfterSOf, shareOf, toRateLines } from './limit-words.ts';
import type { Amounts, Begun, Refused, Taken } from './limiter.ts';

/** Suggested wait at a concurrency limit, as nobody knows when another exchange ends. */
const concurrencyRetryMs = 1_000;
/** Suggested wait while nodes decide alone, as nobody knows when they will count together again. */
const sharedRetryMs = 5_000;
/** Suggested wait after a late answer: by then another one has arrived, or Redis counts as unreachable. */
const lateRetryMs = 1_000;

const least: Amounts = Object.freeze({ requests: 1, tokens: 1, items: 1 });

/** Shared code of all limiters. Those that ask another process keep its answer as `Reply`. */
export class LocalLimits<Reply = never> {
  readonly counters = new Counters();
  readonly #clock: Pick<Clock, 'monotonicMs'>;

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock;
  }

  /** Number of processes that share the limits while each decides alone, this one included. */
  get nodes(): number {
    return 1;
  }

  /** See `Limiter`; this process has the share of one of `nodes` in each limit. */
  begin(holders: readonly Holder[], nodes = 1): Begun | Refused {
    const nowMs = this.nowMs();
    const plan = this.counters.plan(holders, nowMs);
    const obstacle = obstacleTo(plan, least, nowMs, nodes, false, true);
    if (obstacle !== undefined) return refusalOf(obstacle, () => localRateLines(plan, nowMs, nodes));
    plan.begin();
    return new Beginning(plan);
  }

  /** Decides by this node's share of the limits; where an answer is merely late, by its share of what was left recently. */
  protected decideHere(plan: Plan, amounts: Amounts, isMerelyLate = false): Taken | Refused {
    const nowMs = this.nowMs();
    const { nodes } = this;
    const obstacle = obstacleTo(plan, amounts, nowMs, nodes, isMerelyLate);
    if (obstacle !== undefined) return refusalOf(obstacle, () => localRateLines(plan, nowMs, nodes));
    return this.taken(plan, amounts, nowMs);
  }

  protected taken(plan: Plan, amounts: Amounts, nowMs: number, reply?: Reply): Taken {
    plan.take(nowMs, amounts);
    return new Held(this, plan, amounts, nowMs, reply);
  }

  /** Header lines for a reservation; `reply` is undefined where this process decided alone. */
  linesOf(plan: Plan, atMs: number, _reply: Reply | undefined): string {
    return localRateLines(plan, atMs, this.nodes);
  }

  settle(plan: Plan, amounts: Amounts, used: Amounts, atMs: number, _reply: Reply | undefined): void {
    plan.settle(atMs, amounts, used);
  }

  protected nowMs(): number {
    return Math.floor(this.#clock.monotonicMs());
  }
}

export class MemoryLimiter extends LocalLimits {
  reserve(holders: readonly Holder[], amounts: Amounts): Taken | Refused {
    return this.decideHere(this.counters.plan(holders, this.nowMs()), amounts);
  }
}

class Held<Reply> implements Taken {
  readonly kind = 'taken';
  readonly #limits: LocalLimits<Reply>;
  readonly #plan: Plan;
  readonly #amounts: Amounts;
  readonly #atMs: number;
  readonly #reply: Reply | undefined;
  #isSettled = false;

  constructor(limits: LocalLimits<Reply>, plan: Plan, amounts: Amounts, atMs: number, reply: Reply | undefined) {
    this.#limits = limits;
    this.#plan = plan;
    this.#amounts = amounts;
    this.#atMs = atMs;
    this.#reply = reply;
  }

  lines(): string {
    return this.#limits.linesOf(this.#plan, this.#atMs, this.#reply);
  }

  settle(used: Amounts): void {
    if (this.#isSettled) return;
    this.#isSettled = true;
    this.#limits.settle(this.#plan, this.#amounts, used, this.#atMs, this.#reply);
  }
}

class Beginning implements Begun {
  readonly kind = 'begun';
  readonly #plan: Plan;
  #isOver = false;

  constructor(plan: Plan) {
    this.#plan = plan;
  }

  over(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#plan.endBeginning();
  }
}

/** The exceeded limit with the longest wait. A node has its share of a limit; where an answer is merely late, its share of what was last left. */
export function obstacleTo(
  plan: Plan,
  amounts: Amounts,
  nowMs: number,
  nodes: number,
  isMerelyLate = false,
  withBegun = false,
): Obstacle | undefined {
  let worst: Obstacle | undefined;
  for (const planned of plan.rates) {
    const obstacle = obstacleOf(planned, amounts, nowMs, nodes, isMerelyLate);
    if (obstacle !== undefined && (worst === undefined || isLonger(obstacle, worst))) worst = obstacle;
  }
  for (const { holder, most: whole, count } of plan.slots) {
    const most = shareOf(whole, nodes);
    if (count.held + (withBegun ? count.begun : 0) < most) continue;
    const obstacle = concurrencyObstacle(holder, most);
    if (worst === undefined || isLonger(obstacle, worst)) worst = obstacle;
  }
  return worst;
}

function obstacleOf(
  planned: PlannedRate,
  amounts: Amounts,
  nowMs: number,
  nodes: number,
  isMerelyLate: boolean,
): Obstacle | undefined {
  const { holder, rate, window } = planned;
  const asked = amountOf(amounts, rate.measure);
  const most = shareOf(rate.most, nodes);
  const rest = isMerelyLate ? window.shareOfRest(nowMs, rate.most, nodes) : undefined;
  if (rest !== undefined) {
    if (asked <= Math.max(0, rest)) return undefined;
    return { holder, rate, most, asked, isForever: asked > rate.most, retryAfterMs: lateRetryMs };
  }
  const over = window.totalAt(nowMs) + asked - most;
  return over <= 0 ? undefined : rateObstacle(planned, asked, most, over, nowMs);
}

function rateObstacle(
  { holder, rate, window }: PlannedRate,
  asked: number,
  most: number,
  over: number,
  nowMs: number,
): Obstacle {
  const isForever = asked > rate.most;
  const retryAfterMs = asked > most ? sharedRetryMs : window.freeAfterMs(nowMs, over);
  return { holder, rate, most, asked, isForever, retryAfterMs };
}

export function concurrencyObstacle(holder: Obstacle['holder'], most: number): Obstacle {
  return { holder, rate: 'at once', most, asked: 1, isForever: most === 0, retryAfterMs: concurrencyRetryMs };
}

function isLonger(one: Obstacle, than: Obstacle): boolean {
  if (one.isForever !== than.isForever) return one.isForever;
  return one.retryAfterMs > than.retryAfterMs;
}

export function refusalOf(obstacle: Obstacle, lines: () => string): Refused {
  return {
    kind: 'refused',
    holder: obstacle.holder.kind,
    measure: obstacle.rate === 'at once' ? 'concurrency' : obstacle.rate.measure,
    limit: inWords(obstacle),
    retryAfterMs: obstacle.retryAfterMs,
    retryAfterS: retryAfterSOf(obstacle),
    isForever: obstacle.isForever,
    message: messageFor(obstacle),
    lines,
  };
}

function localRateLines(plan: Plan, nowMs: number, nodes: number): string {
  return toRateLines(plan.rates, nodes, {
    totalOf: ({ window }) => window.totalAt(nowMs),
    resetAfterMsOf: ({ window }) => window.resetAfterMs(nowMs),
  });
}
