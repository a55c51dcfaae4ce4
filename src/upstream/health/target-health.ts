/** Keeps the health of upstreams, targets and credentials; it survives reloads. */

import type { Candidate } from '../../core/dispatch.ts';
import type { Lane } from '../../core/lane.ts';
import { upstreamNameOf } from '../../core/model-name.ts';
import type { Credential, Snapshot, Target, Upstream } from '../../core/snapshot.ts';
import type { LaneState } from '../../core/target-state.ts';
import { getOrMake } from '../../lib/get-or-make.ts';
import type { Baselines } from '../slots/auto-limit.ts';
import type { SloTracker } from '../slots/bulk-governor.ts';
import { Pacer } from '../slots/pacer.ts';
import type { SharedSlots } from '../slots/shared-slots.ts';
import { Slots } from '../slots/slots.ts';
import { Circuit } from './circuit.ts';
import { Latency } from './latency.ts';
import { RecentCalls } from './recent-calls.ts';

/** This many answers 503 or 529 in a row prove that the service is unavailable, even if all had the same request body. */
const provingInARow = 3;

/** Finds out by the request bodies whether a target is failing, or one client's requests make it fail. */
export class BodyFaults {
  #firstFailedBody: string | undefined = undefined;
  /** Whether a second, different request body has failed too: then the target is at fault, not the body. */
  #isProven = false;
  /** How often the request body that failed first was answered with 503 or 529. */
  #unavailable = 0;

