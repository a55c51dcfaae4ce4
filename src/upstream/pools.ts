/** One connection pool an origin, every default of the client library pinned; pools outlive configuration swaps. */

import type { Socket } from 'node:net';
import { buildConnector, Pool } from 'undici';
import type { Upstream } from '../core/snapshot.ts';
import { readAnswersWhole } from './interim.ts';

export interface Pools {
  of(upstream: Upstream): Pool;
  /** Lets go of every pool that none of these upstreams uses. */
  keep(upstreams: Iterable<Upstream>): void;
  close(): Promise<void>;
}

/** An exchange that began under the old configuration may still be reading its body when the new one is in force. */
const retirementMs = 120_000;

export function createPools(): Pools {
  const byUpstream = new WeakMap<Upstream, Pool>();
  const byKey = new Map<string, { pool: Pool; retiring: NodeJS.Timeout | undefined }>();

  function open(upstream: Upstream): Pool {
    const key = keyOf(upstream);
    const known = byKey.get(key);
    const pool = known?.pool ?? createPool(upstream);
    if (known === undefined) byKey.set(key, { pool, retiring: undefined });
    byUpstream.set(upstream, pool);
    return pool;
  }

  return {
    of: (upstream) => byUpstream.get(upstream) ?? open(upstream),
    keep(upstreams) {
      const wanted = new Set<string>();
      for (const upstream of upstreams) wanted.add(keyOf(upstream));
      for (const [key, entry] of byKey) {
        if (wanted.has(key)) {
          clearTimeout(entry.retiring);
          entry.retiring = undefined;
        } else if (entry.retiring === undefined) {
          entry.retiring = setTimeout(() => {
            byKey.delete(key);
            void entry.pool.close();
          }, retirementMs).unref();
        }
      }
    },
    async close() {
      const pools = [...byKey.values()];
      byKey.clear();
      for (const { retiring } of pools) clearTimeout(retiring);
      await Promise.all(pools.map(({ pool }) => pool.destroy()));
    },
  };
}

function keyOf(upstream: Upstream): string {
  return `${upstream.origin} ${upstream.timeouts.embeddings.connectMs}`;
}

function createPool(upstream: Upstream): Pool {
  if (upstream.origin === undefined) throw new TypeError(`upstream ${upstream.id} has no address to connect to`);
  const connect = buildConnector({ timeout: upstream.timeouts.embeddings.connectMs, allowH2: false });
  return new Pool(upstream.origin, {
    connections: 512,
    pipelining: 1,
    allowH2: false,
    connect(options, callback) {
      connect(options, (error, socket) => {
        if (error !== null) {
          callback(error, null);
          return;
        }
        readAnswersWhole(socket);
        tellResets(socket);
        callback(null, socket);
      });
    },
    // Shorter than the 5 s after which common servers drop an idle connection, so that no call meets a closing one.
    keepAliveTimeout: 4_000,
    keepAliveMaxTimeout: 600_000,
    maxHeaderSize: 64 * 1024,
    // Calls keep their own time (see call.ts): the library's clock is coarse, and counts a slow reader as silence.
    headersTimeout: 0,
    bodyTimeout: 0,
    maxResponseSize: -1,
  });
}

/**
 * The library takes a reset for the proper end of a body that ends with the connection, and half an answer would look whole.
 * It does so by the error's code; this listener is there before its own.
 */
function tellResets(socket: Socket): void {
  socket.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'ECONNRESET') error.code = 'ERR_UPSTREAM_RESET';
  });
}
