/** Opens the store that a URL names. */

import { existsSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Store } from '../core/store/store.ts';
import { type Clock, systemClock } from '../lib/clock.ts';
import type { StoreLoss } from './sqlite/sqlite-guard.ts';
import { migrateSqliteFile, openSqliteFile, openSqliteMemory, readMissingOfFile } from './sqlite/sqlite-store.ts';
import { StoreError } from './store-error.ts';

export interface StoreLocation {
  readonly cwd: string;
}

export interface OpenStoreOptions extends StoreLocation {
  readonly clock?: Clock;
  /** Reads and writes a SQLite file in a thread, so that the process never waits for the disk. */
  readonly inThread?: boolean;
  /** How long an unreachable server is retried; undefined: it is an error at once. */
  readonly patienceMs?: number;
  /** Called when the files of a SQLite store are lost; without a thread of its own, the process watches them while the store is open. */
  readonly onLoss?: (loss: StoreLoss) => void;
  /** Called with a sentence for the operator before each retry. */
  readonly onRetry?: (sentence: string) => void;
}

export type StoreUrl =
  | { readonly kind: 'memory' }
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'postgres'; readonly url: string };

/** Whether a store seems to exist, by the files on the disk; opening it would create one. */
export function storeExists(url: string, { cwd }: StoreLocation): boolean {
  const location = parseStoreUrl(url, cwd);
  return location.kind === 'postgres' || (location.kind === 'file' && existsSync(location.path));
}

/** Disk space that the store uses on this machine; undefined for a server. */
export async function storeBytes(url: string, { cwd }: StoreLocation): Promise<number | undefined> {
  const location = parseStoreUrl(url, cwd);
  if (location.kind !== 'file') return undefined;
  const sizes = await Promise.all([location.path, `${location.path}-wal`].map(sizeOf));
  return sizes.reduce((sum, size) => sum + size, 0);
}

async function sizeOf(path: string): Promise<number> {
  try {
    return (await stat(path)).size;
  } catch {
    return 0; // the log exists beside the file only at times
  }
}

/** Opens a store and migrates it. URLs: `sqlite:path/to/file.db`, `sqlite::memory:` for a temporary store, `postgres://...`. Throws a StoreError. */
export async function openStore(url: string, options: OpenStoreOptions): Promise<Store> {
  const { cwd, clock = systemClock, inThread = false, onLoss } = options;
  const location = parseStoreUrl(url, cwd);
  switch (location.kind) {
    case 'memory':
      return openSqliteMemory(clock);
    case 'file':
      return openSqliteFile(location.path, { clock, inThread, onLoss });
    case 'postgres': {
      const { openPostgresStore } = await loadPostgres();
      return openPostgresStore(location.url, { ...options, clock });
    }
  }
}

/** Runs the pending migrations and returns their names; with `backTo`, the names of those set aside for that version. */
export async function migrateStore(url: string, { cwd }: StoreLocation, backTo?: string): Promise<string[]> {
  const location = parseStoreUrl(url, cwd);
  if (location.kind === 'memory') return [];
  if (location.kind === 'file') return migrateSqliteFile(location.path, backTo);
  return (await loadPostgres()).migratePostgres(location.url, backTo);
}

export async function readMissingMigrations(url: string, { cwd }: StoreLocation): Promise<string[]> {
  const location = parseStoreUrl(url, cwd);
  if (location.kind === 'memory') return [];
  if (location.kind === 'file') return readMissingOfFile(location.path);
  return (await loadPostgres()).readMissingOfPostgres(location.url);
}

/** Loads PostgreSQL's code on demand, to spare others the time. */
function loadPostgres() {
  return import('./postgres/postgres-store.ts');
}

/** Parses a store's URL. Messages never contain the URL, because servers' URLs hold passwords. */
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
