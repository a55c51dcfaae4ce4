/** Limits counted in Redis for all nodes, and locally too, so that a node continues with its share when Redis is unreachable. */

import { type Holder, measures } from '../core/caps.ts';
import type { Log } from '../core/log.ts';
import type { SlotArbiter, SlotClaim, SlotGrant } from '../core/slots.ts';
import type { Clock } from '../lib/clock.ts';
import { getOrMake } from '../lib/get-or-make.ts';
import type { Plan } from './counters.ts';
import { type Obstacle, toRateLines } from './limit-words.ts';
import type { Amounts, Begun, Refused, Taken } from './limiter.ts';
import { concurrencyObstacle, refusalOf } from './local-limiter.ts';
import { within } from './reading-time.ts';
import { decisionDeadlineMs, type LinkDeps, RedisLink } from './redis-link.ts';
import { adjustScript, reserveScript, slotsScript } from './redis-scripts.ts';
import { SharedLimiter } from './shared-limiter.ts';
import { slots } from './window.ts';

/** Prefix of all keys in Redis, with a hash tag, so that one script may use all keys in a cluster. */
const prefix = 'postern:{limits}:';
/** Delay after which local decisions are reported to Redis, in batches. */
const reportAfterMs = 50;
/** Timeout of a claim for slots; after it the connection is closed. */
const claimTimeoutMs = 1_000;
const reportedAtOnce = 300;

export interface RedisLimiterDeps extends Pick<LinkDeps, 'url' | 'node' | 'log' | 'random' | 'deadlineMs'> {
  readonly clock: Pick<Clock, 'monotonicMs'>;
  /** Number of nodes known from other sources than Redis, this one included; default 1. */
  readonly otherwiseKnown?: () => number;
}

export interface LocalDecisions {
  /** Decisions made locally because the answer of Redis was late. */
  readonly late: number;
  /** Decisions made locally because Redis counted as unreachable and was not asked. */
  readonly away: number;
}

/** Creates the limiter; resolves after the first connection attempt, successful or not. */
export async function createRedisLimiter(deps: RedisLimiterDeps): Promise<RedisLimiter> {
  const limiter = new RedisLimiter(deps);
  await limiter.open();
  return limiter;
}

/** The keys and arguments of a plan for the scripts in Redis. */
interface RemotePlan {
  readonly keys: readonly string[];
  /** Arguments after the amounts: number of rates; measure, bucket length and limit of each; concurrency limits. */
  readonly args: readonly string[];
}

/** The script's answer: 1 or 0, the time, and further numbers as described in `redis-scripts.ts`. */
type Reply = readonly number[];

export class RedisLimiter extends SharedLimiter<Reply> implements SlotArbiter {
  #remote = new WeakMap<Plan, RemotePlan>();
  readonly #link: RedisLink;
  /** Prefix of the keys with counts; keys of an earlier data set are never used again. */
  #prefix = prefix;
  /** Difference of Redis's clock to this process's. */
  #offsetMs = 0;
  #hasUntold = false;
  /** A report was interrupted, and may have been counted: all is reported anew, and may count twice. */
  #mustReportAll = false;
  readonly #log: Log;
  readonly #decided = { late: 0, away: 0 };
  #lateReported = 0;
  /** Number of questions that were decided locally and whose answers are outstanding. */
  #lateOnTheWay = 0;
  #telling: NodeJS.Timeout | undefined = undefined;

