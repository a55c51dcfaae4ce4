/** Reads a journal for the import: joins start records with settlements, and reports the outcome of unfinished ones. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ImportedRow, JournalPosition } from '../core/store/ledger.ts';
import { type Joined, Joiner, nothingJoined } from './joiner.ts';
import { type JournalFiles, systemFiles } from './journal-files.ts';
import { type Frame, headBytes } from './journal-frame.ts';
import { listSegments, openIfThere, removeIfThere, type SegmentReader, segmentPath } from './journal-segment.ts';
import { idFile } from './journal-slot.ts';
import { RowsBehind } from './rows-behind.ts';

export interface JournalBatch {
  readonly rows: readonly ImportedRow[];
  /** Up to where the journal is in the store, once these rows are. */
  readonly position: JournalPosition;
  /**
   * Nodes that ended, of which this batch holds the last rows: to be released when the rows are imported, and before
   * `imported` is called. After a restart some are named again; releasing twice changes nothing.
   */
  readonly endedNodes: readonly string[];
  /** What cannot be read any more, in sentences for the log. */
  readonly damage: readonly string[];
  /** It was enough for one batch: more may stand there already. */
  readonly isFull: boolean;
}

interface JournalReaderState {
  /** Written, and not imported yet. */
  readonly bytesBehind: number;
  /** The ends of exchanges among it: so many rows wait. Of a journal of gigabytes not all are counted at the first look. */
  readonly rowsBehind: number;
  readonly oldestUnimportedAtMs: number | undefined;
  readonly openIntents: number;
  readonly segments: number;
}

export interface JournalReader {
  /** The journal's random ID, by which the store knows its position. */
  readonly id: string;
  /** Before the first `read`, with what the store knows of this journal; again after an import that failed. */
  open(position: JournalPosition | undefined): Promise<void>;
  /**
   * What follows what was read last: about so many rows, and more where one write held more. There is nothing more to do where
   * neither rows nor ended nodes came and the position is the one before. Positions without rows are worth importing too.
   */
  read(most: number): Promise<JournalBatch>;
  /**
   * Everything up to this position is in the store, and its ended nodes are released: what is not needed any more is deleted, once
   * the store is sure not to lose it. To be called again now and then.
   */
  imported(position: JournalPosition): Promise<void>;
  state(): JournalReaderState;
  close(): Promise<void>;
}

export interface JournalReaderDeps {
  /** The directory of the slot. */
  readonly directory: string;
  readonly files?: JournalFiles;
  /** True where no process writes into the slot any more, and none can begin to: whoever reads holds its lock. */
  isOrphan(): boolean;
  /** Whether all that was imported stays there by now, come what may: nothing is deleted before. Where it is left out, it does. */
  readonly isSecure?: () => Promise<boolean>;
}

export function createJournalReader(deps: JournalReaderDeps): JournalReader {
  const { directory, files = systemFiles, isOrphan, isSecure = async () => true } = deps;
  const id = readFileSync(join(directory, idFile), 'utf8').trim();
  return new FileJournalReader(id, directory, files, isOrphan, isSecure);
}

/** Rows are small; those with bodies, where some are kept, are not. */
const mostBatchBytes = 8 * 1024 * 1024;

const beginning: JournalPosition = { segment: 0, offset: 0 };

class FileJournalReader implements JournalReader {
  readonly id: string;
  readonly #directory: string;
  readonly #files: JournalFiles;
  readonly #isOrphan: () => boolean;
  readonly #isSecure: () => Promise<boolean>;

  #joiner = new Joiner();
  #rowsBehind = new RowsBehind(beginning);
  /** Nodes and damage that were found on the way, for the next batch. */
  #found: Joined = nothingJoined();
  #current: SegmentReader | undefined = undefined;
  /** Where the next frame of the current segment begins. */
  #offset = 0;
  /** As given with the last batch. */
  #position = beginning;
  #importedTo = beginning;
  /** Up to where segments are written, as far as it was looked. */
  readonly #extents = new Map<number, number>();

