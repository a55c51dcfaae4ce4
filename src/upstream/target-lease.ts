/** Leases a target for one call: takes its slot at the upstream, and applies the call's outcome to the target's and credential's health. */

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
import type { Circuit } from './health/circuit.ts';
import type { KeyView, Option, TargetView } from './health/target-health.ts';
import { type AutoLimit, Baselines } from './slots/auto-limit.ts';
import { SloTracker } from './slots/bulk-governor.ts';
import type { SlotWaiter } from './slots/slots.ts';

/** A target or a credential has entered or left its cooldown. */
export interface CooldownChange {
  readonly upstream: string;
  /** The model; undefined for the cooldown of a whole credential. */
  readonly model: string | undefined;
  /** The credential; undefined for the cooldown of a whole target. */
  readonly credential: string | undefined;
  readonly inCooldown: boolean;
  /** Whether the target is called although it is in cooldown, as there is no alternative. */
  readonly alone: boolean;
  readonly why: string;
  readonly forMs: number;
}

export interface LeaseDeps {
  readonly clock: Clock;
  onChange(change: CooldownChange): void;
}

/** What a lease was requested for, and by which caller. */
export interface Terms {
  readonly routePlan: RoutePlan;
  readonly isPaid: boolean;
  readonly caller: Caller;
}

