/** Opens the store that a URL names. */

import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Store } from '../core/store.ts';
import { type Clock, systemClock } from '../lib/clock.ts';
import { openSqliteStore } from './sqlite-store.ts';
import { StoreError } from './store-error.ts';

export interface OpenStoreOptions {
  /** What relative paths are relative to. */
  readonly cwd: string;
  readonly clock?: Clock;
}

/** Whether a store was made there already; to open it would make one. */
export function storeExists(url: string, { cwd }: OpenStoreOptions): boolean {
  const path = /^sqlite:(?!:memory:$)(.+)$/i.exec(url)?.[1];
  return path !== undefined && existsSync(resolve(cwd, path));
}

/** `sqlite:path/to/file.db`, or `sqlite::memory:` for one that is gone when it is closed. Throws a StoreError. */
export async function openStore(url: string, { cwd, clock = systemClock }: OpenStoreOptions): Promise<Store> {
  const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(url)?.[1];
  // Never the URL itself in a message: those of other databases hold passwords.
  if (scheme?.toLowerCase() !== 'sqlite') {
    const found = scheme === undefined ? 'has no scheme' : `has the scheme "${scheme}:"`;
    throw new StoreError(`"store" ${found}; write "sqlite:" and a path, such as "sqlite:data/postern.db".`);
  }
  const path = url.slice('sqlite:'.length);
  if (path === ':memory:') return openSqliteStore(undefined, clock);
  if (path === '' || path.startsWith('//') || path.includes('\0')) {
    throw new StoreError('"store" holds no path behind "sqlite:"; write it plain, such as "sqlite:data/postern.db".');
  }
  return openSqliteStore(resolve(cwd, path), clock);
}
