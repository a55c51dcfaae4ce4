/** Keeps the endpoints of one upstream: the health and cooldown of each; chooses one for a call. */

import type { BlockList } from 'node:net';
import type { EndpointState } from '../../core/target-state.ts';
import { includesAddress } from '../../lib/addresses/address-range.ts';
import type { ClientPool } from '../../wire/client-pool.ts';
import { nameOf } from '../../wire/connect.ts';
import { Circuit } from '../health/circuit.ts';
import type { EndpointAddress } from './look-up.ts';

/** Failed active checks that make an endpoint count as down: a single one may fail by accident. */
const failedChecksToRest = 2;
/** Up to this many endpoints, the least busy one is searched: with few calls each, a choice of two random ones would be too uneven. */
const fewEndpoints = 16;

/** Endpoints were added or removed, or one has entered or left its cooldown. */
export type EndpointChange =
  | { readonly kind: 'found'; readonly count: number; readonly added: string[]; readonly gone: string[] }
  | { readonly kind: 'cooldown' | 'back'; readonly endpoint: string; readonly why: string; readonly forMs: number };

export interface EndpointSetDeps {
  readonly random: () => number;
  openPool(address: EndpointAddress): ClientPool;
  onChange(change: EndpointChange): void;
  onUnreachable(): void;
}

export class Endpoint {
  readonly name: string;
  readonly pool: ClientPool;
  readonly circuit: Circuit;
  readonly isNear: boolean;
  inFlight = 0;
  failedChecks = 0;
  /** The complaint of the active health check; undefined while the endpoint is well. */
  down: string | undefined = undefined;

  constructor(name: string, pool: ClientPool, random: () => number, isNear: boolean) {
    this.name = name;
    this.pool = pool;
    this.circuit = new Circuit(random);
    this.isNear = isNear;
  }

  isUsable(nowMs: number): boolean {
    return this.down === undefined && this.circuit.allows(nowMs);
  }
}

export class EndpointSet {
  readonly #deps: EndpointSetDeps;
  readonly #zone: BlockList | undefined;
  #all: readonly Endpoint[] = [];
  #near = 0;

  constructor(zone: BlockList | undefined, deps: EndpointSetDeps) {
    this.#zone = zone;
    this.#deps = deps;
  }

  get all(): readonly Endpoint[] {
    return this.#all;
  }

