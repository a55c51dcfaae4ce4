/** Prepares the journal's next segments in advance, so that a full disk is noticed early. */

import type { Log } from '../core/log.ts';
import { codeOrReasonOf } from './journal-error.ts';
import type { JournalFiles } from './journal-files.ts';
import { allocateSegment, type SegmentWriter } from './journal-segment.ts';

export interface SupplyOptions {
  readonly directory: string;
  readonly files: JournalFiles;
  readonly segmentBytes: number;
  readonly firstNumber: number;
  /** Whether prepared segments must be on the disk before use. */
  readonly isDurable: boolean;
  readonly retryMs: number;
  readonly log: Log | undefined;
  /** Called when a segment becomes available, or none can be had for now. */
  readonly onChange: () => void;
}

/** With this many prepared segments, the disk is considered to work. */
const mostSpares = 2;

export class SegmentSupply {
  readonly #options: SupplyOptions;
  #current: SegmentWriter | undefined = undefined;
  #spares: SegmentWriter[] = [];
  #nextNumber: number;
  #growing: Promise<void> | undefined = undefined;
  #retry: NodeJS.Timeout | undefined = undefined;
  #fault: unknown = undefined;
  /** The failure was logged, but its end was not yet. */
  #isReported = false;
  #isClosed = false;

  constructor(options: SupplyOptions) {
    this.#options = options;
    this.#nextNumber = options.firstNumber;
  }

  get current(): SegmentWriter | undefined {
    return this.#current;
  }

  /** Why there is no further segment; undefined where there is one, or soon will be. */
  get fault(): unknown {
    return this.#fault;
  }

  get isEmpty(): boolean {
    return this.#current === undefined && this.#spares.length === 0;
  }

  /** Whether there is space for so many bytes in one piece, and for the reserve besides. */
  hasSpace(bytes: number, reserveBytes: number): boolean {
    let spareBytes = this.#spareBytes();
    const current = this.#current;
    if (current !== undefined && current.freeBytes >= bytes && current.freeBytes - bytes + spareBytes >= reserveBytes)
      return true;
    for (const spare of this.#spares) {
      if (spare.freeBytes >= bytes && spareBytes - bytes >= reserveBytes) return true;
      spareBytes -= spare.freeBytes;
    }
    return false;
  }

  /** Returns a segment with space for so many bytes; the segment before it is finished. */
  take(bytes: number): SegmentWriter | undefined {
    if (this.#current !== undefined && this.#current.freeBytes >= bytes) return this.#current;
    const index = this.#spares.findIndex((spare) => spare.freeBytes >= bytes);
    if (index < 0) return undefined;
    // Segments are written in the order of their numbers.
    for (const tooSmall of this.#spares.splice(0, index)) this.#discard(tooSmall);
    this.#letGo();
    this.#current = this.#spares.shift();
    return this.#current;
  }

  /** Prepares missing segments, one at a time. Resolves after the next one, or its failure. */
  grow(waitingBytes: number, reserveBytes: number): Promise<void> | undefined {
    if (this.#growing !== undefined) return this.#growing;
    if (this.#retry !== undefined || this.#isClosed) return undefined;
    const { segmentBytes } = this.#options;
    const hasSpares = this.#spareBytes() >= Math.max(segmentBytes, reserveBytes);
    if (hasSpares && (waitingBytes === 0 || this.hasSpace(waitingBytes, reserveBytes))) return undefined;
    this.#growing = this.#allocate(Math.max(segmentBytes, waitingBytes));
    return this.#growing;
  }

  /** Gives up the current segment, which cannot be written any more. `isHopeless`: another one could not be either. */
  abandon(thrown: unknown, isHopeless: boolean): void {
    this.#letGo();
    if (isHopeless) this.#fail(thrown);
  }

  /** Reports that no segment could be had in time; the one being prepared is for later. */
  giveUpWaiting(thrown: unknown): void {
    if (this.#fault === undefined) this.#fail(thrown);
  }

  works(): void {
    if (!this.#isReported || this.#fault !== undefined) return;
    this.#isReported = false;
    this.#options.log?.info('journal writable again', { directory: this.#options.directory });
  }

  /** Prepares a segment at once, because there will be no later attempt. */
  async tryAgain(): Promise<void> {
    if (this.#fault === undefined) return;
    clearTimeout(this.#retry);
    this.#retry = undefined;
    this.#growing ??= this.#allocate(this.#options.segmentBytes);
    await this.#growing;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#retry);
    await this.#growing;
    this.#letGo();
    for (const spare of this.#spares.splice(0)) this.#discard(spare);
  }

  async #allocate(bytes: number): Promise<void> {
    const { directory, files, isDurable, onChange } = this.#options;
    const number = this.#nextNumber++;
    try {
      const segment = await allocateSegment(directory, number, bytes, files, isDurable);
      this.#fault = undefined;
      this.#spares.push(segment);
    } catch (thrown) {
      this.#fail(thrown);
    } finally {
      this.#growing = undefined;
    }
    if (!this.#isClosed) onChange();
  }

  #fail(thrown: unknown): void {
    const { directory, log, retryMs, onChange } = this.#options;
    this.#fault = thrown;
    if (!this.#isReported) {
      this.#isReported = true;
      log?.error('journal not writable', { directory, reason: codeOrReasonOf(thrown) });
    }
    if (this.#isClosed || this.#retry !== undefined) return;
    this.#retry = setTimeout(() => {
      this.#retry = undefined;
      if (this.#spareBytes() >= this.#options.segmentBytes * mostSpares) {
        this.#fault = undefined;
        onChange();
      } else {
        // Only another attempt shows whether the disk has space again.
        this.#growing ??= this.#allocate(this.#options.segmentBytes);
      }
    }, retryMs);
    this.#retry.unref();
  }

  #spareBytes(): number {
    let bytes = 0;
    for (const spare of this.#spares) bytes += spare.freeBytes;
    return bytes;
  }

  #letGo(): void {
    const segment = this.#current;
    this.#current = undefined;
    if (segment === undefined) return;
    try {
      segment.close();
    } catch (thrown) {
      this.#options.log?.error('journal segment not closed', { path: segment.path, reason: codeOrReasonOf(thrown) });
    }
  }

  #discard(spare: SegmentWriter): void {
    try {
      spare.remove();
    } catch (thrown) {
      this.#options.log?.error('journal segment not deleted', { path: spare.path, reason: codeOrReasonOf(thrown) });
    }
  }
}
