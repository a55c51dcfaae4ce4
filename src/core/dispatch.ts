/** Interface between pipeline and load balancing: choosing the next target, and reporting how its call went. */

import { Buffer } from 'node:buffer';
import { hash } from 'node:crypto';
import type { Exchange } from './exchange.ts';
import type { Offer } from './family.ts';
import type { Lane } from './lane.ts';
import type { CallEnd, Listening } from './outcome.ts';
import type { Credential, Model, Target, Upstream } from './snapshot.ts';

/** A target, with its offer for the requested route. */
export interface Candidate {
  readonly target: Target;
  readonly offer: Offer;
  /** The route has the model in the path, and the offer takes it in the body. */
  readonly lifted: boolean;
  /** The call's path, where it is the same for every model name. */
  readonly path?: string;
}

/** The compiled targets that may serve a route of a model. */
export interface RoutePlan {
  readonly model: Model;
  /** By priority, the best first; no tier is empty. */
  readonly tiers: readonly (readonly Candidate[])[];
  /** The longest total timeout of its targets: one deadline for all attempts. */
  readonly totalMs: number;
  /** A single target with one credential: called even in cooldown, unless it asked for a pause. */
  readonly alone: boolean;
  /** Whether a call may be sent again after its first byte was sent. */
  readonly replayable: boolean;
  /** No setting of the model, its targets or the route needs more than passing bytes on. */
  readonly isPlain?: boolean;
  /** Only usage is read from its answers. */
  readonly isCountAll?: boolean;
}

/** The order of calls that wait for the same upstream depends on these. */
export interface WaitingCall {
  readonly lane: Lane;
  readonly project: string;
  readonly key: string;
  /** Estimated, in tokens or items; at least 1. */
  readonly work: number;
}

/** A call that waits for a rate limit of an upstream. */
export interface PacedCall extends WaitingCall {
  /** It may try again now, and calls `wait` or `done` soon. */
  resume(): void;
}

/** Calls that wait for a rate limit of one upstream. */
export interface Pacing {
  /** Wait of a new call of the lane behind other calls; undefined if there are none. */
  behindMs(lane: Lane): number | undefined;
  /** Wait at least so long; a call that is refused again keeps the first position. */
  wait(call: PacedCall, inMs: number): void;
  /** It was sent, or gave up. */
  done(call: PacedCall): void;
}

/** The facts of an exchange that decide its position. */
export type Caller = Pick<Exchange, 'lane' | 'key' | 'estimate' | 'queuedMs'>;

/** Work for a caller, which may have to wait. It keeps no body. */
export class CallerCall implements WaitingCall {
  /** The lane at the beginning: a slot is given back to the lane that it was taken in. */
  readonly lane: Lane;
  readonly caller: Caller;

  constructor(caller: Caller) {
    this.lane = caller.lane;
    this.caller = caller;
  }

  /** A key without a project counts as a project of its own. */
  get project(): string {
    const { key } = this.caller;
    return key?.project ?? `key ${key?.id ?? ''}`;
  }

  get key(): string {
    return this.caller.key?.id ?? '';
  }

  get work(): number {
    const { estimate } = this.caller;
    return Math.max(1, estimate === undefined ? 1 : estimate.likelyInputTokens || estimate.items);
  }
}

/** Of a longer body only both ends are compared: hashing megabytes would delay the call. */
const markedEndBytes = 64 * 1024;

/** What one exchange has tried and will not try again. */
export class Tried extends CallerCall {
  readonly #body: Buffer;
  #bodyMark: string | undefined = undefined;
  // Most exchanges try one target and never fill these.
  #upstreams: string[] | undefined = undefined;
  #targets: Target[] | undefined = undefined;
  #credentials: Credential[] | undefined = undefined;
  #leases: TargetLease[] | undefined = undefined;
  /** A call is in flight there, so the next one goes to another target. */
  busy: Target | undefined = undefined;
  /** The next call may go to this target only, which was tried before. */
  only: Target | undefined = undefined;
  /** Set when all targets are in cooldown and one was chosen all the same; others may then be chosen too. */
  resorted = false;
  /** Calls sent: from the second on, each counts against the retry budget. */
  sent = 0;
  /** Its first choice was made, and counted for the retry budget. */
  counted = false;

  constructor(body: Buffer, caller: Caller) {
    super(caller);
    this.#body = body;
  }

  /** A fingerprint of the request body, to distinguish the bodies that a target failed on without keeping them. */
  get bodyMark(): string {
    this.#bodyMark ??= markOf(this.#body);
    return this.#bodyMark;
  }

  /** It is unreachable, or has no free slot. */
  upstream(id: string): void {
    this.#upstreams ??= [];
    this.#upstreams.push(id);
  }

