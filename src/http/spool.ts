/** Stores large data in temporary files, which are unlinked at once so that they end with the process. */

import type { Buffer } from 'node:buffer';
import { constants, type Dirent, readdirSync, rmSync } from 'node:fs';
import { type FileHandle, open, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { FileBytes, type StoredBytes } from '../lib/file-bytes.ts';
import { createId } from '../lib/ids.ts';
import { isMapping } from '../lib/is-mapping.ts';
import { makeDirectory } from '../lib/make-directory.ts';

const suffix = '.upload';
/** Flags for creating a file under a new name, without following existing links. */
const anew = constants.O_RDWR | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;

export interface Spool {
  open(): Promise<SpoolFile>;
}

/** Opens a directory for temporary files, and removes those that ended processes left there. The directory may be missing. */
export function createSpool(directory: string): Spool {
  clear(directory);
  return {
    async open() {
      makeDirectory(directory, 0o700);
      const path = join(directory, `${createId(Date.now())}${suffix}`);
      const file = await open(path, anew, 0o600);
      try {
        await unlink(path);
      } catch (error) {
        // Another process that just started may have removed the file first.
        if (!isGone(error)) {
          await file.close();
          throw error;
        }
      }
      return new SpoolFile(file);
    },
  };
}

function clear(directory: string): void {
  let entries: Dirent[];
  try {
    entries = readdirSync(directory, { withFileTypes: true });
  } catch {
    // The directory is not needed yet; the first upload reports an unreadable one.
    return;
  }
  for (const entry of entries) {
    if (entry.name.endsWith(suffix) && !entry.isDirectory()) rmSync(join(directory, entry.name), { force: true });
  }
}

const isGone = (error: unknown): boolean => isMapping(error) && error.code === 'ENOENT';

export class SpoolFile {
  readonly #file: FileHandle;
  #bytes = 0;
  #isClosed = false;

  constructor(file: FileHandle) {
    this.#file = file;
  }

  async append(pieces: readonly Buffer[]): Promise<void> {
    let wanted = 0;
    for (const piece of pieces) wanted += piece.length;
    const { bytesWritten } = await this.#file.writev([...pieces], this.#bytes);
    if (bytesWritten !== wanted) throw new Error(`only ${bytesWritten} of ${wanted} bytes could be written`);
    this.#bytes += wanted;
  }

  whole(): StoredBytes {
    return new FileBytes(this.#file, 0, this.#bytes);
  }

  /** Closes the file after running reads and writes. Idempotent. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#file.close().catch(ignore);
  }
}

/** Ignores a failure to close: the file is gone with its handle, and nobody relies on it. */
function ignore(): void {}
