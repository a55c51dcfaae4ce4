/** Converts errors of SQLite and the file system to messages for the operator. */

import { StoreError } from '../store-error.ts';

/** Sentences for the operator by SQLite's primary result codes, which never change. */
const sentences: Readonly<Record<number, (store: string) => string>> = {
  3: cannotBeWritten,
  5: isHeld,
  6: isHeld,
  8: cannotBeWritten,
  10: (store) => `${store} could not be read or written (the disk reports an error); check the disk and its mount.`,
  11: (store) => `${store} is damaged; stop Postern and restore the file from a backup.`,
  13: (store) => `${store} cannot grow because the disk is full; make room.`,
  14: (store) =>
    `${store} cannot be opened; check that its directory is there, belongs to the user Postern runs as, and is not mounted read-only.`,
  26: (store) => `${store} is no SQLite database; point "store" at another file, or move this one away to start anew.`,
};

export function toStoreError(thrown: unknown, store: string): unknown {
  if (!(thrown instanceof Error) || thrown instanceof StoreError) return thrown;
  if ('errcode' in thrown && typeof thrown.errcode === 'number') {
    const sentence = sentences[thrown.errcode & 0xff];
    return sentence === undefined ? thrown : new StoreError(sentence(store), thrown);
  }
  // An error of node:fs, from before SQLite opened the file.
  if ('syscall' in thrown && 'code' in thrown) return new StoreError(fromFileSystem(thrown.code, store), thrown);
  return thrown;
}

function fromFileSystem(code: unknown, store: string): string {
  switch (code) {
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
      return cannotBeWritten(store);
    case 'ENOENT':
      return `${store} cannot be made: there is no such directory, or its file system takes no files; name a file on a local disk.`;
    case 'ENOTDIR':
    case 'EEXIST':
      return `${store} lies under something that is no directory; point "store" elsewhere.`;
    case 'ENOSPC':
    case 'EDQUOT':
      return `${store} cannot be made because the disk is full; make room.`;
    default:
      return `${store} cannot be opened (${String(code)}); check its path and its directory.`;
  }
}

function cannotBeWritten(store: string): string {
  return `${store} cannot be written; give the user Postern runs as write access to the file and its directory, and check that they are not mounted read-only.`;
}

function isHeld(store: string): string {
  return `${store} is held by another process; end that one, or try again in a moment.`;
}
