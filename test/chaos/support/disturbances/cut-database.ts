/** A SQLite file with its log and journal as a killed gateway left them, and ways to damage copies. */

import {
  closeSync,
  copyFileSync,
  existsSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';

const database = 'postern.db';
const journalDirectory = 'journal';

/** A directory in which a gateway ran. */
export class Remains {
  readonly directory: string;

  constructor(directory: string) {
    this.directory = directory;
  }

  get databasePath(): string {
    return join(this.directory, database);
  }

  get logPath(): string {
    return `${this.databasePath}-wal`;
  }

  get sharedPath(): string {
    return `${this.databasePath}-shm`;
  }

  get journal(): string {
    return join(this.directory, journalDirectory);
  }

  /** Configuration, database, log, shared memory and journal. */
  copyTo(directory: string): Remains {
    rmSync(directory, { recursive: true, force: true });
    mkdirSync(directory, { recursive: true });
    for (const name of readdirSync(this.directory, { recursive: true, encoding: 'utf8' }).sort()) {
      const [from, to] = [join(this.directory, name), join(directory, name)];
      if (statSync(from).isDirectory()) mkdirSync(to, { recursive: true });
      else if (name.endsWith('.journal')) copyWithHoles(from, to);
      else copyFileSync(from, to);
    }
    return new Remains(directory);
  }

  /** How the log is made up; undefined where there is none. */
  readLog(): LogFacts | undefined {
    if (!existsSync(this.logPath)) return undefined;
    const log = readFileSync(this.logPath);
    if (log.length < logHeadBytes) return undefined;
    const pageBytes = log.readUInt32BE(8);
    const frameBytes = frameHeadBytes + pageBytes;
    const salt = log.subarray(16, 24);
    let frames = 0;
    for (let at = logHeadBytes; at + frameBytes <= log.length; at += frameBytes) {
      // What follows with another salt is of the time before the log was begun anew.
      if (!log.subarray(at + 8, at + 16).equals(salt)) break;
      frames += 1;
    }
    return {
      pageBytes,
      frames,
      carried: this.#carriedFrames(salt),
      offsetOf: (frame) => logHeadBytes + frame * frameBytes,
    };
  }

  /** How many frames of this log are, or may be in part, in the database already: the shared memory knows. */
  #carriedFrames(salt: Buffer): number {
    if (!existsSync(this.sharedPath)) return 0;
    const shared = readFileSync(this.sharedPath);
    // Salts are kept there as they stand in the log.
    if (shared.length < 136 || !shared.subarray(32, 40).equals(salt)) return 0;
    return Math.max(shared.readUInt32LE(96), shared.readUInt32LE(128));
  }
}

export interface LogFacts {
  readonly pageBytes: number;
  /** Of the log as it is; older ones may stand behind them. */
  readonly frames: number;
  readonly carried: number;
  /** Where a frame begins, from 0 on. */
  offsetOf(frame: number): number;
}

const logHeadBytes = 32;
const frameHeadBytes = 24;

/** Segments are mostly zeros at their end: they read the same, and take no time. */
function copyWithHoles(from: string, to: string): void {
  const bytes = readFileSync(from);
  let used = bytes.length;
  while (used > 0 && bytes[used - 1] === 0) used -= 1;
  const file = openSync(to, 'wx', 0o600);
  try {
    writeSync(file, bytes.subarray(0, used));
    ftruncateSync(file, bytes.length);
  } finally {
    closeSync(file);
  }
}

export interface Damage {
  readonly name: string;
  do(path: string): void;
}

export function cutAt(bytes: number): Damage {
  return { name: `cut at byte ${bytes}`, do: (path) => truncateSync(path, bytes) };
}

export function overwrite(at: number, length: number, fill: (index: number) => number, what: string): Damage {
  return {
    name: `${length} bytes from ${at} on ${what}`,
    do(path) {
      const file = openSync(path, 'r+');
      try {
        writeSync(file, Buffer.from(Uint8Array.from({ length }, (_, index) => fill(index) & 0xff)), 0, length, at);
      } finally {
        closeSync(file);
      }
    },
  };
}
