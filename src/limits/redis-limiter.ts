/** Limits counted in Redis for all nodes, and locally too, so that a node continues with its share when Redis is unreachable. */

import type { Holder } from '../core/caps.ts';
import type { Log } from '../core/log.ts';
import type { SlotArbiter, SlotClaim, SlotGrant } from '../core/slots.ts';
import type { Clock } from '../lib/clock.ts';
import { Counters, measureIndex, type Plan } from './counters.ts';
import type { Amounts, Begun, Limiter, Refused, Taken } from './limiter.ts';
import { begin, localRateHeaders, obstacleTo, refusalOf } from './local-judgement.ts';
import { TickBatches, within } from './reading-time.ts';
import { RedisLink } from './redis-link.ts';
import { type Decider, Pending, SharedTaken } from './redis-pending.ts';
import { adjustScript, slotsScript } from './redis-scripts.ts';

/** A hash tag, so that one script may use all keys in a cluster. */
const prefix = 'postern:{limits}:';
/** Local decisions are reported after this time, in batches. */
const reportAfterMs = 50;
/** Without an answer for longer, the connection is closed. */
const claimTimeoutMs = 1_000;
const reportedAtOnce = 300;

export interface RedisLimiterDeps {
  readonly url: string;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  /** Unique to this start of this process. */
  readonly node: string;
  readonly log: Log;
  readonly random: () => number;
  /** Deadline of a decision; default 30 ms. */
  readonly deadlineMs?: number | undefined;
  /** Nodes known from other sources, this one included; default 1. */
  readonly otherwiseKnown?: () => number;
}

export interface LocalDecisions {
  /** Its answer was late. */
  readonly late: number;
  /** It was not asked, as it counted as unreachable. */
  readonly away: number;
}

/** Resolves after the first connection attempt, successful or not. */
export async function createRedisLimiter(deps: RedisLimiterDeps): Promise<RedisLimiter> {
  const limiter = new RedisLimiter(deps);
  await limiter.open();
  return limiter;
}

/** A plan's keys and arguments in Redis. */
interface RemotePlan {
  readonly keys: readonly string[];
  /** After the amounts: number of rates; measure, bucket length and limit of each; concurrency limits. */
  readonly args: readonly string[];
}

export class RedisLimiter implements Limiter, SlotArbiter, Decider {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #counters = new Counters();
  #remote = new WeakMap<Plan, RemotePlan>();
  readonly #link: RedisLink;
  /** Prefix of all counting keys; those of another data set are never used again. */
  #prefix = prefix;
  /** Redis's clock minus this one's. */
  #offsetMs = 0;
  #hasUntold = false;
  /** A report was interrupted: all is reported anew, and may count twice. */
  #mustReportAll = false;
  readonly #batches: TickBatches<Pending>;
  readonly #log: Log;
  readonly #decided = { late: 0, away: 0 };
  #lateReported = 0;
  /** Locally decided questions whose answers are outstanding. */
  #lateOnTheWay = 0;
  #telling: NodeJS.Timeout | undefined = undefined;

  constructor({ clock, otherwiseKnown = () => 1, ...deps }: RedisLimiterDeps) {
    this.#clock = clock;
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
    this.#batches = new TickBatches(this.#link.deadlineMs, (asked, leftAtMs) => this.#overdue(asked, leftAtMs));
  }

  open(): Promise<void> {
    return this.#link.open();
  }