/** Longest pause that an upstream's request leads to: if it asks for an hour, it is called again after a minute. */
const longestCooldownMs = 60_000;

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
  /** Mark of the request body that a failure answered; `#failedWeight` is the number of failures that it counted as. */
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
    this.#ticket = view.health.circuit.begin(nowMs);
    this.#keyTicket = key.circuit.begin(nowMs);
    this.#limitTicket = key.limit.begin(nowMs);
  }

  // The slot of the lease at the upstream.

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
    else this.#deadline = setTimeout(() => this.timedOut(), Math.max(0, deadlineMs - performance.now()));
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
    this.#view.health.inFlight -= 1;
    this.#view.upstream.slots.leave(this.lane);
    if (broken === undefined || broken.ours !== undefined) return;
    if (!this.#worked) return;
    this.#view.health.recent.broke(this.#deps.clock.monotonicMs());
    this.#fail(0, broken.cause, 'wire');
  }

  // The end of the lease.

  served(firstByteMs: number, usedUpForMs?: number): void {
    this.#judge();
    this.#worked = true;
    const nowMs = this.#deps.clock.monotonicMs();
    this.#view.health.latency.record(firstByteMs, nowMs);
    const { auto } = this.#view.upstream.slots;
    if (auto !== undefined) this.#learn(auto, firstByteMs);
    const { interactiveMs } = this.#routePlan.model;
    if (interactiveMs !== undefined && this.lane === 'interactive') this.#keepPromise(interactiveMs, firstByteMs);
    this.#view.health.bodyFaults.clear();
    this.#view.health.recent.add(nowMs, false);
    this.#succeed(this.#view.health.circuit, this.#ticket, nowMs);
    this.#succeed(this.#key.circuit, this.#keyTicket, nowMs);
    const { limit } = this.#key;
    this.#succeed(limit, this.#limitTicket, nowMs);
    if (usedUpForMs === undefined) return;
    const cooldownMs = Math.min(usedUpForMs, longestCooldownMs);
    this.#watch(limit, nowMs, () => limit.coolDownFor(cooldownMs, nowMs, 'its rate limit is used up'));
  }

  #keepPromise(goalMs: number, firstByteMs: number): void {
    const { health, upstream } = this.#view;
    health.slo ??= new SloTracker();
    upstream.slots.reportSlo(health.slo, this.caller.queuedMs + firstByteMs, goalMs);
  }

  #learn(auto: AutoLimit, firstByteMs: number): void {
    const { health, upstream } = this.#view;
    health.baselines ??= new Baselines();
    upstream.slots.served(auto, health.baselines, this.work, firstByteMs);
  }

  notSent(why: string): void {
    this.#refund();
    this.failed(why, 'wire');
  }

  failed(why: string, kind: 'wire' | 'answer', answered?: AnsweredFailure): void {
    this.#judge();
    this.#view.health.recent.add(this.#deps.clock.monotonicMs(), true);
    if (answered === undefined) this.#fail(this.#ticket, why, kind);
    else this.#failAnswered(why, kind, answered);
    this.#release(this.#key.circuit, this.#keyTicket);
    this.#release(this.#key.limit, this.#limitTicket);
  }

  #failAnswered(why: string, kind: 'wire' | 'answer', { bodyMark, isUnavailable, cooldownMs }: AnsweredFailure): void {
    const { bodyFaults, circuit } = this.#view.health;
    if (isUnavailable) this.#view.upstream.slots.refused();
    // A failed probe counts at once; other failures are weighed by the request bodies that caused them.
    const weight = this.#ticket > 0 ? 1 : bodyFaults.weigh(bodyMark, isUnavailable && !this.#routePlan.alone);
    this.#failedBody = bodyMark;
    this.#failedWeight = weight;
    const isOneBody = this.#ticket > 0 ? circuit.oneBody === bodyMark : bodyFaults.isOnly(bodyMark);
    this.#fail(this.#ticket, why, kind, cooldownMs, weight, isOneBody ? bodyMark : undefined);
  }

  excused(): void {
    if (this.#failedBody === undefined) return;
    const { bodyFaults, circuit, recent } = this.#view.health;
    recent.forgive(this.#deps.clock.monotonicMs());
    bodyFaults.excuse(this.#failedBody, this.#failedWeight);
    circuit.forgive(this.#ticket, this.#failedWeight);
    this.#failedBody = undefined;
  }

  loading(why: string): void {
    this.#judge();
    const nowMs = this.#deps.clock.monotonicMs();
    const { circuit, recent } = this.#view.health;
    recent.add(nowMs, true);
    this.#release(circuit, this.#ticket);
    this.#watch(circuit, nowMs, () => circuit.openNow(nowMs, why, 'loading'));
    this.#release(this.#key.circuit, this.#keyTicket);
    this.#release(this.#key.limit, this.#limitTicket);
  }

  limited(why: string, cooldownMs?: number): void {
    this.#judge();
    const nowMs = this.#deps.clock.monotonicMs();
    const { limit } = this.#key;
    this.#view.upstream.slots.refused();
    this.#view.health.recent.add(nowMs, true);
    this.#watch(limit, nowMs, () => {
      if (cooldownMs === undefined || cooldownMs <= 0) limit.openNow(nowMs, why, 'answer');
      else limit.coolDownFor(Math.min(cooldownMs, longestCooldownMs), nowMs, why);
    });
    this.#release(limit, this.#limitTicket);
    // A target that refuses a call as too many is reachable and working.
    this.#succeed(this.#view.health.circuit, this.#ticket, nowMs);
    this.#release(this.#key.circuit, this.#keyTicket);
  }

  rejected(why: string): void {
    this.#judge();
    const nowMs = this.#deps.clock.monotonicMs();
    const { circuit, limit } = this.#key;
    this.#view.health.recent.add(nowMs, true);
    this.#watch(circuit, nowMs, () => circuit.openNow(nowMs, why, 'answer'));
    this.#release(circuit, this.#keyTicket);
    this.#release(this.#view.health.circuit, this.#ticket);
    this.#release(limit, this.#limitTicket);
  }

  dropped(): void {
    if (this.#judged) return;
    this.#judge();
    this.#release(this.#view.health.circuit, this.#ticket);
    this.#release(this.#key.circuit, this.#keyTicket);
    this.#release(this.#key.limit, this.#limitTicket);
  }

  outrun(afterMs: number): void {
    this.#view.health.latency.record(afterMs, this.#deps.clock.monotonicMs());
    this.dropped();
  }

  percentile95Ms(): number | undefined {
    return this.#view.health.latency.percentile95Ms();
  }

  #judge(): void {
    if (this.#judged) throw new TypeError('the end of a lease is reported once');
    this.#judged = true;
  }

  #take(): void {
    this.#hasSlot = true;
    this.#view.health.inFlight += 1;
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

  #fail(ticket: number, why: string, kind: 'wire' | 'answer', cooldownMs?: number, weight = 1, oneBody?: string): void {
    const nowMs = this.#deps.clock.monotonicMs();
    const { circuit } = this.#view.health;
    this.#watch(circuit, nowMs, () => {
      for (let counted = 0; counted < weight; counted += 1) circuit.failed(ticket, nowMs, why, kind, oneBody);
      if (cooldownMs !== undefined) circuit.coolDownFor(Math.min(cooldownMs, longestCooldownMs), nowMs, why);
    });
  }

  #release(circuit: Circuit, ticket: number): void {
    if (ticket > 0) circuit.abandoned(ticket);
  }

  #succeed(circuit: Circuit, ticket: number, nowMs: number): void {
    if (circuit.state(nowMs) === 'closed') circuit.succeeded(ticket, nowMs);
    else this.#watch(circuit, nowMs, () => circuit.succeeded(ticket, nowMs));
  }

  /** Makes a change, and reports a cooldown that begins or ends by it. */
  #watch(circuit: Circuit, nowMs: number, change: () => void): void {
    const restedUntilMs = circuit.state(nowMs) === 'closed' ? 0 : circuit.cooldownUntilMs;
    change();
    const cooldownUntilMs = circuit.state(nowMs) === 'closed' ? 0 : circuit.cooldownUntilMs;
    if (restedUntilMs === cooldownUntilMs) return;
    this.#deps.onChange({
      upstream: this.#view.target.upstream.id,
      model: circuit === this.#key.circuit ? undefined : this.#view.health.name,
      credential: circuit === this.#view.health.circuit ? undefined : this.credential.id,
      inCooldown: cooldownUntilMs > 0,
      alone: this.#routePlan.alone && circuit.bindingUntilMs <= nowMs,
      why: circuit.why,
      forMs: Math.max(0, cooldownUntilMs - nowMs),
    });
  }
}

/** A further slot for the same request. Only the lease reports the outcome of the calls. */
class FurtherSlot implements CallEnd {
  readonly #view: TargetView;
  readonly #lane: Lane;
  #isOver = false;

  constructor(view: TargetView, lane: Lane) {
    this.#view = view;
    this.#lane = lane;
    view.health.inFlight += 1;
  }

  over(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#view.health.inFlight -= 1;
    this.#view.upstream.slots.leave(this.#lane);
  }
}
