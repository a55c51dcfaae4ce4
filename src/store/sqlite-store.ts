/** Opens a SQLite file (or memory) as a store: makes the file, sets it up for durability, brings its schema up to date. */

import { closeSync, mkdirSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { Kysely } from 'kysely';
import type { Store } from '../core/store.ts';
import type { Clock } from '../lib/clock.ts';
import { createHealthStore } from './health.ts';
import { createKeyStore } from './keys.ts';
import { migrate } from './migrate.ts';
import type { Schema } from './schema.ts';
import { createSqliteDialect } from './sqlite-dialect.ts';
import { toStoreError } from './sqlite-faults.ts';
import { StoreError } from './store-error.ts';

/** How long a statement waits, with the whole process, for another process to end its transaction. */
const busyTimeoutMs = 5_000;
/** At opening the process goes on meanwhile, and two stores may be opened in it. */
const openRetries = { pauseMs: 20, attempts: 500 };

/** `path` is absolute, or undefined for a database in memory. */
export async function openSqliteStore(path: string | undefined, clock: Clock): Promise<Store> {
  const place = path === undefined ? 'The store in memory' : `The store "${path}"`;
  try {
    if (path !== undefined) makeFile(path);
    const database = new DatabaseSync(path ?? ':memory:', { timeout: 0, enableForeignKeyConstraints: true });
    try {
      return await setUp(database, path, place, clock);
    } catch (thrown) {
      if (database.isOpen) database.close();
      throw thrown;
    }
  } catch (thrown) {
    throw toStoreError(thrown, place);
  }
}

/** SQLite would make the file readable by all; its journals take the file's own mode. */
function makeFile(path: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  closeSync(openSync(path, 'a', 0o600));
}

async function setUp(database: DatabaseSync, path: string | undefined, place: string, clock: Clock): Promise<Store> {
  const open = (connection: DatabaseSync): Kysely<Schema> =>
    new Kysely<Schema>({ dialect: createSqliteDialect(connection, (thrown) => toStoreError(thrown, place)) });
  const db = open(database);

  const mode = await whenFree(() => database.prepare('PRAGMA journal_mode = WAL').get()?.journal_mode);
  if (mode !== 'wal' && mode !== 'memory') {
    throw new StoreError(`${place} lies on a file system without shared memory; point "store" at a local disk.`);
  }
  database.exec('PRAGMA synchronous = FULL; PRAGMA trusted_schema = OFF');

  await whenFree(() => database.exec('BEGIN IMMEDIATE'));
  try {
    await migrate(db, place);
    database.exec('COMMIT');
  } catch (thrown) {
    if (database.isTransaction) database.exec('ROLLBACK');
    throw thrown;
  }
  database.exec(`PRAGMA busy_timeout = ${busyTimeoutMs}`);

  const quick = path === undefined ? undefined : openQuick(path);
  return {
    keys: createKeyStore(db, clock),
    health: createHealthStore(quick === undefined ? db : open(quick), clock),
    async close() {
      if (quick?.isOpen) quick.close();
      await db.destroy();
    },
  };
}

/** For what may be lost: it waits neither for the disk nor for anyone else. */
function openQuick(path: string): DatabaseSync {
  const database = new DatabaseSync(path, { timeout: 0, enableForeignKeyConstraints: true });
  database.exec('PRAGMA synchronous = OFF; PRAGMA trusted_schema = OFF');
  return database;
}

/** Tries until no other connection is in the way. */
async function whenFree<T>(call: () => T): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return call();
    } catch (thrown) {
      if (!isBusy(thrown) || attempt === openRetries.attempts) throw thrown;
      await sleep(openRetries.pauseMs);
    }
  }
}

function isBusy(thrown: unknown): boolean {
  return thrown instanceof Error && 'errcode' in thrown && Number(thrown.errcode) % 256 === 5;
}
