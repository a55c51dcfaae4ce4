/** Lease of a target for one call: its slot at the upstream, and what its outcome says about target and credential. */

import { performance } from 'node:perf_hooks';
import {
  type AnsweredFailure,
  type Caller,
  CallerCall,
  type Candidate,
  type RoutePlan,
  type TargetLease,
} from '../core/dispatch.ts';
import type { Lane } from '../core/lane.ts';
import type { CallEnd, ClientWork, Failure, Listening } from '../core/outcome.ts';
import type { Credential } from '../core/snapshot.ts';
import type { Clock } from '../lib/clock.ts';
import { type AutoLimit, Baselines } from './slots/auto-limit.ts';
import { Promised } from './slots/bulk-governor.ts';
import type { SlotWaiter } from './slots/slots.ts';
import type { Circuit } from './standing/circuit.ts';
import type { KeyView, Option, TargetView } from './standing/standing.ts';

/** A target, or a credential, that begins to rest or is back. */
export interface RestChange {
  readonly upstream: string;
  /** Absent where the whole credential is meant. */
  readonly model: string | undefined;
  /** Absent where the whole target is meant. */
  readonly credential: string | undefined;
  readonly rests: boolean;
  /** It would rest, and is called all the same, as it has no alternative. */
  readonly alone: boolean;
  readonly why: string;
  readonly forMs: number;
}

export interface LeaseDeps {
  readonly clock: Clock;
  onChange(change: RestChange): void;
}

/** What a lease costs, and what it is the only one for. */
export interface Terms {
  readonly routePlan: RoutePlan;
  /** It was paid for with the retry budget. */
  readonly isPaid: boolean;
  readonly caller: Caller;
}

/** Longer pauses than this are not believed: who asks for an hour is asked again after a minute. */
const longestRestMs = 60_000;

type Entry = 'entered' | 'too-late' | 'client-gone';

export class HeldTarget extends CallerCall implements TargetLease, SlotWaiter, ClientWork {
  readonly candidate: Candidate;
  readonly credential: Credential;
  readonly #view: TargetView;
  readonly #key: KeyView;
  readonly #routePlan: RoutePlan;
  readonly #isPaid: boolean;
  readonly #deps: LeaseDeps;
  readonly #ticket: number;
  readonly #keyTicket: number;
  readonly #limitTicket: number;
  #judged = false;
  /** Of a whole request that was answered with a failure, and for how many failures that counted. */
  #failedBody: string | undefined = undefined;
  #failedWeight = 0;
  #worked = false;
  #hasSlot = false;
  #client: Listening | undefined = undefined;
  #deadline: NodeJS.Timeout | undefined = undefined;
  #resolve: ((entry: Entry) => void) | undefined = undefined;

  constructor({ candidate, view, key }: Option, { routePlan, isPaid, caller }: Terms, deps: LeaseDeps, nowMs: number) {
    super(caller);
    this.candidate = candidate;
    this.credential = key.credential;
    this.#view = view;
    this.#key = key;
    this.#routePlan = routePlan;
    this.#isPaid = isPaid;
    this.#deps = deps;
    this.#ticket = view.standing.circuit.begin(nowMs);
    this.#keyTicket = key.circuit.begin(nowMs);
    this.#limitTicket = key.limit.begin(nowMs);
  }

  // Its slot.

  enter(client: Listening, deadlineMs: number): 'entered' | Promise<Entry> {
    if (client.gone) {
      this.withdraw();
      return Promise.resolve('client-gone');
    }
    if (this.#view.upstream.slots.tryEnter(this.lane)) {
      this.#take();
      return 'entered';
    }
    return new Promise((resolve) => this.#wait(client, deadlineMs, resolve));
  }

  #wait(client: Listening, deadlineMs: number, resolve: (entry: Entry) => void): void {
    this.#resolve = resolve;
    this.#client = client;
    client.work = this;
    const entry = this.#view.upstream.slots.enter(this);
    if (entry === 'entered') this.entered();
    else if (entry === 'full') this.timedOut();
    else this.#deadline = setTimeout(runOut, Math.max(0, deadlineMs - performance.now()), this);
  }

  enterAtOnce(): boolean {
    if (this.#view.upstream.slots.tryEnter(this.lane)) {
      this.#take();
      return true;
    }
    this.withdraw();
    return false;
  }

  enterAgain(): CallEnd | undefined {
    return this.#view.upstream.slots.tryEnter(this.lane) ? new FurtherSlot(this.#view, this.lane) : undefined;
  }

  entered(): void {
    this.#take();
    this.#endWait('entered');
  }

  timedOut(): void {
    this.withdraw();
    this.#endWait('too-late');
  }

  clientLeft(): void {
    this.withdraw();
    this.#endWait('client-gone');
  }

