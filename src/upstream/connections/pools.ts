/** One connection pool an origin; pools outlive configuration swaps. */

import { createHash } from 'node:crypto';
import type { LookupFunction } from 'node:net';
import type { Upstream } from '../../core/snapshot.ts';
import { ClientPool } from '../../wire/client-pool.ts';
import { Wheel } from '../../wire/wheel.ts';
import { createConnector } from './connection.ts';
import { toDestination } from './destination.ts';
import type { ProxyRule } from './proxy-rule.ts';

export interface Pools {
  /** The clock of all connections, and of the calls that are made on them. */
  readonly wheel: Wheel;
  of(upstream: Upstream): ClientPool;
  /** Makes room for what these upstreams may have at a time, and lets go of every pool that none of them uses. */
  keep(upstreams: Iterable<Upstream>): void;
  close(): Promise<void>;
}

interface PoolsDeps {
  /** Which proxy leads to an origin; always the same one for the same origin. */
  readonly proxyFor?: ProxyRule;
  /** The platform's where it is left out. */
  readonly lookup?: LookupFunction;
  /** How long a connection is used before the next call gets a new one, which is looked up anew. */
  readonly connectionLifeMs?: number;
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

  return {
    wheel,
    of(upstream) {
      const pool = byUpstream.get(upstream);
      return pool === undefined || pool.closed ? open(upstream) : pool;
    },
    keep(upstreams) {
      const wanted = new Map<string, number>();
      for (const upstream of upstreams) {
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

/** A pool cannot be given more connections: another number is another pool. */
function keyOf(line: string, connections: number): string {
  return `${line} ${connections}`;
}

function createPool(
  { id, origin, timeouts, tls, addresses }: Upstream,
  connections: number,
  wheel: Wheel,
  { proxyFor, lookup, connectionLifeMs = 60_000 }: PoolsDeps,
): ClientPool {
  if (origin === undefined) throw new TypeError(`upstream ${id} has no address to connect to`);
  const connect = createConnector({
    secure: origin.startsWith('https:'),
    connectMs: timeouts.embeddings.connectMs,
    tls,
    proxy: proxyFor?.(origin),
    lookup,
    addresses,
  });
  // As many calls are let in at a time as there are connections, and so none waits here.
  return new ClientPool({ ...toDestination(origin), connect, connections, wheel, lifeMs: connectionLifeMs });
}
