/** One connection pool per origin; pools survive configuration reloads. */

import { createHash } from 'node:crypto';
import type { EndpointSettings, Upstream } from '../../core/snapshot.ts';
import type { EndpointState } from '../../core/target-state.ts';
import { toBlockList } from '../../lib/addresses/address-range.ts';
import { ClientPool } from '../../wire/client-pool.ts';
import { Wheel } from '../../wire/wheel.ts';
import { type EndpointChange, EndpointSet } from '../endpoints/endpoint-set.ts';
import { type EndpointAddress, EndpointLookUp, type LookUpDeps } from '../endpoints/look-up.ts';
import { createConnector } from './connection.ts';
import { toDestination } from './destination.ts';
import type { ProxyRule } from './proxy-rule.ts';

export interface Pools {
  /** The clock of all connections, and of the calls that are made on them. */
  readonly wheel: Wheel;
  of(upstream: Upstream): ClientPool;
  /** Undefined where there are none to choose among: then connections find the way. */
  endpointsOf(upstream: Upstream): EndpointSet | undefined;
  /** How they are; nobody is looked up for that. */
  endpointStates(upstreamId: string, nowMs: number): readonly EndpointState[] | undefined;
  /** Makes room for what these upstreams may have at a time, and lets go of every pool that none of them uses. */
  keep(upstreams: Iterable<Upstream>): void;
  close(): Promise<void>;
}

interface PoolsDeps extends LookUpDeps {
  /** Which proxy leads to an origin; always the same one for the same origin. */
  readonly proxyFor?: ProxyRule;
  readonly random?: () => number;
  readonly onEndpoints?: (upstream: string, change: EndpointChange) => void;
  /** How long a connection is used before the next call gets a new one, which is looked up anew. */
  readonly connectionLifeMs?: number;
}

interface Endpoints {
  /** The same as long as it is the same place, reached in the same way. */
  readonly key: string;
  /** With fewer there is nothing to choose. */
  readonly fewest: number;
  readonly set: EndpointSet;
  readonly lookUp: EndpointLookUp;
}

interface Entry {
  readonly pool: ClientPool;
  retiring: NodeJS.Timeout | undefined;
}

/** An exchange that began under the old configuration may still be reading its body when the new one is in force. */
const retirementMs = 120_000;

/** Nothing is more than twice that late. */
const wheelStepMs = 20;

