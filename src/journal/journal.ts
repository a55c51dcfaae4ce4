/** Writes the journal of one process: the records of one event-loop turn are written as one frame. */

import type { Buffer } from 'node:buffer';
import type { Durability } from '../core/accounting/ledger-row.ts';
import type { LedgerWaiter } from '../core/accounting/spending.ts';
import type { Log } from '../core/log.ts';
import type { Clock } from '../lib/clock.ts';
import { beforeDeadline } from '../lib/deadline.ts';
import { EndReserve } from './end-reserve.ts';
import { codeOrReasonOf, JournalError, journalUnavailable, toJournalError } from './journal-error.ts';
import { type JournalFiles, systemFiles } from './journal-files.ts';
import { FrameWriter, frameBytes } from './journal-frame.ts';
import type { RowItem } from './journal-items.ts';
import { type Job, Part, promiseOf, sizeOf } from './journal-job.ts';
import { type FramePosition, toItem } from './journal-records.ts';
import { listSegments, type SegmentWriter } from './journal-segment.ts';
import { SegmentSupply } from './segment-supply.ts';

/** Items are copied when passed. Each promise resolves when the item is as durable as configured; a given waiter is notified instead. */
export interface Journal {
  /** Records the start of an exchange, before it is sent. Rejects with `store_unavailable` where its start, or later its end, cannot be written. */
  open(id: string, item: RowItem, waiter?: LedgerWaiter): Promise<void>;
  /** Records the end of an exchange; once for each `open`, even if that failed. */
  settle(id: string, item: RowItem, waiter?: LedgerWaiter): Promise<void>;
  /** Records an exchange that was never opened. */
  note(item: RowItem, waiter?: LedgerWaiter): Promise<void>;
  /** Whether there is space for the item beside those that wait, and for the ends of all open exchanges. */
  fits(item: RowItem): boolean;
  state(): JournalState;
  /** Writes pending items and a final record, and stops. */
  close(): Promise<void>;
}

interface JournalState {
  /** Bytes written since the process started. */
  readonly bytesWritten: number;
  readonly openExchanges: number;
  readonly failing: boolean;
}

export interface JournalOptions {
  readonly directory: string;
  readonly node: string;
  readonly durability: Durability;
  /**
   * The longest that an item waits for a write, which a thread makes, so that a disk that does not answer delays nobody else.
   * Undefined in fast durability: the calling thread writes, which is faster and waits for as long as it takes.
   */
  readonly waitMs?: number | undefined;
  readonly clock: Clock;
  readonly files?: JournalFiles;
  readonly log?: Log;
  readonly segmentBytes?: number;
  readonly retryMs?: number;
}

const defaultSegmentBytes = 16 * 1024 * 1024;
const defaultRetryMs = 1_000;
/** Default of `waitMs` in strict durability, where a thread waits for the disk in any case. */
const strictWaitMs = 10_000;
/** A frame with this many items is written at once. */
const mostGathered = 16;
const mostLateBytes = 16 * 1024 * 1024;
/** Pause between checks that the file still exists: a check takes half as long as a write. */
const lookEveryMs = 20;
/** After failures in this many segments, the journal stops writing for now. */
const mostTries = 2;
/** Limit of the positions of failed writes of a frame that are recorded, so that the reader ignores what was written there. */
const mostPositions = 64;
/** Free space for a new exchange: with less, the journal counts as failing. */
const usualFrameBytes = 4_096;
/** Number of buffers kept for reuse, and their largest size. */
const mostKeptBuffers = 4;
const mostKeptBytes = 1024 * 1024;

const permanentFaults: ReadonlySet<string> = new Set(['EACCES', 'EPERM', 'EROFS', 'ENOTDIR']);

/** Creates the journal. Resolves when it can be written, or waits for the disk. Throws where the directory is unusable. */
export async function createJournal(options: JournalOptions): Promise<Journal> {
  const { directory, files = systemFiles } = options;
  try {
    files.makeDirectory(directory);
    const journal = new FileJournal(options, files, (listSegments(directory, files).at(-1) ?? 0) + 1);
    await journal.start();
    return journal;
  } catch (thrown) {
    throw toJournalError(thrown, directory);
  }
}

