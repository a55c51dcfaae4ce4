/** Defines and checks the settings `store`, `redis` and `redis_deadline`: where data is stored, and where nodes count limits together. */

import type { Location } from './context.ts';
import { atStart, duration, secretFile, text } from './fields.ts';

export const standardStore = 'sqlite:data/postern.db';

export const storeFields = {
  store: text('sqlite:<path of the database file>, or a postgres:// URL')
    .default(standardStore)
    .describe('The database: `sqlite:` and a path, or a PostgreSQL URL.')
    .meta({ secret: true, restart: atStart(({ store }) => store) }),
  store_file: secretFile('store'),
  redis: text('a redis:// or rediss:// URL', /^rediss?:\/\/[^/\s]\S*$/)
    .optional()
    .describe('URL of Redis or Valkey, for limits and caches over all nodes.')
    .meta({ secret: true, kind: 'URL', restart: atStart(({ redis }) => redis) }),
  redis_file: secretFile('redis'),
  redis_deadline: duration(1, 10_000)
    .prefault('30ms')
    .describe(
      'How long a limit decision waits for Redis; then the process decides alone. Longer than the usual round trip.',
    )
    .meta({ restart: atStart(({ redisDeadlineMs }) => redisDeadlineMs) }),
};

const wantedStore =
  'wanted: sqlite:<path of the database file>, such as sqlite:data/postern.db, or postgres://user:password@host/database';

export function checkStore(store: string, workers: number, location: Location): void {
  if (/^postgres(ql)?:/i.test(store)) {
    const url = /^postgres(ql)?:\/\/[^\s]+$/.test(store) ? URL.parse(store) : null;
    if (url === null || url.hostname === '' || url.pathname.length < 2) location.fault(wantedStore);
  } else if (!/^sqlite:./.test(store)) {
    location.fault(wantedStore);
  } else if (store === 'sqlite::memory:' && workers > 1) {
    location.fault(
      `is in the memory of one process, and server.workers is ${workers}; write a path, such as sqlite:data/postern.db, or server.workers: 1`,
    );
  }
}

/** Reports an invalid Redis URL, with which Redis would count as unreachable for ever. */
export function checkRedis(redis: string | undefined, location: Location): void {
  if (redis === undefined) return;
  const url = URL.parse(redis);
  if (url !== null && url.hostname !== '' && /^\/?\d*$/.test(url.pathname)) return;
  location.fault(
    'wanted: a redis:// or rediss:// URL, such as redis://user:password@host:6379/2; this one cannot be read',
  );
}
