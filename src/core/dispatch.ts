/** Interface between request handling and load balancing: chooses the next target for a call, and reports how the call went. */

import { Buffer } from 'node:buffer';
import { hash } from 'node:crypto';
import type { Exchange } from './exchange.ts';
import type { Offer } from './family.ts';
import type { Lane } from './lane.ts';
import type { CallEnd, Listening } from './outcome.ts';
import type { Credential, Model, Target, Upstream } from './snapshot.ts';

export interface Candidate {
  readonly target: Target;
  readonly offer: Offer;
  /** The client names the model in the path, but the upstream takes it in the body. */
  readonly lifted: boolean;
  /** The path at the upstream, where it is the same for every model name. */
  readonly path?: string;
}

/** The compiled list of targets that may serve one route of a model. */
export interface RoutePlan {
  readonly model: Model;
  /** Targets grouped by priority, the best first; no group is empty. */
  readonly tiers: readonly (readonly Candidate[])[];
  /** The longest total timeout among the targets: one deadline for all attempts. */
  readonly totalMs: number;
  /** There is a single target with one credential: it is called even in cooldown, unless it asked for a pause. */
  readonly alone: boolean;
  /** Whether a call may be sent again after its first byte was sent. */
  readonly replayable: boolean;
  /** Bytes pass unchanged: no setting of the model, its targets or the route needs more. */
  readonly isPlain?: boolean;
  /** Answers are read for their usage only. */
  readonly isCountAll?: boolean;
}

/** A call that waits for an upstream; these facts decide the order among waiting calls. */
export interface WaitingCall {
  readonly lane: Lane;
  readonly project: string;
  readonly key: string;
  /** Estimated size of the call, in tokens or items; at least 1. */
  readonly work: number;
}

/** A call that waits for a rate limit of an upstream. */
export interface PacedCall extends WaitingCall {
  /** Tells the call to try again now; it then calls `wait` or `done` soon. */
  resume(): void;
}

export interface Pacing {
  /** How long a new call of the lane would wait behind other calls; undefined if there are none. */
  behindMs(lane: Lane): number | undefined;
  /** Makes the call wait for at least `inMs`; a call that is refused again keeps the first position. */
  wait(call: PacedCall, inMs: number): void;
  /** Ends the waiting of a call, because it was sent or gave up. */
  done(call: PacedCall): void;
}

export type Caller = Pick<Exchange, 'lane' | 'key' | 'estimate' | 'queuedMs'>;

/** The position of an exchange among waiting calls. It keeps no reference to the request body. */
export class CallerCall implements WaitingCall {
  /** The lane at the beginning: a slot is given back to the lane that it was taken in. */
  readonly lane: Lane;
  readonly caller: Caller;

  constructor(caller: Caller) {
    this.lane = caller.lane;
    this.caller = caller;
  }

  /** The project whose calls take turns with others; a key without a project counts as one of its own. */
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

/** Longest end of a body that is fingerprinted: of longer bodies only both ends are, as hashing megabytes would delay the call. */
const markedEndBytes = 64 * 1024;

/** Records which targets, upstreams and credentials one exchange has tried and will not try again. */
export class Tried extends CallerCall {
  readonly #body: Buffer;
  #bodyMark: string | undefined = undefined;
  // Most exchanges try one target and never fill these.
  #upstreams: string[] | undefined = undefined;
  #targets: Target[] | undefined = undefined;
  #credentials: Credential[] | undefined = undefined;
  #leases: TargetLease[] | undefined = undefined;
  /** A target with a call in flight: the next call goes to another one. */
  busy: Target | undefined = undefined;
  /** The only target that the next call may go to, because the call is to be repeated there. */
  only: Target | undefined = undefined;
  /** All targets were in cooldown and one was called all the same; other targets in cooldown may then be called too. */
  resorted = false;
  /** Calls sent: from the second on, each counts against the retry budget. */
  sent = 0;
  /** The first target was chosen, and the retry budget has counted the exchange. */
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

  /** Excludes an upstream that is unreachable, or has no free slot. */
  upstream(id: string): void {
    this.#upstreams ??= [];
    this.#upstreams.push(id);
  }

  /** After a pause, permits again the upstreams that had no free slot or asked for the pause. */
  paused(): void {
    this.#upstreams = undefined;
    this.#leases = undefined;
  }

  target(target: Target): void {
    this.#targets ??= [];
    this.#targets.push(target);
  }

  /** Excludes a credential that the upstream refuses for every request. */
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
  /** The pause before a retry that the answer asked for. */
  readonly cooldownMs: number | undefined;
}

/** A target and a credential that were chosen for a call. Exactly one outcome is reported; then, as `CallEnd`, the end of the call. */
export interface TargetLease extends CallEnd {
  readonly candidate: Candidate;
  readonly credential: Credential;
  enter(client: Listening, deadlineMs: number): 'entered' | Promise<'entered' | 'too-late' | 'client-gone'>;
  /** Takes a slot if one is free; else false, and the lease is over. */
  enterAtOnce(): boolean;
  /** Takes a further slot if one is free, for a translation that needs several calls. The caller ends that slot by itself. */
  enterAgain(): CallEnd | undefined;
  /** Gives the target up before anything was sent, and releases its slot. Idempotent. */
  withdraw(): void;
  /** Reports a good answer, or an error that is the client's fault. `usedUpForMs`: how long the target's rate limit is used up. */
  served(firstByteMs: number, usedUpForMs?: number): void;
  /** Reports that the connection failed before the request reached the upstream. */
  notSent(why: string): void;
  /** Reports a failure. `wire`: the connection failed, broke off or went silent; `answer`: an error status. */
  failed(why: string, kind: 'wire' | 'answer', answered?: AnsweredFailure): void;
  /** Takes a reported failure back: the request turned out to be at fault, not the target. */
  excused(): void;
  loading(why: string): void;
  /** Reports too many calls for this credential at this target. */
  limited(why: string, cooldownMs?: number): void;
  /** Reports that the upstream refuses the credential for every request. */
  rejected(why: string): void;
  /** Reports no outcome: the client left, another call was faster, or an idle connection had just been closed. */
  dropped(): void;
  outrun(afterMs: number): void;
  /** The 95th percentile of recent times to the first byte; undefined while too few are known. */
  percentile95Ms(): number | undefined;
}

/** Why no target can be called: each is in cooldown, has no free slot, has spent its retry budget, or was tried. */
export interface NoTarget {
  readonly kind: 'resting' | 'full' | 'spent' | 'tried';
  readonly retryAfterMs: number;
  /** Every target is in cooldown because of too many calls (429), and for no other reason. */
  readonly isLimited: boolean;
  /** One reason per target, for the log. */
  readonly why: readonly string[];
}

export interface Dispatcher {
  /** Chooses a target. `matched`: the text that the model's pattern matched, for upstream names; empty without a pattern. */
  choose(routePlan: RoutePlan, tried: Tried, matched: string): TargetLease | NoTarget;
  pacing(upstream: Upstream): Pacing;
  /** Called where no target served the request. Where two were unavailable for this body and no other, neither is at fault. */
  excuseUnavailable(routePlan: RoutePlan, tried: Tried, matched: string): void;
}

export function isLease(chosen: TargetLease | NoTarget): chosen is TargetLease {
  return 'candidate' in chosen;
}
