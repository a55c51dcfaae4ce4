/** A lock on a file that ends with its process, however that one ends: Node has none, SQLite brings one. */

import { closeSync, openSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { codeOf } from '../../lib/thrown.ts';

export interface FileLock {
  release(): void;
}

const busyCode = 5;

/**
 * Undefined where another process, or another part of this one, has it. Nothing else in this process may open the file: on
 * closing it, the system would take the lock away.
 */
export function lockFile(path: string): FileLock | undefined {
  makeFile(path);
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
function makeFile(path: string): void {
  try {
    closeSync(openSync(path, 'wx', 0o600));
  } catch (thrown) {
    if (codeOf(thrown) !== 'EEXIST') throw thrown;
  }
}

function isBusy(thrown: unknown): boolean {
  return thrown instanceof Error && 'errcode' in thrown && Number(thrown.errcode) % 256 === busyCode;
}
