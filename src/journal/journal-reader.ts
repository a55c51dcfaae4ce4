/** Reads a journal for the import: yields finished rows in batches, damage, and nodes that ended, and deletes imported segments. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ImportedRow, JournalPosition } from '../core/store/ledger.ts';
import { type Joined, Joiner, nothingJoined } from './joiner.ts';
import { type JournalFiles, systemFiles } from './journal-files.ts';
import { type Frame, headBytes } from './journal-frame.ts';
import { countSettlements } from './journal-items.ts';
import { listSegments, openIfThere, removeIfThere, type SegmentReader, segmentPath } from './journal-segment.ts';
import { idFile } from './journal-slot.ts';

/** Limit for one call, so that a journal of gigabytes does not block; the rest is counted at the next call. */
const mostBytesALook = 64 * 1024 * 1024;

/** Opens a segment while `what` runs; does nothing where it was deleted. */
type LookInto = (number: number, what: (segment: SegmentReader) => void) => void;

/** Counts the journal's rows that are not in the store yet, reading each frame once. */
export class RowsBehind {
  #cursor: JournalPosition;
  #seen = 0;
  #taken = 0;
  #imported = 0;
  #importedTo: JournalPosition;

  constructor(from: JournalPosition) {
    this.#cursor = from;
    this.#importedTo = from;
  }

  took(frame: Frame): void {
    this.#taken += countSettlements(frame);
  }

  /** Notes that everything returned so far is in the store. */
  imported(position: JournalPosition): void {
    this.#imported = this.#taken;
    this.#importedTo = position;
  }

