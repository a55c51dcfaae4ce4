/** Interface between pipeline and load balancing: choosing the next target, and reporting how its call went. */

import { Buffer } from 'node:buffer';
import { hash } from 'node:crypto';
import type { Exchange } from './exchange.ts';
import type { Offer } from './family.ts';
import type { Lane } from './lane.ts';
import type { CallEnd, Listening } from './outcome.ts';
import type { Credential, Model, Target, Upstream } from './snapshot.ts';

/** A target, and how it serves the route that was asked. */
export interface Candidate {
  readonly target: Target;
  readonly offer: Offer;
  /** The offer takes the model in the body, where the route has it in the path. */
  readonly lifted: boolean;
  /** Of its calls, where it does not depend on the model's name. */
  readonly path?: string;
}

/** Everyone who may serve a route of a model. */
export interface RoutePlan {
  readonly model: Model;
  /** By priority, the best first; none of them empty. */
  readonly tiers: readonly (readonly Candidate[])[];
  /** The longest patience with any of them: one deadline for all attempts. */
  readonly totalMs: number;
  /** One target with one credential: it is called however it fails, save where it asked for a pause. */
  readonly alone: boolean;
  /** Whether a call may be sent again after a byte of it left. */
  readonly replayable: boolean;
  /** Nothing about the model, its targets or the route asks for more than bytes that pass. */
  readonly isPlain?: boolean;
  /** Of its answers nothing is of interest but what they count. */
  readonly isCountAll?: boolean;
}

/** By what calls that wait for the same upstream are put in order. */
export interface WaitingCall {
  readonly lane: Lane;
  readonly project: string;
  readonly key: string;
  /** Estimated, in tokens or items; 1 at least. */
  readonly work: number;
}

/** A call that waits for a rate limit of an upstream. */
export interface PacedCall extends WaitingCall {
  /** It may try again now; whoever is told so says `wait` or `done` soon. */
  resume(): void;
}

/** Calls that a rate limit of one upstream keeps waiting. */
export interface Pacing {
  /** In how long the next call may try, where others wait that go before a new call of the lane; else undefined. */
  behindMs(lane: Lane): number | undefined;
  /** For so long at least; a call that tried and was refused again stays the first. */
  wait(call: PacedCall, inMs: number): void;
  /** It passed, or waits no longer. */
  done(call: PacedCall): void;
}

/** Whose call it is. */
export type Caller = Pick<Exchange, 'lane' | 'key' | 'estimate' | 'queuedMs'>;

/** What is done for a caller, and may have to wait. It keeps no body. */
export class CallerCall implements WaitingCall {
  /** As it was at first: a slot is given back to the lane that it was taken in. */
  readonly lane: Lane;
  readonly caller: Caller;

  constructor(caller: Caller) {
    this.lane = caller.lane;
    this.caller = caller;
  }

  /** A key without a project is one of its own. */
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

/** A longer body is told apart by its two ends: on a body of megabytes nobody waits for more. */
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
  /** A call is under way there, and the next one is to be somewhere else. */
  busy: Target | undefined = undefined;
  /** The next call may go to this target alone, which was tried before. */
  only: Target | undefined = undefined;
  /** The first was chosen though it rests, as all do: so may be the others. */
  resorted = false;
  /** A call has left: the next one that does is a repetition, and has its price. */
  sent = 0;
  /** Someone was chosen for it, and allowed repetitions on its account. */
  counted = false;

  constructor(body: Buffer, caller: Caller) {
    super(caller);
    this.#body = body;
  }

  /** A fingerprint of the request body, by which the bodies that a target failed on are told apart without keeping them. */
  get bodyMark(): string {
    this.#bodyMark ??= markOf(this.#body);
    return this.#bodyMark;
  }

  /** It is unreachable, or has no free slot. */
  upstream(id: string): void {
    this.#upstreams ??= [];
    this.#upstreams.push(id);
  }

  /** After a pause: those that were passed over for want of slots, or that asked for the pause, may be asked again. */
  paused(): void {
    this.#upstreams = undefined;
    this.#leases = undefined;
  }

  target(target: Target): void {
    this.#targets ??= [];
    this.#targets.push(target);
  }

  /** It is refused there, whatever it asks for. */
  credential(credential: Credential): void {
    this.#credentials ??= [];
    this.#credentials.push(credential);
  }

  /** This credential at this target. */
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

/** An error that answers a whole request: whether the target or the request is to blame is not known yet. */
export interface AnsweredFailure {
  readonly bodyMark: string;
  /** It is 503 or 529, by which a service says that it is unavailable. */
  readonly isUnavailable: boolean;
  /** The pause that it asked for. */
  readonly cooldownMs: number | undefined;
}

/** A target and a credential that were chosen for a call. One of the verdicts is told, once; then, as `CallEnd`, that it is over. */
export interface TargetLease extends CallEnd {
  readonly candidate: Candidate;
  readonly credential: Credential;
  /** Takes a slot of the upstream, and waits for one where none is free. */
  enter(client: Listening, deadlineMs: number): 'entered' | Promise<'entered' | 'too-late' | 'client-gone'>;
  /** Takes a slot where one is free; else gives up. */
  enterAtOnce(): boolean;
  /** One more slot of the upstream, where one is free at once: for translations in several calls. Over by itself. */
  enterAgain(): CallEnd | undefined;
  /** Gives up before anything was sent, with its slot if it has one. It may have given up already. */
  withdraw(): void;
  /** It answered as one that works; what it said may be the client's fault. `usedUpForMs`: its rate limit has nothing left. */
  served(firstByteMs: number, usedUpForMs?: number): void;
  /** Nobody was there; it costs nothing. */
  notSent(why: string): void;
  /** `wire`: nobody was there, or it broke off or fell silent; `answer`: it said itself that it cannot. */
  failed(why: string, kind: 'wire' | 'answer', answered?: AnsweredFailure): void;
  /** After `failed`: the request turned out to be to blame. */
  excused(): void;
  /** It is not ready yet, and says so. */
  loading(why: string): void;
  /** Too many calls for this credential at this target. */
  limited(why: string, cooldownMs?: number): void;
  /** The credential is not good, whatever it asks for. */
  rejected(why: string): void;
  /** Nothing was learned: the client left, another was faster, or an idle connection had just been closed. */
  dropped(): void;
  /** Another call was faster, after so long. */
  outrun(afterMs: number): void;
  /** What nineteen of twenty first bytes took lately; undefined while too few are known. */
  percentile95Ms(): number | undefined;
}

/** No target: each is in cooldown, has no free slot, has spent its retry budget, or was tried. */
export interface NoTarget {
  readonly kind: 'resting' | 'full' | 'spent' | 'tried';
  readonly retryAfterMs: number;
  /** Each is in cooldown because of too many calls (429), and for no other reason. */
  readonly isLimited: boolean;
  /** Per target, for the log. */
  readonly why: readonly string[];
}

export interface Dispatcher {
  /** `matched`: what the model's pattern matched, by which an upstream's name for it is made; empty without one. */
  choose(routePlan: RoutePlan, tried: Tried, matched: string): TargetLease | NoTarget;
  /** Where calls wait for the upstream's rate limits. */
  pacing(upstream: Upstream): Pacing;
  /** Nobody served it. Where two targets were unavailable for this request body and for no other, neither is to blame. */
  excuseUnavailable(routePlan: RoutePlan, tried: Tried, matched: string): void;
}

export function isLease(chosen: TargetLease | NoTarget): chosen is TargetLease {
  return 'candidate' in chosen;
}