  constructor(
    id: string,
    directory: string,
    files: JournalFiles,
    isOrphan: () => boolean,
    isSecure: () => Promise<boolean>,
  ) {
    this.id = id;
    this.#directory = directory;
    this.#files = files;
    this.#isOrphan = isOrphan;
    this.#isSecure = isSecure;
  }

  async open(position: JournalPosition | undefined): Promise<void> {
    this.#close();
    this.#joiner = new Joiner();
    this.#position = position ?? beginning;
    this.#importedTo = this.#position;
    this.#rowsBehind = new RowsBehind(this.#position);
    // The rows are in the store; the open intents are needed again, and whether the nodes were released nobody knows.
    const again = nothingJoined();
    const { segment, offset } = this.#position;
    for (const number of this.#list()) {
      if (number > segment || (number === segment && offset === 0)) break;
      if (!this.#enter(number)) continue;
      this.#rescan(number === segment ? offset : Number.POSITIVE_INFINITY, again);
    }
    // Whoever gave such a position had seen the end of everything before.
    if (offset === 0) this.#joiner.endAll(again);
    this.#found = { rows: [], endedNodes: again.endedNodes, damage: [] };
  }

  async read(most: number): Promise<JournalBatch> {
    // Where the disk fails in between, what was read by then is in the next batch.
    const batch = this.#found;
    let bytes = 0;
    while (batch.rows.length < most && bytes < mostBatchBytes) {
      const frame = this.#current?.frameAt(this.#offset);
      if (frame !== undefined) {
        this.#take(frame, batch);
        bytes += frame.payload.length;
      } else if (!this.#goOn(batch)) break;
    }
    this.#found = nothingJoined();
    const isFull = batch.rows.length >= most || bytes >= mostBatchBytes;
    return { ...batch, position: this.#position, isFull };
  }

  async imported(position: JournalPosition): Promise<void> {
    this.#importedTo = position;
    const { segment, offset } = this.#position;
    // What was read and is not imported yet may rest on what would be deleted.
    if (position.segment !== segment || position.offset !== offset) return;
    this.#rowsBehind.imported(position);
    const numbers = this.#list();
    // By the last one the next process knows where the numbers go on.
    const last = numbers.pop();
    const spent = numbers.filter((number) => number < segment && !this.#joiner.hasOpenIn(number));
    const isLastSpent = last !== undefined && last < segment && (this.#look(last, ({ bytes }) => bytes) ?? 0) > 0;
    if (spent.length === 0 && !isLastSpent) return;
    // As long as the store could lose it again, the journal is what it is made up from.
    if (!(await this.#isSecure())) return;
    for (const number of spent) {
      removeIfThere(segmentPath(this.#directory, number), this.#files);
      this.#extents.delete(number);
    }
    if (isLastSpent) {
      this.#files.truncate(segmentPath(this.#directory, last));
      this.#extents.set(last, 0);
    }
  }

  state(): JournalReaderState {
    const numbers = this.#list();
    let bytesBehind = 0;
    let oldestUnimportedAtMs: number | undefined;
    for (const number of numbers) {
      if (number < this.#importedTo.segment) continue;
      const from = number === this.#importedTo.segment ? this.#importedTo.offset : 0;
      const bytes = this.#extentOf(number) - from;
      if (bytes <= 0) continue;
      bytesBehind += bytes;
      oldestUnimportedAtMs ??= this.#timeAt(number, from);
    }
    const rowsBehind =
      bytesBehind === 0 ? 0 : this.#rowsBehind.count(numbers, (number, what) => this.#look(number, what));
    return {
      bytesBehind,
      rowsBehind,
      oldestUnimportedAtMs,
      openIntents: this.#joiner.openIntents,
      segments: numbers.length,
    };
  }

  async close(): Promise<void> {
    this.#close();
  }

  #list(): number[] {
    return listSegments(this.#directory, this.#files);
  }

  #close(): void {
    this.#current?.close();
    this.#current = undefined;
  }

  /** False where it is gone since it was listed: who writes removes a segment that could not be made whole. */
  #enter(number: number): boolean {
    const entered = openIfThere(this.#directory, number, this.#files);
    if (entered === undefined) return false;
    this.#close();
    this.#current = entered;
    this.#offset = 0;
    return true;
  }

  #take(frame: Frame, into: Joined): void {
    if (this.#current === undefined) return;
    const { number } = this.#current;
    this.#joiner.take(frame, number, into);
    this.#rowsBehind.took(frame);
    this.#offset = frame.end;
    this.#position = { segment: number, offset: frame.end };
  }

  /** No whole frame is there. False where one may still come, or nothing will. */
  #goOn(into: Joined): boolean {
    const current = this.#current;
    const later = this.#list().filter((number) => number > (current?.number ?? this.#position.segment - 1));
    const [next] = later;
    const isWrittenLater = later.some((number) => this.#isBegun(number));
    const isOrphan = !isWrittenLater && this.#isOrphan();
    if (current === undefined) {
      // One in which nothing was written may still be in the making.
      if (next === undefined || !(isWrittenLater || isOrphan)) return false;
      return this.#enter(next);
    }
    if (!isWrittenLater && !isOrphan) return false;
    // The last frame may have come between the two looks.
    if (current.frameAt(this.#offset) !== undefined) return true;
    if (this.#skipDamage(current, into)) return true;
    if (next !== undefined) return this.#enter(next);
    this.#joiner.endAll(into);
    this.#close();
    this.#position = { segment: current.number + 1, offset: 0 };
    return false;
  }

  /** True where a whole frame follows. */
  #skipDamage(current: SegmentReader, into: Joined): boolean {
    const { next, damagedBytes } = current.tailAt(this.#offset);
    if (damagedBytes > 0) {
      into.damage.push(
        `${damagedBytes} bytes of ${segmentPath(this.#directory, current.number)}, from byte ${this.#offset} on, cannot be read; what they said of exchanges is lost.`,
      );
    }
    if (next === undefined) return false;
    this.#offset = next;
    return true;
  }

  /** Goes through the current segment again up to there; what came of it is known. */
  #rescan(to: number, into: Joined): void {
    const current = this.#current;
    if (current === undefined) return;
    while (this.#offset < to) {
      const frame = current.frameAt(this.#offset);
      if (frame !== undefined) {
        this.#joiner.take(frame, current.number, into);
        this.#offset = frame.end;
        into.rows.length = 0;
        continue;
      }
      const { next } = current.tailAt(this.#offset);
      if (next === undefined || next >= to) break;
      this.#offset = next;
    }
    if (Number.isFinite(to)) this.#offset = to;
  }

  #isBegun(number: number): boolean {
    return this.#look(number, (segment) => segment.isBegun) ?? false;
  }

  #timeAt(number: number, offset: number): number | undefined {
    return this.#look(number, (segment) => segment.headAt(offset)?.atMs);
  }

  #extentOf(number: number): number {
    // What was read is written; the rest is looked through once.
    const read = number === this.#current?.number ? this.#offset : 0;
    const known = Math.max(this.#extents.get(number) ?? 0, read);
    const extent = this.#look(number, (segment) => {
      let end = known;
      for (let head = segment.headAt(end); head !== undefined; head = segment.headAt(end))
        end += headBytes + head.length;
      return end;
    });
    if (extent === undefined) return known;
    this.#extents.set(number, extent);
    return extent;
  }

  /** Undefined where it is gone since it was listed. */
  #look<T>(number: number, what: (segment: SegmentReader) => T): T | undefined {
    const segment = openIfThere(this.#directory, number, this.#files);
    if (segment === undefined) return undefined;
    try {
      return what(segment);
    } finally {
      segment.close();
    }
  }
}