  /** The number of rows that are not in the store; `numbers` are the existing segments, rising. */
  count(numbers: readonly number[], look: LookInto): number {
    if (isBefore(this.#cursor, this.#importedTo)) {
      this.#cursor = this.#importedTo;
      this.#seen = this.#imported;
    }
    let left = mostBytesALook;
    for (const number of numbers) {
      if (number < this.#cursor.segment || left <= 0) continue;
      look(number, (segment) => {
        let offset = number === this.#cursor.segment ? this.#cursor.offset : 0;
        for (let frame = segment.frameAt(offset); frame !== undefined && left > 0; frame = segment.frameAt(offset)) {
          this.#seen += countSettlements(frame);
          left -= frame.payload.length;
          offset = frame.end;
          this.#cursor = { segment: number, offset };
        }
      });
    }
    return Math.max(0, this.#seen - this.#imported);
  }
}

function isBefore(one: JournalPosition, other: JournalPosition): boolean {
  return one.segment < other.segment || (one.segment === other.segment && one.offset < other.offset);
}

export interface JournalBatch {
  readonly rows: readonly ImportedRow[];
  /** The position in the journal after these rows, for the store. */
  readonly position: JournalPosition;
  /** Nodes whose last rows are in this batch: their drawn money is to be released after the import, before `imported`. May repeat after a restart. */
  readonly endedNodes: readonly string[];
  /** Descriptions of unreadable parts, as sentences for the log. */
  readonly damage: readonly string[];
  readonly bytes: number;
  /** The batch is full: the journal may have more rows. */
  readonly isFull: boolean;
}

interface JournalReaderState {
  readonly bytesBehind: number;
  /** Rows (ends of exchanges) that are not imported. In a journal of gigabytes not all are counted at once. */
  readonly rowsBehind: number;
  readonly oldestUnimportedAtMs: number | undefined;
  readonly openIntents: number;
  readonly segments: number;
}

export interface JournalReader {
  /** The journal's random ID, under which the store keeps its position. */
  readonly id: string;
  /** Starts reading at the store's position of this journal: before the first `read`, and again after a failed import. */
  open(position: JournalPosition | undefined): Promise<void>;
  /** Reads about `most` rows. An empty batch with an unchanged position means the end; positions without rows must be imported too. */
  read(most: number): Promise<JournalBatch>;
  /** Notes that everything up to the position is imported: deletes segments once the store is durable. To be repeated at intervals. */
  imported(position: JournalPosition): Promise<void>;
  state(): JournalReaderState;
  close(): Promise<void>;
}

export interface JournalReaderDeps {
  readonly directory: string;
  readonly files?: JournalFiles;
  /** Whether the journal has no writer and can get none: the reader then holds its lock. */
  isOrphan(): boolean;
  /** Whether all imported rows are durable in the store: no segment is deleted before. Absent: they always are. */
  readonly isSecure?: () => Promise<boolean>;
}

export const createJournalReader = (deps: JournalReaderDeps): JournalReader => new FileJournalReader(deps);

/** Limit of a batch in bytes: rows are small, but captured bodies are not. */
export const mostBatchBytes = 8 * 1024 * 1024;

const beginning: JournalPosition = { segment: 0, offset: 0 };

class FileJournalReader implements JournalReader {
  readonly id: string;
  readonly #directory: string;
  readonly #files: JournalFiles;
  readonly #isOrphan: () => boolean;
  readonly #isSecure: () => Promise<boolean>;

  #joiner = new Joiner();
  #rowsBehind = new RowsBehind(beginning);
  /** Ended nodes and damage found between two reads, for the next batch. */
  #found: Joined = nothingJoined();
  #current: SegmentReader | undefined = undefined;
  /** Offset of the next frame in the current segment. */
  #offset = 0;
  /** The position returned with the last batch. */
  #position = beginning;
  #importedTo = beginning;
  /** By segment: the offset up to which whole frames are known. */
  readonly #extents = new Map<number, number>();

  constructor({ directory, files = systemFiles, isOrphan, isSecure = async () => true }: JournalReaderDeps) {
    this.id = readFileSync(join(directory, idFile), 'utf8').trim();
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
    // The rows are in the store already. The open intents are needed again, and it is unknown whether ended nodes were released.
    const again = nothingJoined();
    const { segment, offset } = this.#position;
    for (const number of this.#list()) {
      if (number > segment || (number === segment && offset === 0)) break;
      if (!this.#enter(number)) continue;
      this.#rescan(number === segment ? offset : Number.POSITIVE_INFINITY, again);
    }
    // Offset 0 means that the former journal was read to its end, where open exchanges were ended as lost.
    if (offset === 0) this.#joiner.endAll(again);
    this.#found = { rows: [], endedNodes: again.endedNodes, damage: [] };
  }

  async read(most: number): Promise<JournalBatch> {
    // Where a disk error ended the former call, the rows that it had read are in this batch.
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
    return { ...batch, position: this.#position, bytes, isFull };
  }

  async imported(position: JournalPosition): Promise<void> {
    this.#importedTo = position;
    const { segment, offset } = this.#position;
    // Rows that were read but not imported may need the segments that would be deleted.
    if (position.segment !== segment || position.offset !== offset) return;
    this.#rowsBehind.imported(position);
    const numbers = this.#list();
    // The last segment tells the next process where the numbers continue.
    const last = numbers.pop();
    const spent = numbers.filter((number) => number < segment && !this.#joiner.hasOpenIn(number));
    const isLastSpent = last !== undefined && last < segment && (this.#look(last, ({ bytes }) => bytes) ?? 0) > 0;
    if (spent.length === 0 && !isLastSpent) return;
    // Until the store is durable, the journal is the only other copy.
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

  /** Opens a segment; false where it was deleted meanwhile: the writer removes incomplete segments. */
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

  /** Continues where no whole frame follows: behind damage, or in the next segment. False where one may still come, or nothing will. */
  #goOn(into: Joined): boolean {
    const current = this.#current;
    const later = this.#list().filter((number) => number > (current?.number ?? this.#position.segment - 1));
    const [next] = later;
    const isWrittenLater = later.some((number) => this.#isBegun(number));
    const isOrphan = !isWrittenLater && this.#isOrphan();
    if (current === undefined) {
      // An empty segment may still be in use.
      if (next === undefined || !(isWrittenLater || isOrphan)) return false;
      return this.#enter(next);
    }
    if (!isWrittenLater && !isOrphan) return false;
    // The last frame may have come between the two checks.
    if (current.frameAt(this.#offset) !== undefined) return true;
    if (this.#skipDamage(current, into)) return true;
    if (next !== undefined) return this.#enter(next);
    this.#joiner.endAll(into);
    this.#close();
    this.#position = { segment: current.number + 1, offset: 0 };
    return false;
  }

  /** Skips unreadable bytes, and reports them. True where a whole frame follows. */
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

  /** Reads the current segment again up to an offset, to know its open intents; its rows were imported before. */
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
    // What was read is whole; the rest of the segment is scanned once.
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