  withdraw(): void {
    this.#view.upstream.slots.withdraw(this);
    if (!this.#judged) this.#refund();
    this.dropped();
    this.over(undefined);
  }

  over(broken: Failure | undefined): void {
    if (!this.#hasSlot) return;
    this.#hasSlot = false;
    this.#view.standing.inFlight -= 1;
    this.#view.upstream.slots.leave(this.lane);
    if (broken === undefined || broken.ours !== undefined) return;
    if (!this.#worked) return;
    this.#view.standing.recent.broke(this.#deps.clock.monotonicMs());
    this.#fail(0, broken.cause, 'wire');
  }

  // Its end.

  served(firstByteMs: number, usedUpForMs?: number): void {
    this.#judge();
    this.#worked = true;
    const nowMs = this.#deps.clock.monotonicMs();
    this.#view.standing.latency.record(firstByteMs, nowMs);
    const { auto } = this.#view.upstream.slots;
    if (auto !== undefined) this.#learn(auto, firstByteMs);
    const { interactiveMs } = this.#routePlan.model;
    if (interactiveMs !== undefined && this.lane === 'interactive') this.#keepPromise(interactiveMs, firstByteMs);
    this.#view.standing.suspicion.clear();
    this.#view.standing.recent.add(nowMs, false);
    this.#succeed(this.#view.standing.circuit, this.#ticket, nowMs, this.#view.standing.name, undefined);
    this.#succeed(this.#key.circuit, this.#keyTicket, nowMs, undefined, this.credential.id);
    const { limit } = this.#key;
    const { name } = this.#view.standing;
    this.#succeed(limit, this.#limitTicket, nowMs, name, this.credential.id);
    if (usedUpForMs === undefined) return;
    const restMs = Math.min(usedUpForMs, longestRestMs);
    this.#watch(limit, name, this.credential.id, nowMs, () =>
      limit.restFor(restMs, nowMs, 'its rate limit is used up'),
    );
  }

  #keepPromise(goalMs: number, firstByteMs: number): void {
    const { standing, upstream } = this.#view;
    standing.promised ??= new Promised();
    upstream.slots.promised(standing.promised, this.caller.queuedMs + firstByteMs, goalMs);
  }

  #learn(auto: AutoLimit, firstByteMs: number): void {
    const { standing, upstream } = this.#view;
    standing.baselines ??= new Baselines();
    upstream.slots.served(auto, standing.baselines, this.work, firstByteMs);
  }

  notSent(why: string): void {
    this.#refund();
    this.failed(why, 'wire');
  }

  failed(why: string, kind: 'wire' | 'answer', answered?: AnsweredFailure): void {
    this.#judge();
    this.#view.standing.recent.add(this.#deps.clock.monotonicMs(), true);
    if (answered === undefined) this.#fail(this.#ticket, why, kind);
    else this.#failAnswered(why, kind, answered);
    this.#release(this.#key.circuit, this.#keyTicket);
    this.#release(this.#key.limit, this.#limitTicket);
  }

