/** Writes and reads the journal's segments: preallocated files of fixed size that hold frames. */

import { Buffer } from 'node:buffer';
import { join } from 'node:path';
import { codeOf } from '../lib/thrown.ts';
import type { JournalFiles } from './journal-files.ts';
import {
  type Frame,
  type FrameHead,
  findMark,
  headBytes,
  isWhole,
  lineEnd,
  markBytes,
  readHead,
} from './journal-frame.ts';
import { endsAnItem } from './journal-items.ts';

const nameEnd = '.journal';
const digits = 10;

/** The path of a segment's file; file names sort as the numbers do. */
export function segmentPath(directory: string, number: number): string {
  return join(directory, String(number).padStart(digits, '0') + nameEnd);
}

/** The numbers of existing segments, rising. */
export function listSegments(directory: string, files: JournalFiles): number[] {
  const numbers: number[] = [];
  for (const name of files.list(directory)) {
    if (!name.endsWith(nameEnd)) continue;
    const number = Number(name.slice(0, -nameEnd.length));
    if (Number.isSafeInteger(number) && number > 0) numbers.push(number);
  }
  return numbers.sort((a, b) => a - b);
}

/** Deletes a file. The writer's and the importer's thread may both delete it, so a missing file is no error. */
export function removeIfThere(path: string, files: JournalFiles): void {
  try {
    files.remove(path);
  } catch (thrown) {
    if (!isGone(thrown)) throw thrown;
  }
}

export function openIfThere(directory: string, number: number, files: JournalFiles): SegmentReader | undefined {
  try {
    return new SegmentReader(directory, number, files);
  } catch (thrown) {
    if (!isGone(thrown)) throw thrown;
    return undefined;
  }
}

const isGone = (thrown: unknown): boolean => codeOf(thrown) === 'ENOENT';

const zeros = Buffer.alloc(1024 * 1024);

/** Creates and preallocates the file asynchronously. After a failure nothing is left of it. */
export async function allocateSegment(
  directory: string,
  number: number,
  bytes: number,
  files: JournalFiles,
  isDurable: boolean,
): Promise<SegmentWriter> {
  const path = segmentPath(directory, number);
  const file = await files.create(path);
  try {
    for (let position = 0; position < bytes; ) {
      const most = Math.min(zeros.length, bytes - position);
      const written = await files.writeLater(file, zeros.subarray(0, most), position);
      if (written === 0) throw new Error('the file takes no more');
      position += written;
    }
    if (isDurable) {
      await files.sync(file);
      await files.syncDirectory(directory);
    }
  } catch (thrown) {
    files.close(file);
    removeIfThere(path, files);
    throw thrown;
  }
  return new SegmentWriter(path, number, bytes, file, files);
}

/** Ignores a failure, as those who waited for the write have been notified. */
const ignore = (): void => undefined;

export class SegmentWriter {
  readonly path: string;
  readonly number: number;
  readonly bytes: number;
  readonly #file: number;
  readonly #files: JournalFiles;
  offset = 0;
  #writing: Promise<void> | undefined = undefined;

  constructor(path: string, number: number, bytes: number, file: number, files: JournalFiles) {
    this.path = path;
    this.number = number;
    this.bytes = bytes;
    this.#file = file;
    this.#files = files;
  }

  get freeBytes(): number {
    return this.bytes - this.offset;
  }

  /** Writes a frame. Throws where it could not be written completely; readers ignore a partial frame. */
  append(frame: Buffer): void {
    for (let done = 0; done < frame.length; ) {
      const written = this.#files.write(this.#file, done === 0 ? frame : frame.subarray(done), this.offset + done);
      if (written === 0) throw new Error('the file takes no more');
      done += written;
    }
    this.offset += frame.length;
  }

