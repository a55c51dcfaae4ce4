/** Wraps the file operations that the journal uses, so that tests can make each fail. */

import type { Buffer } from 'node:buffer';
import {
  closeSync,
  fstatSync,
  fdatasync as nodeDataSync,
  open as nodeOpen,
  fsync as nodeSync,
  write as nodeWrite,
  openSync,
  readdirSync,
  readSync,
  truncateSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { promisify } from 'node:util';
import { makeDirectory } from '../lib/make-directory.ts';

export interface JournalFiles {
  makeDirectory(path: string): void;
  list(path: string): string[];
  open(path: string, flags: 'r' | 'r+'): number;
  /** Creates a file that must not exist, asynchronously. */
  create(path: string): Promise<number>;
  close(file: number): void;
  size(file: number): number;
  /** Whether the file still has a name in a directory. */
  isLinked(file: number): boolean;
  read(file: number, into: Buffer, length: number, position: number): number;
  /** Writes at a position; may write fewer bytes. */
  write(file: number, bytes: Buffer, position: number): number;
  /** Writes in the same way, but asynchronously. */
  writeLater(file: number, bytes: Buffer, position: number): Promise<number>;
  /** Resolves when written data is on the disk. */
  sync(file: number): Promise<void>;
  /** Resolves when the directory's entries are on the disk. */
  syncDirectory(path: string): Promise<void>;
  truncate(path: string): void;
  remove(path: string): void;
}

const dataSync = promisify(nodeDataSync);
const fullSync = promisify(nodeSync);
const openLater = promisify(nodeOpen);

export const systemFiles: JournalFiles = {
  makeDirectory: (path) => makeDirectory(path, 0o700),
  list: (path) => readdirSync(path),
  open: (path, flags) => openSync(path, flags, 0o600),
  create: (path) => openLater(path, 'wx', 0o600),
  close: (file) => closeSync(file),
  size: (file) => fstatSync(file).size,
  isLinked: (file) => fstatSync(file).nlink > 0,
  read: (file, into, length, position) => readSync(file, into, 0, length, position),
  write: (file, bytes, position) => writeSync(file, bytes, 0, bytes.length, position),
  writeLater: (file, bytes, position) =>
    new Promise((resolve, reject) => {
      nodeWrite(file, bytes, 0, bytes.length, position, (error, written) => {
        if (error === null) resolve(written);
        else reject(error);
      });
    }),
  sync: dataSync,
  async syncDirectory(path) {
    const directory = openSync(path, 'r');
    try {
      await fullSync(directory);
    } finally {
      closeSync(directory);
    }
  },
  truncate: (path) => truncateSync(path),
  remove: (path) => unlinkSync(path),
};
