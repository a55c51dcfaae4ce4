/** What is remembered of upstreams, of their targets and of their credentials. It outlives configuration swaps. */

import type { Credential, Model, Snapshot, Target, Upstream } from '../core/snapshot.ts';
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
  readonly budget = new RetryBudget();
  readonly targets = new Map<string, TargetStanding>();
  /** Which credentials were refused, by fingerprint. */
  readonly credentials = new Map<string, Circuit>();
  failedChecks = 0;
  /** Why the active check says that it is down; undefined while it does not. */
  down: string | undefined = undefined;

  constructor(upstream: Upstream) {
    this.places = new Places(upstream.limits);
  }
}

/** A credential at a target, with what a choice looks at. */
export interface KeyView {
  readonly credential: Credential;
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

export class Standings {
  readonly #random: () => number;
  readonly #upstreams = new Map<string, UpstreamStanding>();
  readonly #views = new WeakMap<Target, TargetView>();

  constructor(random: () => number) {
    this.#random = random;
  }

  /** Takes over the limits of a configuration, and forgets what it does not name. */
  adopt({ upstreams, models }: Pick<Snapshot, 'upstreams' | 'models'>): void {
    for (const id of this.#upstreams.keys()) {
      if (!upstreams.has(id)) this.#upstreams.delete(id);
    }
    for (const upstream of upstreams.values()) this.of(upstream).places.configure(upstream.limits);
    this.#forgetTargets(models.all);
  }

  of(upstream: Upstream): UpstreamStanding {
    return found(this.#upstreams, upstream.id, () => new UpstreamStanding(upstream));
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
        circuit: found(upstream.credentials, credential.fingerprint, newCircuit),
        limit: found(standing.limits, credential.fingerprint, newCircuit),
      }));
    return { target, upstream, standing, keys };
  }

  #forgetTargets(models: readonly Model[]): void {
    const named = new Map<string, Set<string>>();
    for (const { upstream, model } of models.flatMap(({ targets }) => targets)) {
      found(named, upstream.id, () => new Set<string>()).add(model);
    }
    for (const [id, upstream] of this.#upstreams) {
      for (const model of upstream.targets.keys()) {
        if (named.get(id)?.has(model) !== true) upstream.targets.delete(model);
      }
    }
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