  #failAnswered(why: string, kind: 'wire' | 'answer', { bodyMark, isUnavailable, restMs }: AnsweredFailure): void {
    const { suspicion, circuit } = this.#view.standing;
    if (isUnavailable) this.#view.upstream.slots.refused();
    // A probe is there to tell.
    const weight = this.#ticket > 0 ? 1 : suspicion.weigh(bodyMark, isUnavailable && !this.#routePlan.alone);
    this.#failedBody = bodyMark;
    this.#failedWeight = weight;
    const isOneBody = this.#ticket > 0 ? circuit.oneBody === bodyMark : suspicion.isOnly(bodyMark);
    this.#fail(this.#ticket, why, kind, restMs, weight, isOneBody ? bodyMark : undefined);
  }

  excused(): void {
    if (this.#failedBody === undefined) return;
    const { suspicion, circuit, recent } = this.#view.standing;
    recent.forgive(this.#deps.clock.monotonicMs());
    suspicion.excuse(this.#failedBody, this.#failedWeight);
    circuit.forgive(this.#ticket, this.#failedWeight);
    this.#failedBody = undefined;
  }

  loading(why: string): void {
    this.#judge();
    const nowMs = this.#deps.clock.monotonicMs();
    const { circuit, name, recent } = this.#view.standing;
    recent.add(nowMs, true);
    this.#release(circuit, this.#ticket);
    this.#watch(circuit, name, undefined, nowMs, () => circuit.openNow(nowMs, why, 'loading'));
    this.#release(this.#key.circuit, this.#keyTicket);
    this.#release(this.#key.limit, this.#limitTicket);
  }

  limited(why: string, restMs?: number): void {
    this.#judge();
    const nowMs = this.#deps.clock.monotonicMs();
    const { limit } = this.#key;
    this.#view.upstream.slots.refused();
    this.#view.standing.recent.add(nowMs, true);
    this.#watch(limit, this.#view.standing.name, this.credential.id, nowMs, () => {
      if (restMs === undefined || restMs <= 0) limit.openNow(nowMs, why, 'answer');
      else limit.restFor(Math.min(restMs, longestRestMs), nowMs, why);
    });
    this.#release(limit, this.#limitTicket);
    // It is there, and says so.
    this.#succeed(this.#view.standing.circuit, this.#ticket, nowMs, this.#view.standing.name, undefined);
    this.#release(this.#key.circuit, this.#keyTicket);
  }

  rejected(why: string): void {
    this.#judge();
    const nowMs = this.#deps.clock.monotonicMs();
    const { circuit, limit } = this.#key;
    this.#view.standing.recent.add(nowMs, true);
    this.#watch(circuit, undefined, this.credential.id, nowMs, () => circuit.openNow(nowMs, why, 'answer'));
    this.#release(circuit, this.#keyTicket);
    this.#release(this.#view.standing.circuit, this.#ticket);
    this.#release(limit, this.#limitTicket);
  }

  dropped(): void {
    if (this.#judged) return;
    this.#judge();
    this.#release(this.#view.standing.circuit, this.#ticket);
    this.#release(this.#key.circuit, this.#keyTicket);
    this.#release(this.#key.limit, this.#limitTicket);
  }

  outrun(afterMs: number): void {
    this.#view.standing.latency.record(afterMs, this.#deps.clock.monotonicMs());
    this.dropped();
  }

  percentile95Ms(): number | undefined {
    return this.#view.standing.latency.percentile95Ms();
  }

  #judge(): void {
    if (this.#judged) throw new TypeError('the end of a lease is reported once');
    this.#judged = true;
  }

  #take(): void {
    this.#hasSlot = true;
    this.#view.standing.inFlight += 1;
  }

  #refund(): void {
    if (this.#isPaid) this.#view.upstream.budget.refund();
  }

  #endWait(entry: Entry): void {
    clearTimeout(this.#deadline);
    if (this.#client?.work === this) this.#client.work = undefined;
    this.#resolve?.(entry);
    this.#resolve = undefined;
  }

  #fail(ticket: number, why: string, kind: 'wire' | 'answer', restMs?: number, weight = 1, oneBody?: string): void {
    const nowMs = this.#deps.clock.monotonicMs();
    const { circuit } = this.#view.standing;
    this.#watch(circuit, this.#view.standing.name, undefined, nowMs, () => {
      for (let counted = 0; counted < weight; counted += 1) circuit.failed(ticket, nowMs, why, kind, oneBody);
      if (restMs !== undefined) circuit.restFor(Math.min(restMs, longestRestMs), nowMs, why);
    });
  }

  #release(circuit: Circuit, ticket: number): void {
    if (ticket > 0) circuit.abandoned(ticket);
  }

  /** Says so where it was resting. */
  #succeed(
    circuit: Circuit,
    ticket: number,
    nowMs: number,
    model: string | undefined,
    credential: string | undefined,
  ): void {
    if (circuit.state(nowMs) === 'closed') circuit.succeeded(ticket, nowMs);
    else this.#watch(circuit, model, credential, nowMs, () => circuit.succeeded(ticket, nowMs));
  }

  /** Tells of a rest that began with this, or ended with it. */
  #watch(
    circuit: Circuit,
    model: string | undefined,
    credential: string | undefined,
    nowMs: number,
    change: () => void,
  ): void {
    const restedUntilMs = circuit.state(nowMs) === 'closed' ? 0 : circuit.restsUntilMs;
    change();
    const restsUntilMs = circuit.state(nowMs) === 'closed' ? 0 : circuit.restsUntilMs;
    if (restedUntilMs === restsUntilMs) return;
    this.#deps.onChange({
      upstream: this.#view.target.upstream.id,
      model,
      credential,
      rests: restsUntilMs > 0,
      alone: this.#routePlan.alone && circuit.bindingUntilMs <= nowMs,
      why: circuit.why,
      forMs: Math.max(0, restsUntilMs - nowMs),
    });
  }
}

/** A slot beside that of the lease, which alone says what came of the calls. */
class FurtherSlot implements CallEnd {
  readonly #view: TargetView;
  readonly #lane: Lane;
  #isOver = false;

  constructor(view: TargetView, lane: Lane) {
    this.#view = view;
    this.#lane = lane;
    view.standing.inFlight += 1;
  }

  over(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#view.standing.inFlight -= 1;
    this.#view.upstream.slots.leave(this.#lane);
  }
}

function runOut(lease: HeldTarget): void {
  lease.timedOut();
}
