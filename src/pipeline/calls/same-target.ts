/** Decides whether a failed call is repeated at the same target, and after which pause. Made for each request with a failed call. */

import type { TargetLease } from '../../core/dispatch.ts';
import { Exchange } from '../../core/exchange.ts';
import type { Answer } from '../../core/outcome.ts';
import type { Target } from '../../core/snapshot.ts';
import type { Plan } from '../../plan/planned-call.ts';
import { equalJitterMs } from './pause.ts';

/** What the upstream did: `nothing`, an `error`, or perhaps all, though no answer came (`unheard`). */
type Done = 'nothing' | 'error' | 'unheard';

/** A call that may be repeated. */
export interface Again {
  readonly target: Target;
  readonly done: Done;
  /** The pause that the upstream asked for; 0 if none. */
  readonly cooldownMs: number;
}

/** Statuses of a service that is unavailable or overloaded for a moment. After 504 the work may go on, and be billed. */
const passingStatuses: ReadonlySet<number> = new Set([500, 502, 503, 529]);
/** Longest pause: a client can repeat its request itself after longer ones. A list waits longer, as it would lose the cost of its other parts. */
const longestPauseMs = 5_000;
const longestPauseOfPartMs = 60_000;

export class SameTarget {
  readonly #plan: Plan;
  /** The last failed call, if it may be repeated. */
  #next: Again | undefined = undefined;
  /** The targets that were called again, listed once for each time. */
  readonly #asked: Target[] = [];

  constructor(plan: Plan) {
    this.#plan = plan;
  }

  /** Whether the same target is called again before any other: if the operator set a number of retries. */
  get isFirst(): boolean {
    return this.#plan.routePlan.model.retry.sameTarget !== undefined;
  }

  failed({ candidate: { target } }: TargetLease, done: Done, cooldownMs = 0): void {
    this.#next = undefined;
    const { routePlan } = this.#plan;
    const { scope, sameTarget } = routePlan.model.retry;
    if (done === 'unheard' && scope !== 'always') return;
    if (!routePlan.replayable && (done !== 'nothing' || sameTarget === undefined)) return;
    const times = this.#asked.filter((one) => one === target).length;
    if (times < (sameTarget ?? this.#standard)) this.#next = { target, done, cooldownMs };
  }

  failedWith(lease: TargetLease, { status, meantStatus = status }: Answer, cooldownMs: number | undefined): void {
    const { errors } = lease.candidate.target.upstream.family;
    const meant = errors?.statuses?.[meantStatus] ?? meantStatus;
    if (passingStatuses.has(meant)) this.failed(lease, 'error', cooldownMs);
    else if (meant === 504) this.failed(lease, 'unheard', cooldownMs);
  }

  get #standard(): number {
    const { routePlan, isPart } = this.#plan;
    const isOnlyOne = routePlan.tiers.length === 1 && routePlan.tiers[0]?.length === 1;
    return isPart || isOnlyOne ? 1 : 0;
  }

  /** Returns the failed call that may be repeated now; only once. */
  take(): Again | undefined {
    const next = this.#next;
    this.#next = undefined;
    return next;
  }

  /** The pause before repeating a call; undefined if it would be too long. `leftMs` is the time until the deadline. */
  pauseMs({ cooldownMs }: Again, leftMs: number, random: () => number): number | undefined {
    const ownMs = equalJitterMs(this.#asked.length, random);
    // Requests given the same pause by one upstream do not return at the same time.
    const waitMs = cooldownMs === 0 ? ownMs : cooldownMs + ownMs / 2;
    const longestMs = this.#plan.isPart ? longestPauseOfPartMs : longestPauseMs;
    return cooldownMs > longestMs || waitMs >= leftMs ? undefined : waitMs;
  }

  isAsked({ target, done }: Again): void {
    this.#asked.push(target);
    if (done !== 'unheard') return;
    const { exchange } = this.#plan;
    exchange.owed = [...(exchange.owed ?? []), unheardCall(exchange, target)];
  }
}

/** The exchange of a call whose answer never came: its usage is unknown, so that it is billed by an estimate. */
function unheardCall(whole: Exchange, target: Target): Exchange {
  const call = new Exchange(whole.id, whole.clientRequestId, whole.snapshot, whole.startedAtMs, whole.startedMs);
  call.lane = whole.lane;
  call.route = whole.route;
  call.key = whole.key;
  call.estimate = whole.estimate;
  call.target = target;
  call.outcome = 'cut';
  return call;
}