export function createPools(deps: PoolsDeps = {}): Pools {
  const wheel = new Wheel(wheelStepMs);
  const byUpstream = new WeakMap<Upstream, ClientPool>();
  const byKey = new Map<string, Entry>();
  const byId = new Map<string, Endpoints>();
  /** Of endpoints, by upstream: they cost a hash. */
  const keys = new WeakMap<Upstream, string>();
  /** Retired, with calls that still run. */
  const leaving = new Set<ClientPool>();
  /** By what distinguishes connections, for the upstreams of the configuration in force. */
  let connections: ReadonlyMap<string, number> | undefined;

  function open(upstream: Upstream): ClientPool {
    const line = lineOf(upstream);
    const kept = connections?.get(line);
    const count = kept ?? connectionsOf(upstream);
    const key = keyOf(line, count);
    const entry = byKey.get(key) ?? { pool: createPool(upstream, count, wheel, deps), retiring: undefined };
    byKey.set(key, entry);
    // Asked for by an exchange that is older than the configuration in force.
    if (connections !== undefined && kept === undefined) retire(key, entry);
    byUpstream.set(upstream, entry.pool);
    return entry.pool;
  }

  function retire(key: string, entry: Entry): void {
    entry.retiring ??= setTimeout(async () => {
      byKey.delete(key);
      leaving.add(entry.pool);
      await entry.pool.close();
      leaving.delete(entry.pool);
    }, retirementMs).unref();
  }

  function openEndpoints(upstream: Upstream, settings: EndpointSettings, origin: string): Endpoints {
    const { id } = upstream;
    const { port } = toDestination(origin).place;
    const zone = settings.zone.length === 0 ? undefined : toBlockList(settings.zone);
    const set: EndpointSet = new EndpointSet(zone, {
      random: deps.random ?? Math.random,
      openPool: (address) => createPool(upstream, connectionsOf(upstream), wheel, deps, address),
      onChange: (change) => deps.onEndpoints?.(id, change),
      onUnreachable: () => lookUp.hurry(),
    });
    const lookUp = new EndpointLookUp(settings, origin, deps, (addresses) => set.adopt(addresses, port));
    return { key: endpointKeyOf(upstream), fewest: settings.from === 'private dns' ? 2 : 1, set, lookUp };
  }

  function endpointsOf(upstream: Upstream): EndpointSet | undefined {
    const { endpoints: settings, origin, id } = upstream;
    if (settings === undefined || origin === undefined) return undefined;
    let known = byId.get(id);
    if (known === undefined) {
      // The proxy looks names up.
      if (deps.proxyFor?.(origin) !== undefined) return undefined;
      known = openEndpoints(upstream, settings, origin);
      byId.set(id, known);
      keys.set(upstream, known.key);
    }
    // An exchange that is older than the configuration in force.
    if ((keys.get(upstream) ?? endpointKeyOf(upstream)) !== known.key) return undefined;
    return choosable(known);
  }

  function keepEndpoints(upstreams: ReadonlyMap<string, Upstream>): void {
    for (const [id, { key, set, lookUp }] of byId) {
      const upstream = upstreams.get(id);
      if (upstream?.endpoints !== undefined && endpointKeyOf(upstream) === key) continue;
      byId.delete(id);
      lookUp.stop();
      set.close();
    }
    for (const upstream of upstreams.values()) {
      if (upstream.endpoints === undefined) continue;
      keys.set(upstream, endpointKeyOf(upstream));
      // Those that an operator asked for are looked up before the first call.
      if (upstream.endpoints.from !== 'private dns') endpointsOf(upstream);
    }
  }

  return {
    wheel,
    endpointsOf,
    endpointStates(upstreamId, nowMs) {
      const known = byId.get(upstreamId);
      return known && choosable(known)?.states(nowMs);
    },
    of(upstream) {
      const pool = byUpstream.get(upstream);
      return pool === undefined || pool.closed ? open(upstream) : pool;
    },
    keep(upstreams) {
      const wanted = new Map<string, number>();
      const all = [...upstreams];
      keepEndpoints(new Map(all.map((upstream) => [upstream.id, upstream])));
      for (const upstream of all) {
        if (upstream.origin === undefined) continue;
        const line = lineOf(upstream);
        wanted.set(line, (wanted.get(line) ?? 0) + connectionsOf(upstream));
        byUpstream.delete(upstream);
      }
      connections = wanted;
      const keys = new Set([...wanted].map(([line, count]) => keyOf(line, count)));
      for (const [key, entry] of byKey) {
        if (keys.has(key)) {
          clearTimeout(entry.retiring);
          entry.retiring = undefined;
        } else {
          retire(key, entry);
        }
      }
    },
    async close() {
      for (const { set, lookUp } of byId.values()) {
        lookUp.stop();
        set.destroy();
      }
      byId.clear();
      const entries = [...byKey.values()];
      byKey.clear();
      for (const { retiring } of entries) clearTimeout(retiring);
      for (const pool of [...entries.map(({ pool }) => pool), ...leaving]) pool.destroy();
    },
  };
}

/** The same for upstreams that may share connections. */
function lineOf({ origin, timeouts, tls, addresses }: Upstream): string {
  const { ca, cert, key, serverName } = tls ?? {};
  // What may lead anywhere must not lend its connections to what may not.
  const parts = [origin, timeouts.embeddings.connectMs, ca, cert, key, serverName, addresses?.id];
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64url');
}

/** For answers that were put aside and have given their place to the next call before they ended. */
const spareConnections = 2;

/** A health check has no place among the calls either, and must not wait until one of them ends. */
function connectionsOf({ limits, healthCheck }: Upstream): number {
  return limits.concurrency + spareConnections + (healthCheck === undefined ? 0 : 1);
}

function choosable({ set, fewest }: Endpoints): EndpointSet | undefined {
  return set.all.length >= fewest ? set : undefined;
}

function endpointKeyOf(upstream: Upstream): string {
  return `${keyOf(lineOf(upstream), connectionsOf(upstream))} ${JSON.stringify(upstream.endpoints)}`;
}

/** A pool cannot be given more connections: another number is another pool. */
function keyOf(line: string, connections: number): string {
  return `${line} ${connections}`;
}

function createPool(
  { id, origin, timeouts, tls, addresses }: Upstream,
  connections: number,
  wheel: Wheel,
  { proxyFor, lookup, connectionLifeMs = 60_000 }: PoolsDeps,
  endpoint?: EndpointAddress,
): ClientPool {
  if (origin === undefined) throw new TypeError(`upstream ${id} has no address to connect to`);
  const connect = createConnector({
    secure: origin.startsWith('https:'),
    connectMs: timeouts.embeddings.connectMs,
    tls,
    proxy: proxyFor?.(origin),
    lookup,
    addresses,
    isEndpoint: endpoint !== undefined,
  });
  const { place, host } = toDestination(origin);
  const where =
    endpoint === undefined ? place : { ...place, address: endpoint.host, port: endpoint.port ?? place.port };
  // As many calls are let in at a time as there are connections, and so none waits here.
  return new ClientPool({ place: where, host, connect, connections, wheel, lifeMs: connectionLifeMs });
}