class FileJournal implements Journal {
  readonly #options: JournalOptions;
  readonly #waitMs: number | undefined;
  readonly #supply: SegmentSupply;
  #frames = new FrameWriter();
  readonly #firstRecordBytes: number;
  readonly #flushNow = (): void => this.#flush();
  /** Twenty items cost about as much as one: the frame waits while each turn of the event loop brings more; a single item is written at once. */
  readonly #onTurn = (): void => {
    const items = this.#items;
    const isGrowing = items > Math.max(1, this.#itemsBefore) && items < mostGathered;
    this.#itemsBefore = isGrowing ? items : 0;
    if (isGrowing) setImmediate(this.#onTurn);
    else this.#flush();
  };

  #ends: Part | undefined = undefined;
  #beginnings: Part | undefined = undefined;
  #isScheduled = false;
  /** Number of items since the last frame, and the same one event-loop turn earlier. */
  #items = 0;
  #itemsBefore = 0;
  #isBusy = false;
  /** A write took longer than `waitMs`, and still goes on. */
  #isStalled = false;
  #waitTimer: NodeJS.Timeout | undefined = undefined;
  #isStarted = false;
  #isClosing = false;
  #isClosed = false;

  readonly #reserve = new EndReserve();
  #bytesWritten = 0;
  #nextLookMs = 0;
  /** IDs of exchanges whose opening was refused: their ends are ignored. */
  readonly #refused = new Set<string>();
  /** IDs of refused exchanges whose intents may be in the journal all the same. */
  #voids: string[] = [];
  /** A write that failed in one segment, and waits for another. */
  #held: Job | undefined = undefined;
  #heldBytes = 0;
  #late: Job[] = [];
  #lateBytes = 0;
  readonly #buffers: Buffer[] = [];

  constructor(options: JournalOptions, files: JournalFiles, firstNumber: number) {
    this.#options = options;
    this.#waitMs = options.waitMs ?? (options.durability === 'strict' ? strictWaitMs : undefined);
    this.#firstRecordBytes = toItem({ kind: 'start', node: options.node, atMs: Number.MAX_SAFE_INTEGER }).length;
    this.#supply = new SegmentSupply({
      directory: options.directory,
      files,
      segmentBytes: options.segmentBytes ?? defaultSegmentBytes,
      firstNumber,
      isDurable: options.durability === 'strict',
      retryMs: options.retryMs ?? defaultRetryMs,
      log: options.log,
      onChange: this.#flushNow,
    });
  }

  async start(): Promise<void> {
    await this.#supply.grow(0, 0);
    const fault = this.#supply.fault;
    if (fault === undefined || !permanentFaults.has(codeOrReasonOf(fault))) return;
    await this.#supply.close();
    throw new JournalError(
      `The journal directory "${this.#options.directory}" cannot be written (${codeOrReasonOf(fault)}); give the user Postern runs as write access to it, or point ledger.journal elsewhere.`,
      fault,
    );
  }

  open(id: string, item: RowItem, waiter?: LedgerWaiter): Promise<void> {
    if (this.#isClosing) {
      this.#refused.add(id);
      return refuse(waiter);
    }
    this.#reserve.open(id, sizeOfItem(item));
    this.#beginnings ??= this.#newPart();
    this.#beginnings.add(item);
    this.#items += 1;
    this.#beginnings.ids.push(id);
    return waitFor(this.#beginnings, waiter);
  }

  settle(id: string, item: RowItem, waiter?: LedgerWaiter): Promise<void> {
    if (this.#refused.size > 0 && this.#refused.delete(id)) return this.note(item, waiter);
    this.#reserve.close(id);
    if (this.#isClosed) return refuse(waiter);
    this.#ends ??= this.#newPart();
    this.#ends.add(item);
    this.#items += 1;
    return waitFor(this.#ends, waiter);
  }

  note(item: RowItem, waiter?: LedgerWaiter): Promise<void> {
    if (this.#isClosing) return refuse(waiter);
    this.#beginnings ??= this.#newPart();
    this.#beginnings.add(item);
    this.#items += 1;
    return waitFor(this.#beginnings, waiter);
  }

  fits(item: RowItem): boolean {
    if (this.#isStalled || this.#supply.fault !== undefined || this.#held !== undefined || this.#late.length > 0)
      return false;
    const bytes = sizeOfItem(item) + sizeOf(this.#ends) + sizeOf(this.#beginnings);
    return this.#supply.hasSpace(bytes + frameBytes + this.#firstRecordBytes, this.#reserve.bytes);
  }

  state(): JournalState {
    const isShort = this.#supply.fault !== undefined && !this.#supply.hasSpace(usualFrameBytes, this.#reserve.bytes);
    return {
      bytesWritten: this.#bytesWritten,
      openExchanges: this.#reserve.count,
      failing: this.#isClosing || this.#isStalled || isShort,
    };
  }

  async close(): Promise<void> {
    if (this.#isClosing) return;
    this.#isClosing = true;
    const { node, log } = this.#options;
    await Promise.allSettled([this.#held?.ends, this.#held?.beginnings, this.#ends, this.#beginnings].map(promiseOf));
    await this.#supply.tryAgain();
    this.#ends ??= this.#newPart();
    const last = this.#ends;
    last.add(toItem({ kind: 'end', node }));
    this.#isClosed = true;
    try {
      await last.promise;
      await this.#supply.current?.sync();
    } catch (thrown) {
      log?.error('journal not closed cleanly', { reason: codeOrReasonOf(thrown) });
    }
    await this.#supply.close();
  }

  #newPart(): Part {
    this.#schedule();
    return new Part(this.#buffers.pop());
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(this.#onTurn);
  }

  #flush(): void {
    this.#isScheduled = false;
    this.#items = 0;
    // The end of the sync calls this again.
    if (this.#isBusy) return;
    const job = this.#isStalled ? this.#gather() : this.#nextJob();
    if (job !== undefined) this.#isStalled ? this.#giveUp(job) : this.#write(job);
    if (this.#isBusy || this.#isStalled) return;
    if (job !== undefined && this.#held === undefined && this.#hasMore()) this.#schedule();
    void this.#supply.grow(this.#waitingBytes(), this.#reserve.bytes);
    this.#limitWait();
  }

  #limitWait(): void {
    const waitMs = this.#waitMs;
    const waiting = this.#waiting();
    if (waitMs === undefined || waiting === undefined || this.#waitTimer !== undefined) return;
    this.#waitTimer = setTimeout(() => {
      this.#waitTimer = undefined;
      if (this.#isBusy || this.#isStalled) return;
      if (this.#waiting() === waiting) this.#supply.giveUpWaiting(noAnswerIn(waitMs));
      this.#flush();
    }, waitMs);
    this.#waitTimer.unref();
  }

  #waiting(): Job | Part | undefined {
    return this.#held ?? this.#beginnings ?? this.#ends;
  }

  #hasMore(): boolean {
    return (
      this.#ends !== undefined ||
      this.#beginnings !== undefined ||
      (this.#late.length > 0 && this.#supply.fault === undefined)
    );
  }

  #nextJob(): Job | undefined {
    const held = this.#held;
    if (held !== undefined) {
      this.#held = undefined;
      return held;
    }
    if (this.#late.length > 0 && this.#supply.fault === undefined) return this.#late.shift();
    return this.#gather();
  }

  /** Takes items for the next write: starts of exchanges only where their ends will fit as well, ends wherever they fit. */
  #gather(): Job | undefined {
    const ends = this.#ends;
    const beginnings = this.#beginnings;
    const isRefusing = this.#isStalled || this.#supply.fault !== undefined;
    if (beginnings !== undefined) {
      if (
        this.#supply.hasSpace(
          sizeOf(ends) + sizeOf(beginnings) + frameBytes + this.#firstRecordBytes,
          this.#reserve.bytes,
        )
      ) {
        this.#ends = undefined;
        this.#beginnings = undefined;
        return { ends, beginnings, positions: [], tries: 0, late: undefined };
      }
      if (isRefusing) {
        this.#beginnings = undefined;
        this.#refuseAll(beginnings, this.#supply.fault);
      }
    }
    if (ends !== undefined) {
      if (!this.#supply.hasSpace(sizeOf(ends) + frameBytes + this.#firstRecordBytes, 0) && !isRefusing)
        return undefined;
      this.#ends = undefined;
      return { ends, beginnings: undefined, positions: [], tries: 0, late: undefined };
    }
    // Whether the journal has no record of its own to write.
    const isSilent =
      (this.#isStarted && this.#voids.length === 0) || this.#supply.isEmpty || this.#supply.fault !== undefined;
    return isSilent ? undefined : { ends: undefined, beginnings: undefined, positions: [], tries: 0, late: undefined };
  }

  #write(job: Job): void {
    const waitMs = this.#waitMs;
    while (job.tries < mostTries) {
      const voids = this.#voids;
      const own = ownItems(job, voids);
      let bytes = frameBytes + this.#firstRecordBytes + sizeOf(job.late) + sizeOf(job.ends) + sizeOf(job.beginnings);
      for (const { length } of own) bytes += length;
      const segment = this.#supply.take(bytes);
      if (segment === undefined) {
        if (this.#supply.fault !== undefined) break;
        this.#held = job;
        this.#heldBytes = bytes;
        return;
      }
      const position = { segment: segment.number, offset: segment.offset };
      const frame = this.#encode(job, own, segment, bytes);
      try {
        this.#checkPosition(segment);
        if (waitMs === undefined) segment.append(frame);
      } catch (thrown) {
        this.#failed(job, position, thrown);
        continue;
      }
      if (waitMs === undefined) this.#written(job, voids, frame.length);
      else this.#writeLater(segment, frame, waitMs, job, voids, position);
      return;
    }
    this.#giveUp(job);
  }

  /** Builds a frame; names come first, as later items refer to them. */
  #encode({ late, ends, beginnings }: Job, own: readonly RowItem[], segment: SegmentWriter, bytes: number): Buffer {
    const { node, clock } = this.#options;
    const { offset } = segment;
    const nowMs = clock.nowMs();
    const frames = this.#frames;
    frames.begin(bytes);
    addNames(frames, late, segment, offset);
    addNames(frames, ends, segment, offset);
    addNames(frames, beginnings, segment, offset);
    for (const { buffer } of own) frames.add(buffer);
    // A start ends what is open: an attempt whose frame is there after all is void, or skips the rest of this one, before.
    if (offset === 0) {
      frames.add(toItem(this.#isStarted ? { kind: 'more', node } : { kind: 'start', node, atMs: nowMs }).buffer);
    }
    if (late !== undefined) frames.add(late.buffer, late.length);
    if (ends !== undefined) frames.add(ends.buffer, ends.length);
    if (beginnings !== undefined) frames.add(beginnings.buffer, beginnings.length);
    return frames.end(nowMs);
  }

  /** Checks at intervals that the segment's file exists, as the system reports no error for writes to a deleted file. */
  #checkPosition(segment: SegmentWriter): void {
    const nowMs = this.#options.clock.monotonicMs();
    if (nowMs < this.#nextLookMs) return;
    if (!segment.isThere()) throw new Error('its files were deleted');
    this.#nextLookMs = nowMs + lookEveryMs;
  }

  #writeLater(
    segment: SegmentWriter,
    frame: Buffer,
    waitMs: number,
    job: Job,
    voids: readonly string[],
    position: FramePosition,
  ): void {
    this.#isBusy = true;
    const writing = segment.appendLater(frame, this.#options.durability === 'strict');
    beforeDeadline(writing, waitMs, () => noAnswerIn(waitMs)).then(
      () => {
        this.#isBusy = false;
        this.#written(job, voids, frame.length);
        this.#flush();
      },
      (thrown: unknown) => {
        this.#isBusy = false;
        if (thrown instanceof NoAnswer) this.#giveUpWaiting(job, writing);
        // After a failed sync the system may report success the next time: this file is not written any more.
        this.#failed(job, position, thrown);
        this.#write(job);
        if (!this.#isBusy) this.#flush();
      },
    );
  }

  /** Stops waiting for a write that takes too long. New items are refused until the disk answers, as another segment would not help. */
  #giveUpWaiting(job: Job, writing: Promise<void>): void {
    job.tries = mostTries - 1;
    // The write that is still going on reads the buffer of the former writer.
    this.#frames = new FrameWriter();
    this.#isStalled = true;
    const goOn = (): void => {
      this.#isStalled = false;
      this.#flush();
    };
    writing.then(goOn, goOn);
  }

  #written({ ends, beginnings, late }: Job, voids: readonly string[], bytes: number): void {
    this.#bytesWritten += bytes;
    this.#isStarted = true;
    this.#lateBytes -= sizeOf(late);
    this.#reuse(late);
    this.#reuse(ends);
    this.#reuse(beginnings);
    if (voids.length > 0) this.#voids = this.#voids.slice(voids.length);
    this.#supply.works();
    ends?.resolve();
    beginnings?.resolve();
  }

  #reuse(part: Part | undefined): void {
    if (part === undefined || part.buffer.length > mostKeptBytes || this.#buffers.length >= mostKeptBuffers) return;
    this.#buffers.push(part.buffer);
  }

  #failed(job: Job, position: FramePosition, thrown: unknown): void {
    job.positions.push(position);
    if (job.positions.length > mostPositions) job.positions.shift();
    job.tries += 1;
    this.#supply.abandon(thrown, job.tries >= mostTries);
  }

  #giveUp({ ends, beginnings, positions, late }: Job): void {
    if (late !== undefined) {
      this.#late.unshift({ ends: undefined, beginnings: undefined, positions, tries: 0, late });
      return;
    }
    if (ends !== undefined) {
      this.#keep(ends, positions);
      ends.reject(journalUnavailable(this.#supply.fault));
    }
    if (beginnings === undefined) return;
    if (positions.length > 0) this.#voids = this.#voids.concat(beginnings.ids);
    this.#refuseAll(beginnings, this.#supply.fault);
  }

  #refuseAll(part: Part, cause: unknown): void {
    for (const id of part.ids) {
      this.#reserve.close(id);
      this.#refused.add(id);
    }
    part.reject(journalUnavailable(cause));
  }

  /** Keeps ends that could not be written, to write them, marked as late, as soon as possible. */
  #keep(late: Part, positions: FramePosition[]): void {
    const { bytes } = late;
    if (this.#lateBytes + bytes > mostLateBytes) {
      this.#options.log?.error('request records lost', { bytes });
      return;
    }
    this.#lateBytes += bytes;
    this.#late.push({ ends: undefined, beginnings: undefined, positions, tries: 0, late });
  }

  #waitingBytes(): number {
    if (this.#held !== undefined) return this.#heldBytes;
    const bytes = sizeOf(this.#ends) + sizeOf(this.#beginnings);
    return bytes === 0 ? 0 : bytes + frameBytes + this.#firstRecordBytes;
  }
}

class NoAnswer extends Error {}

const noAnswerIn = (waitMs: number): Error => new NoAnswer(`the disk did not answer within ${waitMs} ms`);

const written = Promise.resolve();

function waitFor(part: Part, waiter: LedgerWaiter | undefined): Promise<void> {
  if (waiter === undefined) return part.promise;
  part.wait(waiter);
  return written;
}

export function refuse(waiter: LedgerWaiter | undefined): Promise<void> {
  if (waiter === undefined) return Promise.reject(journalUnavailable());
  queueMicrotask(() => waiter.onNotWritten(journalUnavailable()));
  return written;
}

function ownItems({ positions, late }: Job, voids: readonly string[]): RowItem[] {
  const items: RowItem[] = [];
  if (voids.length > 0) items.push(toItem({ kind: 'void', ids: voids }));
  if (positions.length > 0 || late !== undefined)
    items.push(toItem({ kind: 'again', places: positions, isLate: late !== undefined }));
  return items;
}

function addNames(frames: FrameWriter, part: Part | undefined, segment: SegmentWriter, offset: number): void {
  if (part === undefined) return;
  for (const name of part.names) if (name.isDue(segment, offset)) frames.add(name.item);
}

function sizeOfItem({ length, names }: RowItem): number {
  let bytes = length;
  for (let index = 0; index < names.length; index += 1) bytes += names[index]?.bytes ?? 0;
  return bytes;
}