  /** Writes a frame by a thread; with `isDurable`, also waits until it is on the disk. The bytes must not change meanwhile. */
  appendLater(frame: Buffer, isDurable: boolean): Promise<void> {
    this.#writing = this.#writeLater(frame, isDurable).finally(() => {
      this.#writing = undefined;
    });
    return this.#writing;
  }

  async #writeLater(frame: Buffer, isDurable: boolean): Promise<void> {
    for (let done = 0; done < frame.length; ) {
      const rest = done === 0 ? frame : frame.subarray(done);
      const written = await this.#files.writeLater(this.#file, rest, this.offset + done);
      if (written === 0) throw new Error('the file takes no more');
      done += written;
    }
    this.offset += frame.length;
    if (isDurable) await this.sync();
  }

  isThere(): boolean {
    return this.#files.isLinked(this.#file);
  }

  sync(): Promise<void> {
    return this.#files.sync(this.#file);
  }

  /** Closes the file, after a running write: else another file could get its number, and the frame. */
  close(): void {
    if (this.#writing === undefined) this.#files.close(this.#file);
    else
      this.#writing
        .catch(ignore)
        .then(() => this.#files.close(this.#file))
        .catch(ignore);
  }

  remove(): void {
    this.#files.close(this.#file);
    removeIfThere(this.path, this.#files);
  }
}

const windowBytes = 256 * 1024;

export interface Tail {
  /** Offset at which the next whole frame begins; undefined where none follows. */
  readonly next: number | undefined;
  /** Number of unreadable bytes; 0 where what follows is empty, or an incomplete frame. */
  readonly damagedBytes: number;
}

export class SegmentReader {
  readonly number: number;
  readonly bytes: number;
  readonly #file: number;
  readonly #files: JournalFiles;
  #window: Buffer = Buffer.alloc(0);
  #windowStart = 0;

  constructor(directory: string, number: number, files: JournalFiles) {
    this.number = number;
    this.#files = files;
    this.#file = files.open(segmentPath(directory, number), 'r');
    this.bytes = files.size(this.#file);
  }

  get isBegun(): boolean {
    const first = this.#read(0, 1);
    return first.length === 1 && first[0] !== 0;
  }

  /** The frame at an offset; undefined where none begins there, or it is not complete yet. */
  frameAt(offset: number): Frame | undefined {
    return this.#frameInWindow(offset) ?? (this.#load(offset) ? this.#frameInWindow(offset) : undefined);
  }

  /** The head of the frame at an offset, which suffices for counting. */
  headAt(offset: number): FrameHead | undefined {
    const bytes = this.#read(offset, headBytes);
    const head = bytes.length < headBytes ? undefined : readHead(bytes, 0);
    return head !== undefined && offset + headBytes + head.length <= this.bytes ? head : undefined;
  }

  /** Examines the remainder of a finished segment, where no whole frame follows. */
  tailAt(offset: number): Tail {
    const rest = this.#read(offset, this.bytes - offset);
    for (let at = findMark(rest, 1); at >= 0; at = findMark(rest, at + 1)) {
      const head = at + headBytes <= rest.length ? readHead(rest, at) : undefined;
      if (head === undefined || at + headBytes + head.length > rest.length) continue;
      if (isWhole(rest, at, head)) return { next: offset + at, damagedBytes: at };
    }
    const used = usedBytes(rest);
    return { next: undefined, damagedBytes: isTorn(rest, used) ? 0 : used };
  }

  close(): void {
    this.#files.close(this.#file);
  }

  #frameInWindow(offset: number): Frame | undefined {
    const at = offset - this.#windowStart;
    if (at < 0 || at + headBytes > this.#window.length) return undefined;
    const head = readHead(this.#window, at);
    if (head === undefined) return undefined;
    const end = at + headBytes + head.length;
    if (end > this.#window.length || !isWhole(this.#window, at, head)) return undefined;
    const payload = this.#window.subarray(at + headBytes, end);
    return { atMs: head.atMs, end: offset + headBytes + head.length, payload, isItems: head.isItems };
  }

  /** Reads a part of the file again, as new frames may have come. False where there is certainly none. */
  #load(offset: number): boolean {
    const head = this.headAt(offset);
    if (head === undefined) return false;
    this.#window = this.#read(offset, Math.max(windowBytes, headBytes + head.length));
    this.#windowStart = offset;
    return true;
  }

  #read(offset: number, bytes: number): Buffer {
    const length = Math.max(0, Math.min(bytes, this.bytes - offset));
    const into = Buffer.allocUnsafeSlow(length);
    let done = 0;
    while (done < length) {
      const read = this.#files.read(this.#file, into.subarray(done), length - done, offset + done);
      if (read === 0) break;
      done += read;
    }
    return into.subarray(0, done);
  }
}

const blockBytes = 4_096;

/** The number of bytes without the preallocated zeros at the end. */
function usedBytes(bytes: Buffer): number {
  let end = bytes.length;
  while (end >= blockBytes && bytes.compare(zeros, 0, blockBytes, end - blockBytes, end) === 0) end -= blockBytes;
  while (end > 0 && bytes[end - 1] === 0) end--;
  return end;
}

/** Whether the rest is an incomplete frame of a process that ended. One that ends with a whole item or line may be damaged, and is reported. */
function isTorn(rest: Buffer, used: number): boolean {
  if (used < headBytes) return used < markBytes || findMark(rest, 0) === 0;
  const head = readHead(rest, 0);
  if (head === undefined || headBytes + head.length > rest.length) return false;
  if (used >= headBytes + head.length) return false;
  if (rest[used - 1] !== lineEnd) return true;
  return head.isItems && !endsAnItem(rest.subarray(headBytes, used - 1));
}
