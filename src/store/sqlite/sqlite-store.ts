/** Opens a SQLite file or memory database as a store: creates it, sets durability, and migrates it. */

import { existsSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { Kysely } from 'kysely';
import type { Store } from '../../core/store/store.ts';
import type { Clock } from '../../lib/clock.ts';
import { goBackTo, migrate, readMissing } from '../migrate.ts';
import type { Schema } from '../schema.ts';
import { createStore } from '../store.ts';
import { createSqliteDialect } from './sqlite-dialect.ts';
import { toStoreError } from './sqlite-faults.ts';
import { emptyLog, makeFile, open, openDurable, openReader, whenFree } from './sqlite-file.ts';
import { FileGuard, type StoreLoss, watchFiles } from './sqlite-guard.ts';
import { createSqliteThread } from './sqlite-thread-dialect.ts';

/** How long a statement, and the process with it, waits for another process's transaction. */
const busyTimeoutMs = 5_000;

/** Opens a file as a store. `path` is absolute. With `inThread`, the process never waits for the disk. */
export function openSqliteFile(
  path: string,
  { clock, inThread, onLoss }: { clock: Clock; inThread: boolean; onLoss?: ((loss: StoreLoss) => void) | undefined },
): Promise<Store> {
  return onFile(path, async (storeName) => {
    const { database } = await openAlone(path, storeName, (db) => migrate(db, storeName));
    const secure = async (): Promise<boolean> => onFile(path, async () => emptyLog(path));
    if (inThread) {
      database.close();
      const thread = createSqliteThread({ path, storeName });
      return createStore({ db: new Kysely<Schema>({ dialect: thread.dialect }), clock, secure, close: thread.close });
    }
    database.exec(`PRAGMA busy_timeout = ${busyTimeoutMs}`);
    const guard = new FileGuard(database, path, storeName);
    const watch = onLoss === undefined ? undefined : watchFiles(guard, onLoss);
    return createStore({
      db: toKysely(database, storeName, guard),
      clock,
      async secure() {
        guard.check();
        return secure();
      },
      async close() {
        watch?.close();
        if (database.isOpen) database.close();
      },
    });
  });
}

/** The serialised schema of an empty memory store, made by the first memory store of the process. */
let emptyMemory: Uint8Array | undefined;

export async function openSqliteMemory(clock: Clock): Promise<Store> {
  const storeName = 'The store in memory';
  const database = open(':memory:', { enableForeignKeyConstraints: true });
  const db = toKysely(database, storeName);
  if (emptyMemory === undefined) {
    await alone(database, () => migrate(db, storeName));
    emptyMemory = database.serialize();
  } else database.deserialize(emptyMemory);
  return createStore({
    db,
    clock,
    secure: async () => true,
    async close() {
      if (database.isOpen) database.close();
    },
  });
}

/** Migrates the file, or takes it back to a version, and returns the migrations that ran or were set aside. */
export function migrateSqliteFile(path: string, backTo?: string): Promise<string[]> {
  return onFile(path, async (storeName) => {
    const { database, names } = await openAlone(path, storeName, (db) =>
      backTo === undefined ? migrate(db, storeName) : goBackTo(db, backTo, storeName),
    );
    database.close();
    return names;
  });
}

/** The names of the pending migrations; does not create a missing file. */
export function readMissingOfFile(path: string): Promise<string[]> {
  return onFile(path, async (storeName) => {
    const database = existsSync(path) ? openReader(path) : open(':memory:', {});
    try {
      return await readMissing(toKysely(database, storeName), storeName);
    } finally {
      database.close();
    }
  });
}

async function onFile<T>(path: string, work: (storeName: string) => Promise<T>): Promise<T> {
  const storeName = `The store "${path}"`;
  try {
    return await work(storeName);
  } catch (thrown) {
    throw toStoreError(thrown, storeName);
  }
}

async function openAlone(path: string, storeName: string, work: (db: Kysely<Schema>) => Promise<string[]>) {
  makeFile(path, storeName);
  const database = await openDurable(path, storeName);
  try {
    return { database, names: await alone(database, () => work(toKysely(database, storeName))) };
  } catch (thrown) {
    if (database.isOpen) database.close();
    throw thrown;
  }
}

async function alone<T>(database: DatabaseSync, work: () => Promise<T>): Promise<T> {
  await whenFree(() => database.exec('BEGIN IMMEDIATE'));
  try {
    const done = await work();
    database.exec('COMMIT');
    return done;
  } catch (thrown) {
    if (database.isTransaction) database.exec('ROLLBACK');
    throw thrown;
  }
}

function toKysely(database: DatabaseSync, storeName: string, guard?: FileGuard): Kysely<Schema> {
  const toError = (thrown: unknown): unknown => toStoreError(thrown, storeName);
  return new Kysely<Schema>({ dialect: createSqliteDialect(database, toError, () => guard?.check()) });
}