  constructor({ clock, otherwiseKnown = () => 1, ...deps }: RedisLimiterDeps) {
    super(clock, deps.deadlineMs ?? decisionDeadlineMs);
    this.#log = deps.log;
    this.#link = new RedisLink({
      ...deps,
      otherwiseKnown,
      keys: { nodes: `${prefix}nodes`, dataSet: `${prefix}data-set` },
      onUp: ({ redisNowMs, dataSet, isNewNode, isNewData }) => {
        this.#offsetMs = redisNowMs - this.nowMs();
        this.#countIn(dataSet);
        if (isNewNode || isNewData) this.#forgetReported(isNewData);
        this.#report();
      },
      onBeat: (redisNowMs) => {
        this.#offsetMs = redisNowMs - this.nowMs();
        if (this.#hasUntold) this.#report();
        this.#reportLate();
      },
    });
  }

  open(): Promise<void> {
    return this.#link.open();
  }

  async close(): Promise<void> {
    clearTimeout(this.#telling);
    if (this.#hasUntold && this.#link.isUp) this.#report();
    await this.#link.close();
  }

  /** Whether all nodes count together; false while each has only its share. */
  get isShared(): boolean {
    return this.#link.isUp;
  }

  /** Number of nodes that count together, as far as known; this one included. */
  override get nodes(): number {
    return this.#link.nodes;
  }

  get isThere(): boolean {
    return this.#link.isUp;
  }

  async claim(claims: readonly SlotClaim[]): Promise<readonly SlotGrant[]> {
    const { node } = this.#link;
    const answers = claims.map(({ upstream, most, held, wants }) =>
      this.#link.run(
        slotsScript,
        [`${this.#prefix}places:${upstream}`, `${prefix}nodes`],
        [node, String(most), String(held), String(wants)],
      ),
    );
    try {
      return (await within(Promise.all(answers), claimTimeoutMs)).map(toGrant);
    } catch (error) {
      this.#link.lose(error);
      throw error;
    }
  }

  get localDecisions(): LocalDecisions {
    return this.#decided;
  }

  /** Decides by local counts, without Redis, which is asked once the body is there: a limit exceeded locally is exceeded for all. */
  override begin(holders: readonly Holder[]): Begun | Refused {
    return super.begin(holders, this.#link.isUp ? 1 : this.#link.nodes);
  }

  override reserve(holders: readonly Holder[], amounts: Amounts): Taken | Refused | Promise<Taken | Refused> {
    if (this.#link.isUp) return super.reserve(holders, amounts);
    return this.decideHere(this.counters.plan(holders, this.nowMs()), amounts);
  }

  protected async ask(plan: Plan, { requests, tokens, items }: Amounts): Promise<Reply> {
    const { keys, args } = this.#remotePlan(plan);
    const asked = [this.#link.node, String(requests), String(tokens), String(items)];
    const reply = await this.#link.run(reserveScript, keys, asked.concat(args));
    if (!isNumbers(reply)) throw new TypeError('redis answered something else than was asked');
    return reply;
  }

  protected refusalIn(reply: Reply, plan: Plan, amounts: Amounts): Refused | undefined {
    const obstacle = isTaken(reply) ? undefined : obstacleIn(plan, amounts, reply);
    const nowMs = this.nowMs();
    const first = firstSumIn(reply);
    for (const [index, { window }] of plan.rates.entries()) window.hear(nowMs, reply[first + 2 * index] ?? 0);
    return obstacle && refusalOf(obstacle, () => remoteRateLines(plan, reply));
  }

  protected override decideHere(plan: Plan, amounts: Amounts): Taken | Refused {
    const { isUp } = this.#link;
    this.#decided[isUp ? 'late' : 'away'] += 1;
    const nowMs = this.nowMs();
    const decision = super.decideHere(plan, amounts, isUp);
    if (decision.kind === 'refused') return decision;
    for (const { rate, window } of plan.rates) {
      const amount = amounts[rate.measure];
      window.note(nowMs, amount);
      window.addUnheard(amount);
    }
    this.#hasUntold = true;
    return decision;
  }

  protected override taken(plan: Plan, amounts: Amounts, nowMs: number, reply?: Reply): Taken {
    if (reply !== undefined) for (const { count } of plan.slots) count.heldReported += 1;
    return super.taken(plan, amounts, nowMs, reply);
  }

  override linesOf(plan: Plan, atMs: number, reply: Reply | undefined): string {
    return reply === undefined ? super.linesOf(plan, atMs, reply) : remoteRateLines(plan, reply);
  }

  protected answered(): void {
    this.#link.answered();
  }

  protected override failed(error: unknown): void {
    this.#link.lose(error);
  }

  protected late(count: number, leftAtMs: number): void {
    this.#link.late(leftAtMs);
    this.#lateOnTheWay += count;
  }

  /** Corrects the report for what Redis has taken after all; the report must be prompt, as others might take the capacity. */
  protected lateEnded(reply: Reply | undefined, plan: Plan, amounts: Amounts, lateAtMs: number): void {
    if (reply !== undefined) {
      for (const { rate, window } of plan.rates) window.note(lateAtMs, -amounts[rate.measure]);
      for (const { count } of plan.slots) count.heldReported += 1;
      this.#hasUntold = true;
    }
    this.#lateOnTheWay -= 1;
    this.#reportSoon();
  }

  override settle(plan: Plan, amounts: Amounts, used: Amounts, atMs: number, reply: Reply | undefined): void {
    super.settle(plan, amounts, used, atMs, reply);
    const redisAtMs = reply?.[1];
    // A reservation that was decided locally is reported later: its end must not be reported before it.
    if (!this.#link.isUp || redisAtMs === undefined) {
      this.#noteSettled(plan, amounts, used, atMs);
      return;
    }
    const keys: string[] = [];
    const args: string[] = [];
    const remote = this.#remotePlan(plan);
    for (const [index, { rate, window }] of plan.rates.entries()) {
      const more = used[rate.measure] - amounts[rate.measure];
      if (more === 0) continue;
      keys.push(remote.keys[index] ?? '');
      args.push(String(window.bucketMs), String(window.bucketAt(redisAtMs)), String(more));
    }
    const rates = keys.length;
    for (const [index, { count }] of plan.slots.entries()) {
      keys.push(remote.keys[plan.rates.length + index] ?? '');
      args.push('-1');
      count.heldReported -= 1;
    }
    if (keys.length === 0) return;
    this.#link.run(adjustScript, keys, [this.#link.node, String(rates), ...args]).catch((error: unknown) => {
      // The command may have run or not. Open exchanges are reported anew on the next connection; a token difference is lost.
      this.#link.lose(error);
    });
  }

  /** Reports after a delay, but not while a late answer is outstanding, as Redis may have counted the local decision by then. */
  #reportSoon(): void {
    this.#telling ??= setTimeout(() => {
      this.#telling = undefined;
      if (this.#hasUntold && this.#lateOnTheWay === 0 && this.#link.isUp) this.#report();
    }, reportAfterMs).unref();
  }

  #reportLate(): void {
    const decisions = this.#decided.late - this.#lateReported;
    this.#lateReported = this.#decided.late;
    if (decisions === 0) return;
    this.#log.warn('redis late: limits decided locally', { decisions, deadline_ms: this.#link.deadlineMs });
  }

  #noteSettled(plan: Plan, amounts: Amounts, used: Amounts, atMs: number): void {
    this.#hasUntold = true;
    this.#reportSoon();
    for (const { rate, window } of plan.rates) {
      const more = used[rate.measure] - amounts[rate.measure];
      if (more !== 0) window.note(atMs, more);
    }
  }

  /** The number of Redis's bucket for a local one; never an earlier one, as reported amounts must not expire too soon. */
  #redisBucket(bucket: number, bucketMs: number): number {
    const latest = Math.floor((this.nowMs() + this.#offsetMs) / bucketMs);
    return Math.min(latest, Math.floor(((bucket + 1) * bucketMs - 1 + this.#offsetMs) / bucketMs));
  }

  #countIn(dataSet: string): void {
    const [name = ''] = dataSet.split(':');
    const wanted = `${prefix}${name}:`;
    if (wanted === this.#prefix) return;
    this.#prefix = wanted;
    this.#remote = new WeakMap();
  }

  #forgetReported(isNewData: boolean): void {
    for (const count of this.counters.all()) {
      count.heldReported = 0;
      if (!isNewData && !this.#mustReportAll) continue;
      for (const { window } of count.windows.values()) window.noteAll();
    }
    this.#mustReportAll = false;
  }

  #report(): void {
    this.#hasUntold = false;
    const nowMs = this.nowMs();
    let rates: string[] = [];
    let differences: string[] = [];
    const send = (): void => {
      const args = [this.#link.node, String(rates.length), ...differences];
      this.#link.run(adjustScript, rates, args).catch((error: unknown) => {
        this.#mustReportAll = true;
        this.#link.lose(error);
      });
      rates = [];
      differences = [];
    };
    for (const count of this.counters.all()) {
      for (const { measure, span, window } of count.windows.values()) {
        const key = this.#prefix + rateKey(measure, span, count);
        window.report(nowMs, (bucket, amount) => {
          rates.push(key);
          differences.push(String(window.bucketMs), String(this.#redisBucket(bucket, window.bucketMs)), String(amount));
        });
        if (rates.length >= reportedAtOnce) send();
      }
    }
    if (rates.length > 0) send();
    this.#reportHeld();
  }

  #reportHeld(): void {
    const keys: string[] = [];
    const differences: string[] = [];
    for (const count of this.counters.all()) {
      if (count.held === count.heldReported) continue;
      keys.push(this.#prefix + concurrencyKey(count));
      differences.push(String(count.held - count.heldReported));
      count.heldReported = count.held;
    }
    for (let first = 0; first < keys.length; first += reportedAtOnce) {
      const end = first + reportedAtOnce;
      const args = [this.#link.node, '0', ...differences.slice(first, end)];
      this.#link.run(adjustScript, keys.slice(first, end), args).catch((error: unknown) => this.#link.lose(error));
    }
  }

  #remotePlan(plan: Plan): RemotePlan {
    return getOrMake(this.#remote, plan, () => toRemotePlan(plan, this.#prefix));
  }
}

function toGrant(reply: unknown): SlotGrant {
  const [held, keep] = Array.isArray(reply) ? reply : [];
  if (typeof held !== 'number' || typeof keep !== 'number') {
    throw new TypeError('redis answered something else than was asked');
  }
  return { held, keep };
}

function toRemotePlan({ rates, slots }: Plan, before: string): RemotePlan {
  const keys = rates.map(({ holder, rate }) => before + rateKey(rate.measure, rate.window, holder));
  const args = [String(rates.length)];
  for (const { rate, window } of rates) {
    args.push(String(measures.indexOf(rate.measure) + 1), String(window.bucketMs), String(rate.most));
  }
  for (const { holder, most } of slots) {
    keys.push(before + concurrencyKey(holder));
    args.push(String(most));
  }
  keys.push(`${prefix}nodes`);
  return { keys, args };
}

function rateKey(measure: string, span: string, { kind, id }: { readonly kind: string; readonly id: string }): string {
  return `${measure}:${span}:${kind}:${id}`;
}

function concurrencyKey({ kind, id }: { readonly kind: string; readonly id: string }): string {
  return `open:${kind}:${id}`;
}

const isTaken = (reply: Reply): boolean => reply[0] === 1;

/** Index in an answer from which the sums and newest buckets of the rates follow. */
const firstSumIn = (reply: Reply): number => (isTaken(reply) ? 2 : 4);

function remoteRateLines({ rates }: Plan, reply: Reply): string {
  const nowMs = reply[1] ?? 0;
  const first = firstSumIn(reply);
  const totalAt = (index: number): number => reply[first + 2 * index] ?? 0;
  return toRateLines(rates, 1, {
    totalOf: (_planned, index) => totalAt(index),
    resetAfterMsOf({ window }, index) {
      const newest = reply[first + 2 * index + 1] ?? 0;
      return totalAt(index) === 0 ? 0 : Math.max(0, (newest + slots) * window.bucketMs - nowMs);
    },
  });
}

function obstacleIn({ rates, slots }: Plan, amounts: Amounts, reply: Reply): Obstacle {
  const [, , which = 0, waitMs = 0] = reply;
  const planned = rates[which - 1];
  if (planned !== undefined) {
    const { holder, rate } = planned;
    const isForever = waitMs < 0;
    return { holder, rate, most: rate.most, asked: amounts[rate.measure], isForever, retryAfterMs: waitMs };
  }
  const limit = slots[which - 1 - rates.length];
  if (limit === undefined) throw new RangeError('redis named a limit that was not asked about');
  return concurrencyObstacle(limit.holder, limit.most);
}

function isNumbers(reply: unknown): reply is number[] {
  return Array.isArray(reply) && reply.every((value) => typeof value === 'number');
}
