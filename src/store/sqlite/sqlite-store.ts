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

/** `path` is absolute. In a thread, the process never waits for the disk. */
export function openSqliteFile(
  path: string,
  { clock, inThread, onLoss }: { clock: Clock; inThread: boolean; onLoss?: ((loss: StoreLoss) => void) | undefined },
): Promise<Store> {
  return onFile(path, async (place) => {
    const { database } = await openAlone(path, place, (db) => migrate(db, place));
    const secure = async (): Promise<boolean> => onFile(path, async () => emptyLog(path));
    if (inThread) {
      database.close();
      const thread = createSqliteThread({ path, place });
      return createStore({ db: new Kysely<Schema>({ dialect: thread.dialect }), clock, secure, close: thread.close });
    }
    database.exec(`PRAGMA busy_timeout = ${busyTimeoutMs}`);
    const guard = new FileGuard(database, path, place);
    const watch = onLoss === undefined ? undefined : watchFiles(guard, onLoss);
    return createStore({
      db: toKysely(database, place, guard),
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

/** The serialised schema of a new memory store: made by the process's first. */
let emptyMemory: Uint8Array | undefined;

/** A temporary store. */
export async function openSqliteMemory(clock: Clock): Promise<Store> {
  const place = 'The store in memory';
  const database = open(':memory:', { enableForeignKeyConstraints: true });
  const db = toKysely(database, place);
  if (emptyMemory === undefined) {
    await alone(database, () => migrate(db, place));
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
  return onFile(path, async (place) => {
    const { database, names } = await openAlone(path, place, (db) =>
      backTo === undefined ? migrate(db, place) : goBackTo(db, backTo, place),
    );
    database.close();
    return names;
  });
}

/** The pending ones; does not create a missing file. */
export function readMissingOfFile(path: string): Promise<string[]> {
  return onFile(path, async (place) => {
    const database = existsSync(path) ? openReader(path) : open(':memory:', {});
    try {
      return await readMissing(toKysely(database, place), place);
    } finally {
      database.close();
    }
  });
}

/** Faults name the file. */
async function onFile<T>(path: string, work: (place: string) => Promise<T>): Promise<T> {
  const place = `The store "${path}"`;
  try {
    return await work(place);
  } catch (thrown) {
    throw toStoreError(thrown, place);
  }
}

/** Opens the file once the work is done on it, while no other process writes. */
async function openAlone(path: string, place: string, work: (db: Kysely<Schema>) => Promise<string[]>) {
  makeFile(path, place);
  const database = await openDurable(path, place);
  try {
    return { database, names: await alone(database, () => work(toKysely(database, place))) };
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

function toKysely(database: DatabaseSync, place: string, guard?: FileGuard): Kysely<Schema> {
  const toError = (thrown: unknown): unknown => toStoreError(thrown, place);
  return new Kysely<Schema>({ dialect: createSqliteDialect(database, toError, () => guard?.check()) });
}