  async close(): Promise<void> {
    clearTimeout(this.#telling);
    if (this.#hasUntold && this.#link.isUp) this.#report();
    await this.#link.close();
  }

  /** False while each node has only its share. */
  get isShared(): boolean {
    return this.#link.isUp;
  }

  /** Nodes that count together, as far as known; this one included. */
  get nodes(): number {
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

  nowMs(): number {
    return Math.floor(this.#clock.monotonicMs());
  }

  /** Without Redis, which is asked once the body is there: a limit exceeded here is exceeded for all. */
  begin(holders: readonly Holder[]): Begun | Refused {
    const nowMs = this.nowMs();
    return begin(this.#counters.plan(holders, nowMs), nowMs, this.#link.isUp ? 1 : this.#link.nodes);
  }

  reserve(holders: readonly Holder[], amounts: Amounts): Taken | Refused | Promise<Taken | Refused> {
    const plan = this.#counters.plan(holders, this.nowMs());
    if (!this.#link.isUp) return this.decideHere(plan, amounts);
    return new Promise((resolve) => {
      const { requests, tokens, items } = amounts;
      const { keys, args } = this.#remotePlan(plan);
      const asked = [this.#link.node, String(requests), String(tokens), String(items)];
      const pending = new Pending(this, plan, amounts, resolve);
      pending.ask(this.#link, keys, asked.concat(args));
      this.#batches.add(pending);
    });
  }

  /** This node's share, by its own count; of what was left recently, where Redis is reachable and an answer late. */
  decideHere(plan: Plan, amounts: Amounts): SharedTaken | Refused {
    const nowMs = this.nowMs();
    const { nodes, isUp } = this.#link;
    this.#decided[isUp ? 'late' : 'away'] += 1;
    const obstacle = obstacleTo(plan, amounts, nowMs, nodes, isUp);
    if (obstacle !== undefined) return refusalOf(obstacle, () => localRateHeaders(plan, nowMs, nodes));
    plan.take(nowMs, amounts);
    for (const { rate, window } of plan.rates) {
      const amount = amounts[rate.measure];
      window.note(nowMs, amount);
      window.addUnheard(amount);
    }
    this.#hasUntold = true;
    return new SharedTaken(this, plan, amounts, nowMs, undefined);
  }

  takenThere(plan: Plan, amounts: Amounts, reply: readonly number[]): SharedTaken {
    const nowMs = this.nowMs();
    plan.take(nowMs, amounts);
    for (const { count } of plan.crowds) count.heldReported += 1;
    return new SharedTaken(this, plan, amounts, nowMs, reply);
  }

  /** Redis permitted it after the local decision: its count need not be reported, or must be returned. */
  takenThereToo(plan: Plan, amounts: Amounts, atMs: number): void {
    for (const { rate, window } of plan.rates) window.note(atMs, -amounts[rate.measure]);
    for (const { count } of plan.crowds) count.heldReported += 1;
    this.#hasUntold = true;
  }

  /** Whether Redis counted it is known now; the report must be prompt, as others might take the capacity. */
  answeredLate(): void {
    this.#lateOnTheWay -= 1;
    this.#reportSoon();
  }

  settle(plan: Plan, amounts: Amounts, used: Amounts, atMs: number, redisAtMs: number | undefined): void {
    plan.settle(atMs, amounts, used);
    // The local decision is reported later, and its end must not precede it.
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
    for (const [index, { count }] of plan.crowds.entries()) {
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

  lose(error: unknown): void {
    this.#link.lose(error);
  }

  answered(): void {
    this.#link.answered();
  }

  #overdue(asked: readonly Pending[], leftAtMs: number): void {
    if (asked.every(({ isDecided }) => isDecided)) return;
    this.#link.late(leftAtMs);
    for (const pending of asked) {
      if (pending.isDecided) continue;
      this.#lateOnTheWay += 1;
      pending.overdue();
    }
  }

  /** Not while a late answer is outstanding: the local decision may be counted by then. */
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
    this.#log.warn('answers of redis were late: this node decided by what it knew', {
      decisions,
      deadline_ms: this.#link.deadlineMs,
    });
  }

  #noteSettled(plan: Plan, amounts: Amounts, used: Amounts, atMs: number): void {
    this.#hasUntold = true;
    this.#reportSoon();
    for (const { rate, window } of plan.rates) {
      const more = used[rate.measure] - amounts[rate.measure];
      if (more !== 0) window.note(atMs, more);
    }
  }

  /** Never earlier than before: reported amounts must not expire too soon. */
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
    for (const count of this.#counters.all()) {
      count.heldReported = 0;
      if (!isNewData && !this.#mustReportAll) continue;
      for (const { window } of count.windows()) window.noteAll();
    }
    this.#mustReportAll = false;
  }

  /** Everything that Redis does not know yet. */
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
    for (const count of this.#counters.all()) {
      for (const { measure, span, window } of count.windows()) {
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
    for (const count of this.#counters.all()) {
      if (count.held === count.heldReported) continue;
      keys.push(this.#prefix + crowdKey(count));
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
    let remote = this.#remote.get(plan);
    if (remote === undefined) {
      remote = toRemotePlan(plan, this.#prefix);
      this.#remote.set(plan, remote);
    }
    return remote;
  }
}

function toGrant(reply: unknown): SlotGrant {
  const [held, keep] = Array.isArray(reply) ? reply : [];
  if (typeof held !== 'number' || typeof keep !== 'number') {
    throw new TypeError('redis answered something else than was asked');
  }
  return { held, keep };
}

function toRemotePlan({ rates, crowds }: Plan, before: string): RemotePlan {
  const keys = rates.map(({ holder, rate }) => before + rateKey(rate.measure, rate.window, holder));
  const args = [String(rates.length)];
  for (const { rate, window } of rates) {
    args.push(String(measureIndex[rate.measure] + 1), String(window.bucketMs), String(rate.most));
  }
  for (const { holder, most } of crowds) {
    keys.push(before + crowdKey(holder));
    args.push(String(most));
  }
  keys.push(`${prefix}nodes`);
  return { keys, args };
}

function rateKey(measure: string, span: string, { kind, id }: { readonly kind: string; readonly id: string }): string {
  return `${measure}:${span}:${kind}:${id}`;
}

function crowdKey({ kind, id }: { readonly kind: string; readonly id: string }): string {
  return `open:${kind}:${id}`;
}
