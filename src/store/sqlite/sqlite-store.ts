/** Opens a SQLite file or memory database as a store: creates it, sets durability, and migrates it. */

import { existsSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { Kysely } from 'kysely';
import type { Store } from '../../core/store/store.ts';
import type { Clock } from '../../lib/clock.ts';
import { goBackTo, migrate, readMissing } from '../migrate.ts';
import { noSignal } from '../recording.ts';
import type { Schema } from '../schema.ts';
import { createStore } from '../store.ts';
import { createSqliteDialect } from './sqlite-dialect.ts';
import { toStoreError } from './sqlite-faults.ts';
import { emptyLog, makeFile, open, openDurable, openLoose, openReader, whenFree } from './sqlite-file.ts';
import { FileGuard, type StoreLoss, watchFiles } from './sqlite-guard.ts';
import { createSqliteThread } from './sqlite-thread-dialect.ts';

/** How long a statement, and the process with it, waits for another process's transaction. */
const busyTimeoutMs = 5_000;

/** The file's name in errors. */
const nameOf = (path: string): string => `The store "${path}"`;

/** `path` is absolute. In a thread, the process never waits for the disk. */
export async function openSqliteFile(
  path: string,
  { clock, inThread, onLoss }: { clock: Clock; inThread: boolean; onLoss?: ((loss: StoreLoss) => void) | undefined },
): Promise<Store> {
  const place = nameOf(path);
  try {
    const database = await openMigrated(path);
    if (inThread) {
      database.close();
      return inItsThread(path, place, clock);
    }
    database.exec(`PRAGMA busy_timeout = ${busyTimeoutMs}`);
    const loose = openLoose(path);
    const guard = new FileGuard(database, path, place);
    const watch = onLoss === undefined ? undefined : watchFiles(guard, onLoss);
    const db = toKysely(database, place, guard);
    return createStore({
      db,
      quick: db,
      money: db,
      loose: toKysely(loose, place, guard),
      clock,
      signal: noSignal,
      async secure() {
        guard.check();
        return secure(path, place);
      },
      async close() {
        watch?.close();
        for (const connection of [loose, database]) if (connection.isOpen) connection.close();
      },
    });
  } catch (thrown) {
    throw toStoreError(thrown, place);
  }
}

/** The serialised schema of a new memory store: made by the process's first. */
let emptyMemory: Uint8Array | undefined;

/** A temporary store. */
export async function openSqliteMemory(clock: Clock): Promise<Store> {
  const database = open(':memory:', { enableForeignKeyConstraints: true });
  const db = toKysely(database, 'The store in memory');
  if (emptyMemory === undefined) {
    await migrateAlone(database, 'The store in memory');
    emptyMemory = database.serialize();
  } else database.deserialize(emptyMemory);
  return createStore({
    db,
    quick: db,
    money: db,
    loose: db,
    clock,
    signal: noSignal,
    secure: async () => true,
    async close() {
      if (database.isOpen) database.close();
    },
  });
}

/** Migrates the file, and returns the migrations that ran. */
export async function migrateSqliteFile(path: string, backTo?: string): Promise<string[]> {
  const place = nameOf(path);
  try {
    if (backTo !== undefined) return await goBack(path, place, backTo);
    const ran: string[] = [];
    (await openMigrated(path, ran)).close();
    return ran;
  } catch (thrown) {
    throw toStoreError(thrown, place);
  }
}

/** The pending ones; does not create a missing file. */
export async function readMissingOfFile(path: string): Promise<string[]> {
  const place = nameOf(path);
  try {
    const database = existsSync(path) ? openReader(path) : open(':memory:', {});
    try {
      return await readMissing(toKysely(database, place), place);
    } finally {
      database.close();
    }
  } catch (thrown) {
    throw toStoreError(thrown, place);
  }
}

function inItsThread(path: string, place: string, clock: Clock): Store {
  const thread = createSqliteThread({ path, place });
  const db = new Kysely<Schema>({ dialect: thread.dialect });
  return createStore({
    db,
    quick: db,
    money: db,
    loose: db,
    clock,
    signal: noSignal,
    secure: () => secure(path, place),
    close: thread.close,
  });
}

async function secure(path: string, place: string): Promise<boolean> {
  try {
    return emptyLog(path);
  } catch (thrown) {
    throw toStoreError(thrown, place);
  }
}

async function openMigrated(path: string, ran: string[] = []): Promise<DatabaseSync> {
  makeFile(path, nameOf(path));
  const database = await openDurable(path, nameOf(path));
  try {
    ran.push(...(await migrateAlone(database, nameOf(path))));
    return database;
  } catch (thrown) {
    if (database.isOpen) database.close();
    throw thrown;
  }
}

async function goBack(path: string, place: string, version: string): Promise<string[]> {
  makeFile(path, place);
  const database = await openDurable(path, place);
  try {
    return await alone(database, () => goBackTo(toKysely(database, place), version, place));
  } finally {
    database.close();
  }
}

function migrateAlone(database: DatabaseSync, place: string): Promise<string[]> {
  return alone(database, () => migrate(toKysely(database, place), place));
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
