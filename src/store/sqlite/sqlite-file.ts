/** Opens SQLite connections: creates the file with owner-only access, and configures each connection for its purpose. */

import { closeSync, existsSync, fsyncSync, openSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync, type DatabaseSyncOptions } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { makeDirectory } from '../../lib/make-directory.ts';
import { codeOf } from '../../lib/thrown.ts';
import { StoreError } from '../store-error.ts';

/** How to try again while another connection is in the way. The process continues to work while a store opens, and may open two stores. */
const retries = { pauseMs: 20, attempts: 500 };

/** Makes the file, which SQLite would make readable by all. An existing file is not opened: closing it would release this process's locks. */
export function makeFile(path: string, storeName: string): void {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() === true) {
    throw new StoreError(
      `${storeName} is a directory; point "store" at a file in it, such as "sqlite:data/postern.db".`,
    );
  }
  // SQLite would take it for a new database, and delete the log.
  if (sizeOf(path) === 0 && sizeOf(`${path}-wal`) > 0) {
    throw new StoreError(
      `${storeName} is damaged: the file is empty, and the log beside it (-wal) is not. Restore it from a backup; to start anew, move both away.`,
    );
  }
  makeDirectory(dirname(path), 0o700);
  // The path may be a symbolic link to a missing file, which `wx` takes for an existing one.
  if (!makeOwnFile(path) && !existsSync(path)) closeSync(openSync(path, 'a', 0o600));
}

/** Makes an empty file that only its owner can read, while SQLite would make it readable by all; false where there is one already. */
export function makeOwnFile(path: string): boolean {
  try {
    closeSync(openSync(path, 'wx', 0o600));
    return true;
  } catch (thrown) {
    if (codeOf(thrown) === 'EEXIST') return false;
    throw thrown;
  }
}

/** Copies the database as the connection sees it into an empty file, synced to the disk. Others can write meanwhile. */
export function copyInto(database: DatabaseSync, file: string): void {
  database.prepare('VACUUM INTO ?').run(file);
  const written = openSync(file, 'r+');
  fsyncSync(written);
  closeSync(written);
}

const sizeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0;

/** Set first on every connection. Temporary data stays in memory, as SQLite's directories for temporary files may be read-only. */
const common = 'PRAGMA temp_store = MEMORY; PRAGMA trusted_schema = OFF';

/** Opens a connection with the common options; `timeout` is how long a statement waits for locks, in milliseconds. */
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

/** Cache of the writing connection. With the default 2 MB, an import writes its index pages to the log early, and reads and writes them again. */
const writerCacheKiB = 8 * 1024;

/** A statement that opens the log by reading: if another program deletes the log, the open file is the only access to its content. */
const openLog = 'SELECT count(*) FROM sqlite_schema';

/** Opens a connection whose commits are synced, for data that must survive a power cut. */
export async function openDurable(path: string, storeName: string): Promise<DatabaseSync> {
  const database = open(path, { timeout: 0, enableForeignKeyConstraints: true });
  try {
    const mode = await whenFree(() => database.prepare('PRAGMA journal_mode = WAL').get()?.journal_mode);
    if (mode !== 'wal' && mode !== 'memory') {
      throw new StoreError(`${storeName} lies on a file system without shared memory; point "store" at a local disk.`);
    }
    database.exec(`PRAGMA synchronous = FULL; PRAGMA cache_size = -${writerCacheKiB}; ${openLog}`);
    return database;
  } catch (thrown) {
    database.close();
    throw thrown;
  }
}

/** Opens a connection that sees all commits, and waits for no writer. */
export function openReader(path: string): DatabaseSync {
  const database = open(path, { timeout: 500 });
  database.exec(`PRAGMA query_only = ON; ${openLog}`);
  return database;
}

/** Copies SQLite's log into the file, and empties the log. False where another connection is in the way. */
export function emptyLog(path: string): boolean {
  const database = open(path, { timeout: 0 });
  try {
    return database.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get()?.busy === 0;
  } finally {
    database.close();
  }
}

/** Calls again until no other connection is in the way. */
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

/** A file lock that ends with the process, however the process ends. Node has none, so this uses SQLite's. */
export interface FileLock {
  release(): void;
}

/** Locks the file; undefined where it is locked already. Nothing else in this process may open it: closing it would release the lock. */
export function lockFile(path: string): FileLock | undefined {
  makeOwnFile(path);
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
