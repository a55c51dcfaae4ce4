/** Keeps one connection pool per origin; pools survive configuration reloads. */

import { createHash } from 'node:crypto';
import type { EndpointSettings, Upstream } from '../../core/snapshot.ts';
import type { EndpointState } from '../../core/target-state.ts';
import { toBlockList } from '../../lib/addresses/address-range.ts';
import { ClientPool } from '../../wire/client-pool.ts';
import { Wheel } from '../../wire/wheel.ts';
import { type EndpointChange, EndpointSet } from '../endpoints/endpoint-set.ts';
import { type EndpointAddress, EndpointLookUp, type LookUpDeps } from '../endpoints/look-up.ts';
import { createConnector, toDestination } from './connection.ts';
import type { ProxyRule } from './proxy-rule.ts';

export interface Pools {
  readonly wheel: Wheel;
  of(upstream: Upstream): ClientPool;
  /** The endpoints of an upstream; undefined where it has only one: its connections then resolve the name. */
  endpointsOf(upstream: Upstream): EndpointSet | undefined;
  /** The states of an upstream's endpoints, without a look-up. */
  endpointStates(upstreamId: string, nowMs: number): readonly EndpointState[] | undefined;
  /** Keeps pools of the right size for these upstreams, and drops all others after a while. */
  keep(upstreams: Iterable<Upstream>): void;
  close(): Promise<void>;
}

interface PoolsDeps extends LookUpDeps {
  /** The proxy for an origin, which must never change. */
  readonly proxyFor?: ProxyRule;
  readonly random?: () => number;
  readonly onEndpoints?: (upstream: string, change: EndpointChange) => void;
  /** How long a connection is used before the next call opens a new one, with a new look-up. */
  readonly connectionLifeMs?: number;
}

interface Endpoints {
  /** Identifies the destination and the way to reach it; endpoints with an equal key keep their state. */
  readonly key: string;
  /** With fewer endpoints than this there is nothing to choose. */
  readonly fewest: number;
  readonly set: EndpointSet;
  readonly lookUp: EndpointLookUp;
}

interface Entry {
  readonly pool: ClientPool;
  retiring: NodeJS.Timeout | undefined;
}

/** How long a pool that is no longer configured stays: an exchange of the old configuration may still be reading its body. */
const retirementMs = 120_000;

const wheelStepMs = 20;

export function createPools(deps: PoolsDeps = {}): Pools {
  const wheel = new Wheel(wheelStepMs);
  const byUpstream = new WeakMap<Upstream, ClientPool>();
  const byKey = new Map<string, Entry>();
  const byId = new Map<string, Endpoints>();
  /** Cache of the endpoints' keys by upstream, as computing one takes a hash. */
  const keys = new WeakMap<Upstream, string>();
  /** Pools that are no longer configured, but still have running calls. */
  const leaving = new Set<ClientPool>();
  /** Number of connections for each pool's key without its size, by the configuration in force. */
  let connections: ReadonlyMap<string, number> | undefined;

  function open(upstream: Upstream): ClientPool {
    const line = lineOf(upstream);
    const kept = connections?.get(line);
    const count = kept ?? connectionsOf(upstream);
    const key = keyOf(line, count);
    const entry = byKey.get(key) ?? { pool: createPool(upstream, count, wheel, deps), retiring: undefined };
    byKey.set(key, entry);
    // An exchange that is older than the configuration in force requested the pool.
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
    const { port } = toDestination(origin).server;
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
      // The proxy resolves names.
      if (deps.proxyFor?.(origin) !== undefined) return undefined;
      known = openEndpoints(upstream, settings, origin);
      byId.set(id, known);
      keys.set(upstream, known.key);
    }
    // An exchange that is older than the configuration in force has called.
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
      // Configured endpoints are looked up before the first call.
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

/** A hash that is equal for upstreams that may share connections. */
function lineOf({ origin, timeouts, tls, addresses }: Upstream): string {
  const { ca, cert, key, serverName } = tls ?? {};
  // Connections without an address policy must not serve upstreams with one.
  const parts = [origin, timeouts.embeddings.connectMs, ca, cert, key, serverName, addresses?.id];
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64url');
}

/** Additional connections for abandoned answers, which give their slot to the next call before they end. */
const spareConnections = 2;

/** The size of an upstream's pool. A health check has no slot, but its own connection, as it must not wait for a call to end. */
function connectionsOf({ limits, healthCheck }: Upstream): number {
  return limits.concurrency + spareConnections + (healthCheck === undefined ? 0 : 1);
}

function choosable({ set, fewest }: Endpoints): EndpointSet | undefined {
  return set.all.length >= fewest ? set : undefined;
}

function endpointKeyOf(upstream: Upstream): string {
  return `${keyOf(lineOf(upstream), connectionsOf(upstream))} ${JSON.stringify(upstream.endpoints)}`;
}

/** The key of a pool. It includes the size: a pool cannot be resized, so that another size makes another pool. */
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
  const { server, host } = toDestination(origin);
  const where =
    endpoint === undefined ? server : { ...server, address: endpoint.host, port: endpoint.port ?? server.port };
  // Slots admit as many calls as there are connections, so none waits here.
  return new ClientPool({ server: where, host, connect, connections, wheel, lifeMs: connectionLifeMs });
}