  /** How many failures to count now. They count, earlier ones too, once two bodies failed, or one got 503 or 529 (`isUnavailable`) three times. */
  weigh(body: string, isUnavailable: boolean): number {
    if (this.#isProven) return 1;
    if (this.#firstFailedBody === undefined || this.#firstFailedBody === body) {
      this.#firstFailedBody = body;
      if (!isUnavailable) return 0;
      this.#unavailable += 1;
      if (this.#unavailable === provingInARow) return provingInARow;
      return this.counted > 0 ? 1 : 0;
    }
    this.#isProven = true;
    return this.counted > 0 ? 1 : 2;
  }

  /** How many failures were counted while only one body has failed. */
  get counted(): number {
    return this.#unavailable < provingInARow ? 0 : this.#unavailable;
  }

  /** Whether only this body has failed, with 503 or 529. */
  isOnly(body: string): boolean {
    return !this.#isProven && this.#unavailable > 0 && this.#firstFailedBody === body;
  }

  clear(): void {
    this.#firstFailedBody = undefined;
    this.#isProven = false;
    this.#unavailable = 0;
  }

  /** Removes a failure that was the request's fault. `weight`: how many failures it counted as. */
  excuse(body: string, weight: number): void {
    if (weight === 2) this.#isProven = false;
    else if (!this.#isProven && this.#firstFailedBody === body) this.clear();
  }

  /** Forgets the 503 and 529 of the first body, whose fault they were. A second failing body still proves that the service fails. */
  excuseUnavailable(): void {
    this.#unavailable = 0;
  }
}

// In thousandths of a retry: whole numbers add up exactly.
const retryCost = 1_000;
const creditPerRequest = 200;
/** Allows 10 retries a second. */
const creditPerMs = 10;
const mostCredit = 50 * retryCost;
const creditAtStart = 20 * retryCost;

/** Limits an upstream's retries to a share of its requests, so that retries cannot overload it. */
export class RetryBudget {
  #stored = creditAtStart;
  #filledAtMs: number;

  constructor(nowMs: number) {
    this.#filledAtMs = nowMs;
  }

  /** Adds credit. To be called first for every client request. */
  deposit(): void {
    this.#store(creditPerRequest);
  }

  tryTake(nowMs: number): boolean {
    this.#store((nowMs - this.#filledAtMs) * creditPerMs);
    this.#filledAtMs = nowMs;
    if (this.#stored < retryCost) return false;
    this.#stored -= retryCost;
    return true;
  }

  /** Returns the payment of a call that was not sent. */
  refund(): void {
    this.#store(retryCost);
  }

  #store(amount: number): void {
    this.#stored = Math.min(mostCredit, this.#stored + amount);
  }
}

/** The health of a model at an upstream, by the upstream's name for it. */
export class TargetHealth {
  readonly name: string;
  readonly circuit: Circuit;
  readonly bodyFaults = new BodyFaults();
  readonly latency = new Latency();
  readonly recent = new RecentCalls();
  /** The usual duration of calls; set for a learned limit. */
  baselines: Baselines | undefined = undefined;
  /** The circuits of rate-limited credentials, by fingerprint. */
  readonly limits = new Map<string, Circuit>();
  /** How well interactive calls meet their latency target; set where they have one. */
  slo: SloTracker | undefined = undefined;
  inFlight = 0;
  /** The first model pattern by which a client called this name; undefined for names in the configuration, which are never dropped. */
  pattern: string | undefined;
  /** When the target was last used, on the monotonic clock. */
  usedAtMs = 0;
  /** Whether this object was dropped from the list, so that it must be looked up again. */
  isForgotten = false;

  constructor(name: string, pattern: string | undefined, random: () => number) {
    this.name = name;
    this.pattern = pattern;
    this.circuit = new Circuit(random);
  }

  isIdle(nowMs: number): boolean {
    if (this.inFlight > 0 || this.circuit.cooldownUntilMs > nowMs) return false;
    for (const { cooldownUntilMs } of this.limits.values()) if (cooldownUntilMs > nowMs) return false;
    return true;
  }
}

/** Limit of names per upstream; a further name of a pattern replaces the least useful one. */
const mostTargets = 1_000;
/** Longest name that has a health of its own: clients' names may be as long as a body. */
const longestName = 256;
/** Names of patterns that were not used for this time are dropped. */
const rememberedMs = 600_000;

export class UpstreamHealth {
  readonly slots: Slots;
  readonly pacer: Pacer;
  readonly budget: RetryBudget;
  readonly targets = new Map<string, TargetHealth>();
  /** The circuits of refused credentials, by fingerprint. */
  readonly credentials = new Map<string, Circuit>();
  failedChecks = 0;
  /** Whether an active check has found the upstream well. */
  isChecked = false;
  /** The complaint of the active health check; undefined while the upstream is well. */
  down: string | undefined = undefined;

  /** The server's address; for another address, the health starts anew. */
  #address: string;

  constructor(upstream: Upstream, nowMs: number, shared: SharedSlots | undefined) {
    const { id } = upstream;
    this.slots = new Slots(upstream.limits, undefined, shared && (() => shared.ask(id)));
    shared?.add(id, this.slots);
    this.pacer = new Pacer(() => this.slots.bulkShare);
    this.budget = new RetryBudget(nowMs);
    this.#address = addressOf(upstream);
  }

  lanes(): Readonly<Record<Lane, LaneState>> {
    const { slots, pacer } = this;
    const { inFlight, bulkInFlight: bulk } = slots;
    const waitingIn = (lane: Lane): number => slots.waitingIn(lane) + pacer.waitingIn(lane);
    return {
      interactive: {
        inFlight: inFlight - bulk,
        waiting: waitingIn('interactive'),
        keys: slots.longestIn('interactive'),
      },
      bulk: { inFlight: bulk, waiting: waitingIn('bulk'), keys: slots.longestIn('bulk') },
    };
  }

  adopt(upstream: Upstream, models: ReadonlySet<string>): void {
    this.slots.configure(upstream.limits);
    const isMoved = this.#address !== addressOf(upstream);
    if (isMoved) {
      this.#address = addressOf(upstream);
      this.targets.clear();
      this.credentials.clear();
    }
    // Without a check nothing would report that it is up again.
    if (isMoved || upstream.healthCheck === undefined) {
      this.failedChecks = 0;
      this.isChecked = false;
      this.down = undefined;
    }
    const fingerprints = new Set(upstream.credentials.map(({ fingerprint }) => fingerprint));
    keepOnly(this.credentials, fingerprints);
    for (const health of this.targets.values()) {
      if (models.has(health.name)) health.pattern = undefined;
      else if (health.pattern === undefined || !models.has(health.pattern)) this.#forget(health);
    }
    for (const { limits } of this.targets.values()) keepOnly(limits, fingerprints);
  }

  /** Drops unused names of patterns. */
  forgetIdle(nowMs: number): void {
    for (const health of this.targets.values()) {
      if (health.pattern === undefined || nowMs - health.usedAtMs < rememberedMs) continue;
      if (health.isIdle(nowMs)) this.#forget(health);
    }
  }

  /** Makes room for one more name of a pattern; false where all names are in use. */
  makeRoom(nowMs: number): boolean {
    if (this.targets.size < mostTargets) return true;
    let oldest: TargetHealth | undefined;
    for (const health of this.targets.values()) {
      if (health.pattern === undefined || health.inFlight > 0) continue;
      // A target in cooldown is kept as long as there is any other.
      if (oldest === undefined || isLessMissed(health, oldest, nowMs)) oldest = health;
    }
    if (oldest !== undefined) this.#forget(oldest);
    return oldest !== undefined;
  }

  #forget(health: TargetHealth): void {
    health.isForgotten = true;
    this.targets.delete(health.name);
  }
}

function isLessMissed(one: TargetHealth, than: TargetHealth, nowMs: number): boolean {
  const isIdle = one.isIdle(nowMs);
  return isIdle === than.isIdle(nowMs) ? one.usedAtMs < than.usedAtMs : isIdle;
}

function addressOf({ origin, pathPrefix }: Upstream): string {
  return `${origin}${pathPrefix}`;
}

function keepOnly(map: Map<string, unknown>, names: ReadonlySet<string>): void {
  for (const name of map.keys()) {
    if (!names.has(name)) map.delete(name);
  }
}

/** A credential at a target, with what is needed to choose one. */
export interface KeyView {
  readonly credential: Credential;
  readonly weight: number;
  readonly circuit: Circuit;
  readonly limit: Circuit;
}

/** A target of one snapshot, with what is needed to choose one. */
export interface TargetView {
  readonly target: Target;
  readonly upstream: UpstreamHealth;
  readonly health: TargetHealth;
  /** The credentials of the upstream that have a weight. */
  readonly keys: readonly KeyView[];
  /** For a target whose model name comes from a pattern: the view of each name, by the matched text. Calls use these views, not this one. */
  readonly names: Map<string, TargetView> | undefined;
}

/** A target with one of its credentials that an exchange may choose. */
export interface Option {
  readonly candidate: Candidate;
  readonly view: TargetView;
  readonly key: KeyView;
  /** The target's share of the calls, in relation to the other options. */
  readonly weight: number;
}

export class HealthIndex {
  readonly #random: () => number;
  readonly #sinceMs: number;
  readonly #shared: SharedSlots | undefined;
  readonly #upstreams = new Map<string, UpstreamHealth>();
  readonly #views = new WeakMap<Target, TargetView>();
  /** Targets of the configuration in force whose names come from patterns. */
  #patterns: TargetView[] = [];

  constructor(random: () => number, nowMs: number, shared?: SharedSlots) {
    this.#random = random;
    this.#sinceMs = nowMs;
    this.#shared = shared;
  }

  /** Adopts a configuration; returns the upstreams that counted as down before, and no longer do. */
  adopt({
    upstreams,
    models,
  }: Pick<Snapshot, 'upstreams' | 'models'>): { readonly id: string; readonly down: string }[] {
    // A target that has not changed is the same one as before, with the names that its pattern was called by.
    const targets = new Set(this.#patterns.length === 0 ? [] : models.all.flatMap((model) => model.targets));
    this.#patterns = this.#patterns.filter(({ target }) => targets.has(target));
    for (const id of this.#upstreams.keys()) if (!upstreams.has(id)) this.#shared?.remove(id);
    keepOnly(this.#upstreams, new Set(upstreams.keys()));
    return [...upstreams.values()].flatMap((upstream) => {
      const health = this.of(upstream);
      const { down } = health;
      health.adopt(upstream, models.namesByUpstream.get(upstream.id) ?? new Set());
      return down === undefined || health.down !== undefined ? [] : [{ id: upstream.id, down }];
    });
  }

  of(upstream: Upstream): UpstreamHealth {
    return getOrMake(this.#upstreams, upstream.id, () => new UpstreamHealth(upstream, this.#sinceMs, this.#shared));
  }

  view(target: Target): TargetView {
    let view = this.#views.get(target);
    if (view === undefined) {
      view = this.#look(target, target.model, target.model.includes('*'));
      this.#views.set(target, view);
      if (view.names !== undefined) this.#patterns.push(view);
    }
    return view;
  }

  /** The view of a target for the text that the model's pattern matched. Costs one or two look-ups. */
  viewOf(target: Target, matched: string, nowMs: number): TargetView {
    const view = this.#views.get(target) ?? this.view(target);
    if (view.names === undefined || matched.length > longestName) return view;
    let named = view.names.get(matched);
    if (named === undefined || named.health.isForgotten) {
      if (!view.upstream.makeRoom(nowMs)) return view;
      named = this.#look(target, upstreamNameOf(target.model, matched), false);
      view.names.set(matched, named);
    }
    named.health.usedAtMs = nowMs;
    return named;
  }

  forgetIdle(nowMs: number): void {
    for (const upstream of this.#upstreams.values()) upstream.forgetIdle(nowMs);
    for (const { names } of this.#patterns) {
      for (const [matched, { health }] of names ?? []) if (health.isForgotten) names?.delete(matched);
    }
  }

  #look(target: Target, name: string, isPattern: boolean): TargetView {
    const upstream = this.of(target.upstream);
    const pattern = name === target.model ? undefined : target.model;
    const health = getOrMake(upstream.targets, name, () => new TargetHealth(name, pattern, this.#random));
    if (pattern === undefined) health.pattern = undefined;
    const newCircuit = (): Circuit => new Circuit(this.#random);
    const keys = target.upstream.credentials
      .filter(({ weight }) => weight > 0)
      .map((credential) => ({
        credential,
        weight: credential.weight,
        circuit: getOrMake(upstream.credentials, credential.fingerprint, newCircuit),
        limit: getOrMake(health.limits, credential.fingerprint, newCircuit),
      }));
    return { target, upstream, health, keys, names: isPattern ? new Map() : undefined };
  }
}
