/** A small in-memory file system, mounted as a disk that is soon full. */

import { execFileSync } from 'node:child_process';
import { closeSync, fstatSync, ftruncateSync, openSync, rmdirSync, rmSync, writeSync } from 'node:fs';
import { mkdir, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { codeOf } from '../../../../src/lib/thrown.ts';

export interface SmallDisk {
  readonly path: string;
  /** A file takes all the room that is left, but so much. */
  fill(spareBytes?: number): void;
  /** That file is deleted. */
  empty(): void;
  /** Called when no process uses it any more. */
  unmount(): void;
}

/** Why there can be none here; undefined where it can. Where CI is set, nothing is left out: `mountSmallDisk` fails. */
export async function whyNoSmallDisk(): Promise<string | undefined> {
  if (process.env.CI === 'true') return undefined;
  if (process.platform !== 'linux') return 'only Linux mounts one';
  try {
    (await mountSmallDisk(1)).unmount();
    return undefined;
  } catch {
    return 'it takes the right to mount a file system';
  }
}

export async function mountSmallDisk(mebibytes: number): Promise<SmallDisk> {
  const parent = await mkdtemp(join(tmpdir(), 'postern-disk-'));
  const path = join(parent, 'disk');
  await mkdir(path);
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${mebibytes}m`, 'tmpfs', path], { stdio: 'pipe' });
  } catch (error) {
    rmSync(parent, { recursive: true });
    throw error;
  }
  const filler = join(path, 'filler');
  let isMounted = true;
  const unmount = (): void => {
    if (!isMounted) return;
    isMounted = false;
    process.off('exit', unmount);
    // Also where somebody still holds a file in it.
    execFileSync('umount', ['-l', path], { stdio: 'pipe' });
    rmdirSync(path);
    rmdirSync(parent);
  };
  process.once('exit', unmount);
  return {
    path,
    unmount,
    fill: (spareBytes = 0) => fill(filler, spareBytes),
    empty: () => rmSync(filler, { force: true }),
  };
}

function fill(path: string, spareBytes: number): void {
  const file = openSync(path, 'w');
  try {
    for (let piece = Buffer.alloc(1024 * 1024); piece.length >= 512; ) {
      if (!takes(file, piece)) piece = piece.subarray(0, piece.length / 2);
    }
    ftruncateSync(file, Math.max(0, fstatSync(file).size - spareBytes));
  } finally {
    closeSync(file);
  }
}

/** Memory is given out in pages: what is written in part is as good as whole. */
function takes(file: number, piece: Buffer): boolean {
  try {
    return writeSync(file, piece) > 0;
  } catch (error) {
    if (codeOf(error) === 'ENOSPC') return false;
    throw error;
  }
}
