/** A request in flight to Redis: decided once, by its answer, or locally if none arrives in time. */

import type { Plan } from './counters.ts';
import { type Obstacle, type RateState, toRateHeaders } from './limit-words.ts';
import type { Amounts, Refused, Taken } from './limiter.ts';
import { crowdObstacle, localRateHeaders, refusalOf } from './local-judgement.ts';

import type { RedisLink } from './redis-link.ts';
import { reserveScript } from './redis-scripts.ts';
import { slots } from './window.ts';

export interface Decider {
  readonly nodes: number;
  answered(): void;
  nowMs(): number;
  decideHere(plan: Plan, amounts: Amounts): Taken | Refused;
  takenThere(plan: Plan, amounts: Amounts, reply: readonly number[]): Taken;
  /** After a local decision, at that time. */
  takenThereToo(plan: Plan, amounts: Amounts, atMs: number): void;
  /** After a late local decision: the answer has come now, or never will. */
  answeredLate(): void;
  lose(error: unknown): void;
  settle(plan: Plan, amounts: Amounts, used: Amounts, atMs: number, redisAtMs: number | undefined): void;
}

export class Pending {
  readonly #decider: Decider;
  readonly #plan: Plan;
  readonly #amounts: Amounts;
  readonly #resolve: (decision: Taken | Refused) => void;
  #isDecided = false;
  #isLate = false;
  #decidedHereAtMs = 0;

  constructor(decider: Decider, plan: Plan, amounts: Amounts, resolve: (decision: Taken | Refused) => void) {
    this.#decider = decider;
    this.#plan = plan;
    this.#amounts = amounts;
    this.#resolve = resolve;
  }

  get isDecided(): boolean {
    return this.#isDecided;
  }

  ask(link: RedisLink, keys: readonly string[], args: readonly string[]): void {
    this.#plan.hold();
    link.run(reserveScript, keys, args).then(
      (reply) => {
        this.#answered(reply);
        this.#end();
      },
      (error) => {
        this.#failed(error);
        this.#end();
      },
    );
  }

  overdue(): void {
    if (!this.#begin()) return;
    this.#isLate = true;
    this.#decideHere();
  }

  #end(): void {
    this.#plan.letGo();
    if (this.#isLate) this.#decider.answeredLate();
  }

  #answered(reply: unknown): void {
    if (!isNumbers(reply)) this.#failed(new TypeError('redis answered something else than was asked'));
    else if (reply[0] === 1) this.#taken(reply);
    else this.#refused(reply);
  }

  #taken(reply: readonly number[]): void {
    this.#hear(reply, 2);
    if (this.#begin()) {
      this.#decider.answered();
      this.#resolve(this.#decider.takenThere(this.#plan, this.#amounts, reply));
    } else {
      this.#decider.takenThereToo(this.#plan, this.#amounts, this.#decidedHereAtMs);
    }
  }

  #refused(reply: readonly number[]): void {
    const obstacle = obstacleIn(this.#plan, this.#amounts, reply);
    if (obstacle === undefined) {
      this.#failed(new RangeError('redis named a limit that was not asked about'));
      return;
    }
    this.#hear(reply, 4);
    if (!this.#begin()) return;
    this.#decider.answered();
    this.#resolve(refusalOf(obstacle, () => remoteRateHeaders(this.#plan, reply, 4)));
  }

  /** The sums of the rates begin at index `first`. */
  #hear(reply: readonly number[], first: number): void {
    const nowMs = this.#decider.nowMs();
    for (const [index, { window }] of this.#plan.rates.entries()) window.hear(nowMs, reply[first + 2 * index] ?? 0);
  }

  #failed(error: unknown): void {
    this.#decider.lose(error);
    if (this.#begin()) this.#decideHere();
  }

  #begin(): boolean {
    if (this.#isDecided) return false;
    this.#isDecided = true;
    return true;
  }

  #decideHere(): void {
    this.#decidedHereAtMs = this.#decider.nowMs();
    this.#resolve(this.#decider.decideHere(this.#plan, this.#amounts));
  }
}

export class SharedTaken implements Taken {
  readonly kind = 'taken';
  readonly #decider: Decider;
  readonly #plan: Plan;
  readonly #amounts: Amounts;
  readonly #atMs: number;
  /** Undefined for a local decision. */
  readonly #reply: readonly number[] | undefined;
  #isSettled = false;

  constructor(decider: Decider, plan: Plan, amounts: Amounts, atMs: number, reply: readonly number[] | undefined) {
    this.#decider = decider;
    this.#plan = plan;
    this.#amounts = amounts;
    this.#atMs = atMs;
    this.#reply = reply;
  }

  headers(): string[] {
    if (this.#reply === undefined) return localRateHeaders(this.#plan, this.#atMs, this.#decider.nodes);
    return remoteRateHeaders(this.#plan, this.#reply, 2);
  }

  settle(used: Amounts): void {
    if (this.#isSettled) return;
    this.#isSettled = true;
    this.#decider.settle(this.#plan, this.#amounts, used, this.#atMs, this.#reply?.[1]);
  }
}

/** The sums and newest buckets of the rates begin at index `first`. */
function remoteRateHeaders({ rates }: Plan, reply: readonly number[], first: number): string[] {
  const nowMs = reply[1] ?? 0;
  const states = rates.map(({ rate, window }, index): RateState => {
    const total = reply[first + 2 * index] ?? 0;
    const newest = reply[first + 2 * index + 1] ?? 0;
    const resetAfterMs = total === 0 ? 0 : Math.max(0, (newest + slots) * window.bucketMs - nowMs);
    return { most: rate.most, total, resetAfterMs };
  });
  return toRateHeaders(rates, states);
}

function obstacleIn({ rates, crowds }: Plan, amounts: Amounts, reply: readonly number[]): Obstacle | undefined {
  const [, , which = 0, waitMs = 0] = reply;
  const planned = rates[which - 1];
  if (planned !== undefined) {
    const { holder, rate } = planned;
    const isForever = waitMs < 0;
    return { holder, rate, most: rate.most, asked: amounts[rate.measure], isForever, retryAfterMs: waitMs };
  }
  const crowd = crowds[which - 1 - rates.length];
  return crowd === undefined ? undefined : crowdObstacle(crowd.holder, crowd.most);
}

function isNumbers(reply: unknown): reply is number[] {
  return Array.isArray(reply) && reply.every((value) => typeof value === 'number');
}
