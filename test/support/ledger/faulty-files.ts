/** A file system for the journal that fails on request. */

import { type JournalFiles, systemFiles } from '../../../src/journal/journal-files.ts';

export type FileCall = 'create' | 'write' | 'writeLater' | 'sync' | 'syncDirectory' | 'close' | 'remove';

export type Fault =
  /** It throws, and does nothing. */
  | 'fails'
  /** It throws, and did all it should. */
  | 'fails-afterwards'
  /** It does a part of it, and throws the next time. */
  | 'breaks-off'
  /** It does a part of it, and reports that. */
  | 'is-short';

/** Asked before each call, with a number that counts the calls. */
type Judge = (call: FileCall, number: number) => Fault | undefined;

export interface FaultyFiles {
  readonly files: JournalFiles;
  calls(): number;
  judge(by: Judge | undefined): void;
}

class DiskError extends Error {
  readonly code: string;
  readonly syscall = 'write';

  constructor(code: string) {
    super(`${code}: made up by the test`);
    this.code = code;
  }
}

export function createFaultyFiles(code = 'EIO'): FaultyFiles {
  let number = 0;
  let judge: Judge | undefined;
  const broken = new Set<number>();

  /** The effect of a call on the disk, and its result. */
  function around<T>(call: FileCall, act: () => T): T {
    const fault = judge?.(call, number++);
    if (fault === 'fails') throw new DiskError(code);
    const done = act();
    if (fault !== 'fails-afterwards') return done;
    throw new DiskError(code);
  }

  async function aroundLater<T>(call: FileCall, act: () => Promise<T>): Promise<T> {
    const fault = judge?.(call, number++);
    if (fault === 'fails') throw new DiskError(code);
    const done = await act();
    if (fault !== 'fails-afterwards') return done;
    throw new DiskError(code);
  }

  /** The part that is written where not all of it is. */
  function partOf(fault: Fault | undefined, file: number, bytes: Buffer): Buffer {
    if ((fault !== 'breaks-off' && fault !== 'is-short') || bytes.length < 2) return bytes;
    if (fault === 'breaks-off') broken.add(file);
    return bytes.subarray(0, Math.ceil(bytes.length / 2));
  }

  function checkBroken(file: number): void {
    if (broken.delete(file)) throw new DiskError(code);
  }

  return {
    calls: () => number,
    judge(by) {
      judge = by;
      number = 0;
      broken.clear();
    },
    files: {
      ...systemFiles,
      create: (path) => aroundLater('create', () => systemFiles.create(path)),
      write(file, bytes, position) {
        checkBroken(file);
        const fault = judge?.('write', number++);
        if (fault === 'fails') throw new DiskError(code);
        const written = systemFiles.write(file, partOf(fault, file, bytes), position);
        if (fault === 'fails-afterwards') throw new DiskError(code);
        return written;
      },
      async writeLater(file, bytes, position) {
        checkBroken(file);
        const fault = judge?.('writeLater', number++);
        if (fault === 'fails') throw new DiskError(code);
        const written = await systemFiles.writeLater(file, partOf(fault, file, bytes), position);
        if (fault === 'fails-afterwards') throw new DiskError(code);
        return written;
      },
      // There is no power cut here.
      sync: () => aroundLater('sync', async () => undefined),
      syncDirectory: () => aroundLater('syncDirectory', async () => undefined),
      close(file) {
        broken.delete(file);
        around('close', () => systemFiles.close(file));
      },
      remove: (path) => around('remove', () => systemFiles.remove(path)),
    },
  };
}
