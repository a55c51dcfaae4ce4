/** SQLite connections: creates the file with owner-only access, and configures each connection for its purpose. */

import { closeSync, existsSync, fsyncSync, openSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync, type DatabaseSyncOptions } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { makeDirectory } from '../../lib/make-directory.ts';
import { codeOf } from '../../lib/thrown.ts';
import { StoreError } from '../store-error.ts';

/** At opening the process goes on meanwhile, and two stores may be opened in it. */
const retries = { pauseMs: 20, attempts: 500 };

/**
 * Creates the file where it is missing: SQLite would make it readable by all; its journals take the file's own mode. One that is there
 * is not opened: closing it would end every lock that this process holds on it, and with them its claim to the log.
 */
export function makeFile(path: string, place: string): void {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() === true) {
    throw new StoreError(`${place} is a directory; point "store" at a file in it, such as "sqlite:data/postern.db".`);
  }
  // SQLite would take it for a new one, and throw the log away.
  if (sizeOf(path) === 0 && sizeOf(`${path}-wal`) > 0) {
    throw new StoreError(
      `${place} is damaged: the file is empty, and the log beside it (-wal) is not. Restore it from a backup; to start anew, move both away.`,
    );
  }
  makeDirectory(dirname(path), 0o700);
  try {
    closeSync(openSync(path, 'wx', 0o600));
  } catch (thrown) {
    if (codeOf(thrown) !== 'EEXIST') throw thrown;
    // A link to a file that is still missing.
    if (!existsSync(path)) closeSync(openSync(path, 'a', 0o600));
  }
}

/** Copies what the connection sees into a file that is empty; the copy is on the disk then. Writers go on meanwhile. */
export function copyInto(database: DatabaseSync, file: string): void {
  database.prepare('VACUUM INTO ?').run(file);
  const written = openSync(file, 'r+');
  fsyncSync(written);
  closeSync(written);
}

const sizeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0;

/**
 * What every connection is told first. SQLite looks for a place for temporary files in /var/tmp, /tmp and the working directory: where
 * all of them are read-only, a larger statement would fail for good.
 */
const common = 'PRAGMA temp_store = MEMORY; PRAGMA trusted_schema = OFF';

/** A connection as all of them begin; `timeout` is how long a statement waits for others, in milliseconds. */
export function open(path: string, options: DatabaseSyncOptions): DatabaseSync {
  const database = new DatabaseSync(path, options);
  try {
    database.exec(common);
    return database;
  } catch (thrown) {
    database.close();
    throw thrown;
  }
}

/**
 * An import touches a page or two of each index for every key, model and upstream. Beyond the 2 MB that are usual, pages are
 * written to the log before the transaction ends, read again and written once more.
 */
const writerCacheKiB = 8 * 1024;

/**
 * A connection opens its log with its first read. It reads at once: another program may delete the log before it is needed, and then
 * there is only this way to what it holds.
 */
const openLog = 'SELECT count(*) FROM sqlite_schema';

/** For what must be there after a power cut: what was committed is on the disk. */
export async function openDurable(path: string, place: string): Promise<DatabaseSync> {
  const database = open(path, { timeout: 0, enableForeignKeyConstraints: true });
  try {
    const mode = await whenFree(() => database.prepare('PRAGMA journal_mode = WAL').get()?.journal_mode);
    if (mode !== 'wal' && mode !== 'memory') {
      throw new StoreError(`${place} lies on a file system without shared memory; point "store" at a local disk.`);
    }
    database.exec(`PRAGMA synchronous = FULL; PRAGMA cache_size = -${writerCacheKiB}; ${openLog}`);
    return database;
  } catch (thrown) {
    database.close();
    throw thrown;
  }
}

/** For what may be lost: it waits neither for the disk nor for anyone else. */
export function openLoose(path: string): DatabaseSync {
  const database = open(path, { timeout: 0, enableForeignKeyConstraints: true });
  // What others have made durable must not be carried over by one that does not wait for the disk.
  database.exec(`PRAGMA synchronous = OFF; PRAGMA wal_autocheckpoint = 0; ${openLog}`);
  return database;
}

/** Sees what was committed, whatever is under way elsewhere, and waits for no writer. */
export function openReader(path: string): DatabaseSync {
  const database = open(path, { timeout: 500 });
  database.exec(`PRAGMA query_only = ON; ${openLog}`);
  return database;
}

/** Carries everything over from the log into the file, and empties the log. False where another connection is in the way. */
export function emptyLog(path: string): boolean {
  const database = open(path, { timeout: 0 });
  try {
    return database.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get()?.busy === 0;
  } finally {
    database.close();
  }
}

/** Tries until no other connection is in the way. */
export async function whenFree<T>(call: () => T): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return call();
    } catch (thrown) {
      if (!isBusy(thrown) || attempt >= retries.attempts) throw thrown;
      await sleep(retries.pauseMs);
    }
  }
}

export function isBusy(thrown: unknown): boolean {
  return thrown instanceof Error && 'errcode' in thrown && Number(thrown.errcode) % 256 === 5;
}

/** A lock on a file that ends with its process, however that one ends: Node has none, SQLite brings one. */
export interface FileLock {
  release(): void;
}

/**
 * Undefined where another process, or another part of this one, has it. Nothing else in this process may open the file: on
 * closing it, the system would take the lock away.
 */
export function lockFile(path: string): FileLock | undefined {
  makeLockFile(path);
  const database = new DatabaseSync(path, { timeout: 0 });
  try {
    database.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
  } catch (thrown) {
    database.close();
    if (isBusy(thrown)) return undefined;
    throw thrown;
  }
  return {
    release() {
      if (database.isOpen) database.close();
    },
  };
}

/** SQLite would make it readable by all. */
function makeLockFile(path: string): void {
  try {
    closeSync(openSync(path, 'wx', 0o600));
  } catch (thrown) {
    if (codeOf(thrown) !== 'EEXIST') throw thrown;
  }
}