  /** Adopts a list of addresses. Endpoints that remain keep their state; running calls on removed ones finish. */
  adopt(addresses: readonly EndpointAddress[], port: number): void {
    const wanted = new Map(
      addresses.map((address) => [nameOf({ secure: false, host: address.host, port: address.port ?? port }), address]),
    );
    const gone = this.#all.filter(({ name }) => !wanted.has(name));
    const known = new Map(this.#all.map((endpoint) => [endpoint.name, endpoint]));
    const added = [...wanted.keys()].filter((name) => !known.has(name));
    if (gone.length === 0 && added.length === 0) return;
    this.#all = [...wanted].map(([name, address]) => known.get(name) ?? this.#open(name, address));
    this.#near = this.#all.filter(({ isNear }) => isNear).length;
    for (const { pool } of gone) void pool.close();
    this.#deps.onChange({ kind: 'found', count: this.#all.length, added, gone: gone.map(({ name }) => name) });
  }

  #open(name: string, address: EndpointAddress): Endpoint {
    const isNear = includesAddress(this.#zone, address.host);
    return new Endpoint(name, this.#deps.openPool(address), this.#deps.random, isNear);
  }

  close(): void {
    for (const { pool } of this.#all) void pool.close();
    this.#all = [];
  }

  destroy(): void {
    for (const { pool } of this.#all) pool.destroy();
    this.#all = [];
  }

  /** Chooses one of the less busy working endpoints; where none works, the one whose cooldown ends first. `except`: those tried already. */
  choose(except: readonly Endpoint[], nowMs: number): Endpoint | undefined {
    const left = except.length === 0 ? this.#all : this.#all.filter((one) => !except.includes(one));
    const usable = left.filter((one) => one.isUsable(nowMs));
    if (usable.length === 0) return soonest(left);
    const near = this.#near === 0 ? usable : usable.filter(({ isNear }) => isNear);
    // While half of the zone's endpoints work they can bear its traffic; fewer might not.
    const options = near.length > 0 && near.length * 2 >= this.#near ? near : usable;
    // With many endpoints, comparing two is nearly as good as comparing all.
    const looks = options.length > fewEndpoints ? 2 : options.length;
    const from = this.#index(options.length);
    const step = looks === options.length ? 1 : 1 + this.#index(options.length - 1);
    let best: Endpoint | undefined;
    for (let look = 0; look < looks; look += 1) {
      const one = options[(from + look * step) % options.length];
      if (one !== undefined && (best === undefined || one.inFlight < best.inFlight)) best = one;
    }
    return best;
  }

  #index(count: number): number {
    return Math.min(count - 1, Math.floor(this.#deps.random() * count));
  }

  /** Reports that an endpoint is unreachable, or ended a call without an answer; others are preferred from now on. */
  broke(endpoint: Endpoint, ticket: number, why: string, nowMs: number): void {
    this.#watch(endpoint, nowMs, () => {
      endpoint.circuit.failed(ticket, nowMs, why, 'wire');
      endpoint.circuit.openNow(nowMs, why, 'wire');
    });
    this.#deps.onUnreachable();
  }

  failed(endpoint: Endpoint, ticket: number, why: string, isUnavailable: boolean, nowMs: number): void {
    this.#watch(endpoint, nowMs, () => {
      endpoint.circuit.failed(ticket, nowMs, why, 'answer');
      // Only while more than half of the endpoints work, as the others must then take all traffic.
      if (isUnavailable && this.#usable(nowMs) * 2 > this.#all.length) endpoint.circuit.openNow(nowMs, why, 'answer');
    });
  }

  succeeded(endpoint: Endpoint, ticket: number, nowMs: number): void {
    if (endpoint.circuit.state(nowMs) === 'closed') endpoint.circuit.succeeded(ticket, nowMs);
    else this.#watch(endpoint, nowMs, () => endpoint.circuit.succeeded(ticket, nowMs));
  }

  /** Reports an active check's result; `why`: its complaint, undefined where the endpoint is well. */
  checked(endpoint: Endpoint, why: string | undefined, nowMs: number): void {
    endpoint.failedChecks = why === undefined ? 0 : endpoint.failedChecks + 1;
    const was = endpoint.down;
    endpoint.down = endpoint.failedChecks >= failedChecksToRest ? `health check: ${why}` : undefined;
    if (why === undefined && endpoint.circuit.openedBy === 'wire') endpoint.circuit.wake(nowMs);
    if ((was === undefined) === (endpoint.down === undefined)) return;
    const kind = endpoint.down === undefined ? 'back' : 'cooldown';
    this.#deps.onChange({ kind, endpoint: endpoint.name, why: endpoint.down ?? was ?? '', forMs: 0 });
  }

  hasOther(than: Endpoint, nowMs: number): boolean {
    return this.#all.some((one) => one !== than && one.isUsable(nowMs));
  }

  states(nowMs: number): EndpointState[] {
    return this.#all.map(({ name, inFlight, circuit, down }) => {
      const cooldownMs = circuit.state(nowMs) === 'closed' ? 0 : Math.max(0, circuit.cooldownUntilMs - nowMs);
      const why = down ?? (cooldownMs > 0 ? circuit.why : undefined);
      return { endpoint: name, inFlight, isUp: why === undefined, restsForMs: cooldownMs, why };
    });
  }

  #usable(nowMs: number): number {
    return this.#all.filter((one) => one.isUsable(nowMs)).length;
  }

  #watch({ name, circuit }: Endpoint, nowMs: number, change: () => void): void {
    const was = circuit.state(nowMs);
    change();
    const is = circuit.state(nowMs);
    if ((was === 'open') === (is === 'open') && is !== 'closed') return;
    if (was === is) return;
    const forMs = Math.max(0, circuit.cooldownUntilMs - nowMs);
    this.#deps.onChange({ kind: is === 'closed' ? 'back' : 'cooldown', endpoint: name, why: circuit.why, forMs });
  }
}

function soonest(endpoints: readonly Endpoint[]): Endpoint | undefined {
  let best: Endpoint | undefined;
  for (const one of endpoints) {
    if (best === undefined || isSooner(one, best)) best = one;
  }
  return best;
}

function isSooner(one: Endpoint, than: Endpoint): boolean {
  const isDown = one.down !== undefined;
  if (isDown !== (than.down !== undefined)) return !isDown;
  return one.circuit.cooldownUntilMs < than.circuit.cooldownUntilMs;
}
