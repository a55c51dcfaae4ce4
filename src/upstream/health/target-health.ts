/** Health of upstreams, targets and credentials. It survives reloads. */

import type { Candidate } from '../../core/dispatch.ts';
import type { Lane } from '../../core/lane.ts';
import { upstreamNameOf } from '../../core/model-name.ts';
import type { Credential, Snapshot, Target, Upstream } from '../../core/snapshot.ts';
import type { LaneState } from '../../core/target-state.ts';
import type { Baselines } from '../slots/auto-limit.ts';
import type { Promised } from '../slots/bulk-governor.ts';
import { Pacer } from '../slots/pacer.ts';
import type { SharedSlots } from '../slots/shared-slots.ts';
import { Slots } from '../slots/slots.ts';
import { BodyFaults } from './body-faults.ts';
import { Circuit } from './circuit.ts';
import { Latency } from './latency.ts';
import { RecentCalls } from './recent-calls.ts';
import { RetryBudget } from './retry-budget.ts';

/** An upstream's name for a model, as it is called there. */
export class TargetHealth {
  readonly name: string;
  readonly circuit: Circuit;
  readonly bodyFaults = new BodyFaults();
  readonly latency = new Latency();
  readonly recent = new RecentCalls();
  /** Where the upstream's limit is learned: how long calls take here. */
  baselines: Baselines | undefined = undefined;
  /** Which credentials have called too often here, by fingerprint. */
  readonly limits = new Map<string, Circuit>();
  /** Where a latency is promised to interactive calls. */
  promised: Promised | undefined = undefined;
  inFlight = 0;
  /** The pattern that it was first called by; undefined where a configuration names it, so that it stays as long as that does. */
  pattern: string | undefined;
  /** On the monotonic clock. */
  usedAtMs = 0;
  /** Nobody asked for it any more: whoever still has it looks for it anew. */
  isForgotten = false;

  constructor(name: string, pattern: string | undefined, random: () => number) {
    this.name = name;
    this.pattern = pattern;
    this.circuit = new Circuit(random);
  }

  /** Nothing is under way, and nothing that is known of it matters any more. */
  isIdle(nowMs: number): boolean {
    if (this.inFlight > 0 || this.circuit.cooldownUntilMs > nowMs) return false;
    for (const { cooldownUntilMs } of this.limits.values()) if (cooldownUntilMs > nowMs) return false;
    return true;
  }
}

/** Names at one upstream; those beyond it, that only patterns match, push out the one that is missed least. */
const mostTargets = 1_000;
/** What clients write may be as long as a body. */
const longestName = 256;
/** A name of a pattern that nobody called for so long is known no more. */
const rememberedMs = 600_000;

export class UpstreamHealth {
  readonly slots: Slots;
  readonly pacer: Pacer;
  readonly budget: RetryBudget;
  readonly targets = new Map<string, TargetHealth>();
  /** Which credentials were refused, by fingerprint. */
  readonly credentials = new Map<string, Circuit>();
  failedChecks = 0;
  /** Whether an active check found it well. */
  isChecked = false;
  /** Why the active check says that it is down; undefined while it does not. */
  down: string | undefined = undefined;

  /** What is known is known of whoever is there. */
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

  /** Takes over what a configuration says, and forgets what is not true of it any more. */
  adopt(upstream: Upstream, models: ReadonlySet<string>): void {
    this.slots.configure(upstream.limits);
    const isMoved = this.#address !== addressOf(upstream);
    if (isMoved) {
      this.#address = addressOf(upstream);
      this.targets.clear();
      this.credentials.clear();
    }
    // Without a check nobody would say that it is up again.
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

  /** Those of patterns that nobody called for a while. */
  forgetIdle(nowMs: number): void {
    for (const health of this.targets.values()) {
      if (health.pattern === undefined || nowMs - health.usedAtMs < rememberedMs) continue;
      if (health.isIdle(nowMs)) this.#forget(health);
    }
  }

  /** For one more name of a pattern. False where all are in use. */
  makeRoom(nowMs: number): boolean {
    if (this.targets.size < mostTargets) return true;
    let oldest: TargetHealth | undefined;
    for (const health of this.targets.values()) {
      if (health.pattern === undefined || health.inFlight > 0) continue;
      // Who rests is kept as long as there is anybody else.
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

/** A credential at a target, with what a choice looks at. */
export interface KeyView {
  readonly credential: Credential;
  /** The credential's own share. */
  readonly weight: number;
  readonly circuit: Circuit;
  readonly limit: Circuit;
}

/** A target of one snapshot, with everything at hand that a choice looks at. */
export interface TargetView {
  readonly target: Target;
  readonly upstream: UpstreamHealth;
  readonly health: TargetHealth;
  /** Those that may be used at all. */
  readonly keys: readonly KeyView[];
  /** Where a pattern makes the upstream's name: what is known by each name, by what the pattern matched. This one is never called then. */
  readonly names: Map<string, TargetView> | undefined;
}

/** A target with one of its credentials, as one exchange may choose it. */
export interface Option {
  readonly candidate: Candidate;
  readonly view: TargetView;
  readonly key: KeyView;
  /** Its share of the calls beside the other options. */
  readonly weight: number;
}

export class HealthIndex {
  readonly #random: () => number;
  /** When all began. */
  readonly #nowMs: number;
  readonly #shared: SharedSlots | undefined;
  readonly #upstreams = new Map<string, UpstreamHealth>();
  readonly #views = new WeakMap<Target, TargetView>();
  /** Of the configuration in force, those with names of their own. */
  #patterns: TargetView[] = [];

  constructor(random: () => number, nowMs: number, shared?: SharedSlots) {
    this.#random = random;
    this.#nowMs = nowMs;
    this.#shared = shared;
  }

  /** Says which upstreams counted as down, and do not any more. */
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
    return found(this.#upstreams, upstream.id, () => new UpstreamHealth(upstream, this.#nowMs, this.#shared));
  }

  /** As configured. */
  view(target: Target): TargetView {
    let view = this.#views.get(target);
    if (view === undefined) {
      view = this.#look(target, target.model, target.model.includes('*'));
      this.#views.set(target, view);
      if (view.names !== undefined) this.#patterns.push(view);
    }
    return view;
  }

  /** As it is called where the model's pattern matched this. Costs a look-up, or two. */
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

  /** Names of patterns that nobody calls any more. */
  forgetIdle(nowMs: number): void {
    for (const upstream of this.#upstreams.values()) upstream.forgetIdle(nowMs);
    for (const { names } of this.#patterns) {
      for (const [matched, { health }] of names ?? []) if (health.isForgotten) names?.delete(matched);
    }
  }

  #look(target: Target, name: string, isPattern: boolean): TargetView {
    const upstream = this.of(target.upstream);
    const pattern = name === target.model ? undefined : target.model;
    const health = found(upstream.targets, name, () => new TargetHealth(name, pattern, this.#random));
    if (pattern === undefined) health.pattern = undefined;
    const newCircuit = (): Circuit => new Circuit(this.#random);
    const keys = target.upstream.credentials
      .filter(({ weight }) => weight > 0)
      .map((credential) => ({
        credential,
        weight: credential.weight,
        circuit: found(upstream.credentials, credential.fingerprint, newCircuit),
        limit: found(health.limits, credential.fingerprint, newCircuit),
      }));
    return { target, upstream, health, keys, names: isPattern ? new Map() : undefined };
  }
}

function found<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  let value = map.get(key);
  if (value === undefined) {
    value = make();
    map.set(key, value);
  }
  return value;
}
