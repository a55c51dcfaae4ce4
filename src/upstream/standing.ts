/** What is remembered of upstreams, of their targets and of their credentials. It outlives configuration swaps. */

import type { Candidate } from '../core/dispatch.ts';
import type { Credential, Snapshot, Target, Upstream } from '../core/snapshot.ts';
import { Circuit } from './circuit.ts';
import { Latency } from './latency.ts';
import { Places } from './places.ts';
import { RetryBudget } from './retry-budget.ts';

/** An upstream's name for a model. */
export class TargetStanding {
  readonly circuit: Circuit;
  readonly latency = new Latency();
  /** Which credentials have called too often here, by fingerprint. */
  readonly limits = new Map<string, Circuit>();
  inFlight = 0;

  constructor(random: () => number) {
    this.circuit = new Circuit(random);
  }
}

export class UpstreamStanding {
  readonly places: Places;
  readonly budget: RetryBudget;
  readonly targets = new Map<string, TargetStanding>();
  /** Which credentials were refused, by fingerprint. */
  readonly credentials = new Map<string, Circuit>();
  failedChecks = 0;
  /** Why the active check says that it is down; undefined while it does not. */
  down: string | undefined = undefined;

  /** What is known is known of whoever is there. */
  #address: string;

  constructor(upstream: Upstream, nowMs: number) {
    this.places = new Places(upstream.limits);
    this.budget = new RetryBudget(nowMs);
    this.#address = addressOf(upstream);
  }

  /** Takes over what a configuration says, and forgets what is not true of it any more. */
  adopt(upstream: Upstream, models: ReadonlySet<string>): void {
    this.places.configure(upstream.limits);
    const isMoved = this.#address !== addressOf(upstream);
    if (isMoved) {
      this.#address = addressOf(upstream);
      this.targets.clear();
      this.credentials.clear();
    }
    // Without a check nobody would say that it is up again.
    if (isMoved || upstream.healthCheck === undefined) {
      this.failedChecks = 0;
      this.down = undefined;
    }
    const fingerprints = new Set(upstream.credentials.map(({ fingerprint }) => fingerprint));
    keepOnly(this.credentials, fingerprints);
    keepOnly(this.targets, models);
    for (const { limits } of this.targets.values()) keepOnly(limits, fingerprints);
  }
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
  readonly upstream: UpstreamStanding;
  readonly standing: TargetStanding;
  /** Those that may be used at all. */
  readonly keys: readonly KeyView[];
}

/** A target with one of its credentials, as one exchange may choose it. */
export interface Option {
  readonly candidate: Candidate;
  readonly view: TargetView;
  readonly key: KeyView;
  /** Its share of the calls beside the other options. */
  readonly weight: number;
}

export class Standings {
  readonly #random: () => number;
  /** When all began. */
  readonly #nowMs: number;
  readonly #upstreams = new Map<string, UpstreamStanding>();
  readonly #views = new WeakMap<Target, TargetView>();

  constructor(random: () => number, nowMs: number) {
    this.#random = random;
    this.#nowMs = nowMs;
  }

  /** Says which upstreams counted as down, and do not any more. */
  adopt({
    upstreams,
    models,
  }: Pick<Snapshot, 'upstreams' | 'models'>): { readonly id: string; readonly down: string }[] {
    keepOnly(this.#upstreams, new Set(upstreams.keys()));
    const modelsOf = new Map<string, Set<string>>();
    for (const { upstream, model } of models.all.flatMap(({ targets }) => targets)) {
      found(modelsOf, upstream.id, () => new Set<string>()).add(model);
    }
    return [...upstreams.values()].flatMap((upstream) => {
      const standing = this.of(upstream);
      const { down } = standing;
      standing.adopt(upstream, modelsOf.get(upstream.id) ?? new Set());
      return down === undefined || standing.down !== undefined ? [] : [{ id: upstream.id, down }];
    });
  }

  of(upstream: Upstream): UpstreamStanding {
    return found(this.#upstreams, upstream.id, () => new UpstreamStanding(upstream, this.#nowMs));
  }

  view(target: Target): TargetView {
    let view = this.#views.get(target);
    if (view === undefined) {
      view = this.#look(target);
      this.#views.set(target, view);
    }
    return view;
  }

  #look(target: Target): TargetView {
    const upstream = this.of(target.upstream);
    const standing = found(upstream.targets, target.model, () => new TargetStanding(this.#random));
    const newCircuit = (): Circuit => new Circuit(this.#random);
    const keys = target.upstream.credentials
      .filter(({ weight }) => weight > 0)
      .map((credential) => ({
        credential,
        weight: credential.weight,
        circuit: found(upstream.credentials, credential.fingerprint, newCircuit),
        limit: found(standing.limits, credential.fingerprint, newCircuit),
      }));
    return { target, upstream, standing, keys };
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
