/** Opens the store of a URL. */

import { existsSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Store } from '../core/store/store.ts';
import { type Clock, systemClock } from '../lib/clock.ts';
import type { StoreLoss } from './sqlite/sqlite-guard.ts';
import { migrateSqliteFile, openSqliteFile, openSqliteMemory, readMissingOfFile } from './sqlite/sqlite-store.ts';
import { StoreError } from './store-error.ts';

export interface StoreLocation {
  /** What relative paths are relative to. */
  readonly cwd: string;
}

export interface OpenStoreOptions extends StoreLocation {
  readonly clock?: Clock;
  /** A SQLite file is read and written in a thread of its own, so that the process never waits for the disk. */
  readonly inThread?: boolean;
  /** A server that is away is tried again for so long; it is an error at once where this is left out. */
  readonly patienceMs?: number;
  /** Has the files of a SQLite store watched while it is open, where it is in no thread of its own. */
  readonly onLoss?: (loss: StoreLoss) => void;
  /** Told, in a sentence, each time it is tried again. */
  readonly onRetry?: (sentence: string) => void;
}

export type StoreUrl =
  | { readonly kind: 'memory' }
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'postgres'; readonly url: string };

/** Whether a store was made there already, as far as a look at the disk tells; to open it would make one. */
export function storeExists(url: string, { cwd }: StoreLocation): boolean {
  const place = parseStoreUrl(url, cwd);
  return place.kind === 'postgres' || (place.kind === 'file' && existsSync(place.path));
}

/** What it takes of this machine's disk; undefined where it is elsewhere. */
export async function storeBytes(url: string, { cwd }: StoreLocation): Promise<number | undefined> {
  const place = parseStoreUrl(url, cwd);
  if (place.kind !== 'file') return undefined;
  const sizes = await Promise.all([place.path, `${place.path}-wal`].map(sizeOf));
  return sizes.reduce((sum, size) => sum + size, 0);
}

async function sizeOf(path: string): Promise<number> {
  try {
    return (await stat(path)).size;
  } catch {
    return 0; // the log beside the file is there only now and then
  }
}

/**
 * `sqlite:path/to/file.db`, `sqlite::memory:` for one that is gone when it is closed, or `postgres://user:password@host/database`.
 * Brings its schema up to date. Throws a StoreError.
 */
export async function openStore(url: string, options: OpenStoreOptions): Promise<Store> {
  const { cwd, clock = systemClock, inThread = false, onLoss } = options;
  const place = parseStoreUrl(url, cwd);
  switch (place.kind) {
    case 'memory':
      return openSqliteMemory(clock);
    case 'file':
      return openSqliteFile(place.path, { clock, inThread, onLoss });
    case 'postgres': {
      const { openPostgresStore } = await loadPostgres();
      return openPostgresStore(place.url, { ...options, clock });
    }
  }
}

/** Runs the migrations that are missing, and gives back their names; or those that are set aside for the version to go back to. */
export async function migrateStore(url: string, { cwd }: StoreLocation, backTo?: string): Promise<string[]> {
  const place = parseStoreUrl(url, cwd);
  switch (place.kind) {
    case 'memory':
      return [];
    case 'file':
      return migrateSqliteFile(place.path, backTo);
    case 'postgres':
      return (await loadPostgres()).migratePostgres(place.url, backTo);
  }
}

/** The names of the migrations that are missing; changes nothing. */
export async function readMissingMigrations(url: string, { cwd }: StoreLocation): Promise<string[]> {
  const place = parseStoreUrl(url, cwd);
  switch (place.kind) {
    case 'memory':
      return [];
    case 'file':
      return readMissingOfFile(place.path);
    case 'postgres':
      return (await loadPostgres()).readMissingOfPostgres(place.url);
  }
}

/** Only who has a PostgreSQL waits for its client to be loaded. */
function loadPostgres() {
  return import('./postgres/postgres-store.ts');
}

/** Never the URL itself in a message: those of servers hold passwords. */
export function parseStoreUrl(url: string, cwd: string): StoreUrl {
  const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(url)?.[1]?.toLowerCase();
  if (scheme === 'postgres' || scheme === 'postgresql') return { kind: 'postgres', url };
  if (scheme !== 'sqlite') {
    const found = scheme === undefined ? 'has no scheme' : `has the scheme "${scheme}:"`;
    throw new StoreError(
      `"store" ${found}; write "sqlite:" and a path, such as "sqlite:data/postern.db", or "postgres://user:password@host/database".`,
    );
  }
  const path = url.slice('sqlite:'.length);
  if (path === ':memory:') return { kind: 'memory' };
  if (path === '' || path.startsWith('//') || path.includes('\0')) {
    throw new StoreError('"store" holds no path behind "sqlite:"; write it plain, such as "sqlite:data/postern.db".');
  }
  return { kind: 'file', path: resolve(cwd, path) };
}