  /** After a pause: upstreams that had no free slot, or that asked for the pause, may be tried again. */
  paused(): void {
    this.#upstreams = undefined;
    this.#leases = undefined;
  }

  target(target: Target): void {
    this.#targets ??= [];
    this.#targets.push(target);
  }

  /** The upstream refuses it for every request. */
  credential(credential: Credential): void {
    this.#credentials ??= [];
    this.#credentials.push(credential);
  }

  lease(lease: TargetLease): void {
    this.#leases ??= [];
    this.#leases.push(lease);
  }

  hasTarget(target: Target): boolean {
    if (target === this.busy) return true;
    if (this.only !== undefined) return target !== this.only;
    return this.#targets?.includes(target) === true || this.#upstreams?.includes(target.upstream.id) === true;
  }

  hasCredential(credential: Credential, target: Target): boolean {
    if (this.#credentials?.includes(credential) === true) return true;
    if (this.#leases === undefined || this.only !== undefined) return false;
    return this.#leases.some((lease) => lease.credential === credential && lease.candidate.target === target);
  }
}

function markOf(body: Buffer): string {
  if (body.length <= 2 * markedEndBytes) return hash('sha1', body, 'base64');
  const ends = Buffer.concat([body.subarray(0, markedEndBytes), body.subarray(-markedEndBytes)]);
  return `${body.length} ${hash('sha1', ends, 'base64')}`;
}

/** An error answer to a whole request: the fault may be the target's or the request's. */
export interface AnsweredFailure {
  readonly bodyMark: string;
  /** Status 503 or 529, which say that a service is unavailable. */
  readonly isUnavailable: boolean;
  /** The pause that the answer asked for. */
  readonly cooldownMs: number | undefined;
}

/** A target and a credential that were chosen for a call. Exactly one outcome is reported; then, as `CallEnd`, the end of the call. */
export interface TargetLease extends CallEnd {
  readonly candidate: Candidate;
  readonly credential: Credential;
  /** Takes a slot of the upstream; waits where none is free. */
  enter(client: Listening, deadlineMs: number): 'entered' | Promise<'entered' | 'too-late' | 'client-gone'>;
  /** Takes a slot if one is free; else false, and the lease is over. */
  enterAtOnce(): boolean;
  /** Takes a further slot of the upstream if one is free: for translations in several calls. It ends on its own. */
  enterAgain(): CallEnd | undefined;
  /** Gives up before anything was sent, and releases its slot. Idempotent. */
  withdraw(): void;
  /** A working answer, or an error that is the client's. `usedUpForMs`: its rate limit is used up for so long. */
  served(firstByteMs: number, usedUpForMs?: number): void;
  /** The connection failed; the request has not reached it. */
  notSent(why: string): void;
  /** `wire`: the connection failed, broke off or went silent; `answer`: an error status. */
  failed(why: string, kind: 'wire' | 'answer', answered?: AnsweredFailure): void;
  /** After `failed`: the request turned out to be at fault. */
  excused(): void;
  /** The upstream reports that it is not ready yet. */
  loading(why: string): void;
  /** Too many calls for this credential at this target. */
  limited(why: string, cooldownMs?: number): void;
  /** The upstream refuses the credential for every request. */
  rejected(why: string): void;
  /** No outcome: the client left, another call was faster, or an idle connection had just been closed. */
  dropped(): void;
  /** Another call was faster, after so long. */
  outrun(afterMs: number): void;
  /** The 95th percentile of recent times to the first byte; undefined while too few are known. */
  percentile95Ms(): number | undefined;
}

/** No target: each is in cooldown, has no free slot, has spent its retry budget, or was tried. */
export interface NoTarget {
  readonly kind: 'resting' | 'full' | 'spent' | 'tried';
  readonly retryAfterMs: number;
  /** Every target is in cooldown because of too many calls (429), and for no other reason. */
  readonly isLimited: boolean;
  /** Per target, for the log. */
  readonly why: readonly string[];
}

export interface Dispatcher {
  /** `matched`: what the model's pattern matched, inserted into upstream names; empty without a pattern. */
  choose(routePlan: RoutePlan, tried: Tried, matched: string): TargetLease | NoTarget;
  /** The calls that wait for the upstream's rate limits. */
  pacing(upstream: Upstream): Pacing;
  /** No target served it. Where two were unavailable for this request body and for no other, neither is at fault. */
  excuseUnavailable(routePlan: RoutePlan, tried: Tried, matched: string): void;
}

export function isLease(chosen: TargetLease | NoTarget): chosen is TargetLease {
  return 'candidate' in chosen;
}
