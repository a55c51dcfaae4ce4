/** Which settings hold from the start of the process to its end. */

import type { Snapshot } from '../../core/snapshot.ts';

const settings: Readonly<Record<string, (snapshot: Snapshot) => unknown>> = {
  'server.host': ({ server }) => server.host,
  'server.port': ({ server }) => server.port,
  'server.socket': ({ server }) => JSON.stringify(server.socket),
  'server.tls': ({ server }) => server.tls !== undefined,
  'server.max_header_size': ({ server }) => server.maxHeaderBytes,
  'server.workers': ({ server }) => server.workers,
  'console.host': ({ console }) => console.host,
  'console.port': ({ console }) => console.port,
  'console.token': ({ console }) => console.token,
  'console.url': ({ console }) => console.url,
  store: ({ store }) => store,
  redis: ({ redis }) => redis,
  redis_deadline: ({ redisDeadlineMs }) => redisDeadlineMs,
  'ledger.journal': ({ ledger }) => ledger.directory,
  'ledger.durability': ({ ledger }) => ledger.durability,
};

/** The settings that differ and cannot change while Postern runs; `server.tls` counts as switched on or off only. */
export function needsRestart(running: Snapshot, next: Snapshot): string[] {
  return Object.entries(settings).flatMap(([name, read]) => (read(running) === read(next) ? [] : [name]));
}
