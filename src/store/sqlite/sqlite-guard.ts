/** Detects that files of an open SQLite database were deleted or replaced, refuses writes from then on, and saves the visible data. */

import {
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { reasonOf } from '../../lib/thrown.ts';
import { StoreError } from '../store-error.ts';
import { copyInto, makeOwnFile } from './sqlite-file.ts';

/** Endings of the three files of a store (database, log, log index), which all processes must have open. */
const suffixes = ['', '-wal', '-shm'];
const savedMark = '-saved-';
const unfinishedEnd = '.part';

const look = (file: string) => statSync(file, { bigint: true, throwIfNoEntry: false });

/** The files that a connection opened, to compare them with those on the disk. */
export class FileGuard {
  readonly #database: DatabaseSync;
  readonly #storeName: string;
  readonly #files: readonly string[];
  readonly #inodes: readonly (bigint | undefined)[];
  /** Path for the saved contents; the same in every process that has the same log open. */
  readonly #savedFile: string;

  constructor(database: DatabaseSync, path: string, storeName: string) {
    const real = realpathSync(path);
    const found = suffixes.map((suffix) => look(real + suffix));
    const [, log] = found;
    this.#database = database;
    this.#storeName = storeName;
    this.#files = suffixes.map((suffix) => real + suffix);
    this.#inodes = found.map((one) => one?.ino);
    this.#savedFile = `${real}${savedMark}${log?.birthtimeMs.toString(36)}${log?.ino.toString(36)}`;
  }

  /** Compares the files; throws a StoreError where one was deleted or replaced. */
  check(): void {
    const lost = this.#files.find((file, n) => this.#inodes[n] === undefined || look(file)?.ino !== this.#inodes[n]);
    if (lost === undefined) return;
    const saved = existsSync(this.#savedFile) ? ` What was in the store is saved in "${this.#savedFile}".` : '';
    throw new StoreError(
      `${this.#storeName} takes no more writes: "${basename(lost)}" was deleted or replaced while it was open.${saved}`,
    );
  }

  listSaved(): string[] {
    const [file = ''] = this.#files;
    return readdirSync(dirname(file))
      .filter((name) => name.startsWith(`${basename(file)}${savedMark}`) && !name.endsWith(unfinishedEnd))
      .map((name) => join(dirname(file), name));
  }

  /** Saves what the connection sees in a file that only its owner can read; returns its path, or undefined if that is not possible yet. */
  save(): string | undefined {
    const file = this.#savedFile;
    if (existsSync(file)) return file;
    if (this.#database.isTransaction) return undefined;
    const part = `${file}${unfinishedEnd}`;
    // Another process of the same store is writing it.
    if (!makeOwnFile(part)) return undefined;
    try {
      copyInto(this.#database, part);
      renameSync(part, file);
    } catch (thrown) {
      rmSync(part, { force: true });
      throw thrown;
    }
    const directory = openSync(dirname(file), 'r');
    fsyncSync(directory);
    closeSync(directory);
    return file;
  }
}

export type StoreLoss =
  | { readonly kind: 'lost' | 'unsaved'; readonly reason: string }
  /** `saved`: this process saved the contents in a file. `found`: a process that has ended did. */
  | { readonly kind: 'saved' | 'found'; readonly file: string };

const lookEveryMs = 500;
const retryEveryMs = 10_000;

/** Checks the files until closed. Once they are lost it saves the contents, with retries. */
export function watchFiles(guard: FileGuard, onLoss: (loss: StoreLoss) => void): { close(): void } {
  for (const file of guard.listSaved()) onLoss({ kind: 'found', file });
  let step: () => number | undefined = notice;
  let timer = setTimeout(run, lookEveryMs).unref();

  function run(): void {
    const pauseMs = step();
    if (pauseMs !== undefined) timer = setTimeout(run, pauseMs).unref();
  }

  function notice(): number {
    try {
      guard.check();
    } catch (thrown) {
      onLoss({ kind: 'lost', reason: reasonOf(thrown) });
      step = save;
      return 0;
    }
    return lookEveryMs;
  }

  /** Tries to save; returns when to try again, or undefined when done. */
  function save(): number | undefined {
    try {
      const file = guard.save();
      if (file === undefined) return lookEveryMs;
      onLoss({ kind: 'saved', file });
      return undefined;
    } catch (thrown) {
      onLoss({ kind: 'unsaved', reason: reasonOf(thrown) });
      return retryEveryMs;
    }
  }

  return { close: () => clearTimeout(timer) };
}
