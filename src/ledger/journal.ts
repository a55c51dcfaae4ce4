/** The journal of one process: what is appended within one turn of the event loop is one frame, written at once. */

import { Buffer } from 'node:buffer';
import type { Durability } from '../core/accounting/ledger-row.ts';
import type { Log } from '../core/log.ts';
import type { Clock } from '../lib/clock.ts';
import { EndRoom } from './end-room.ts';
import { codeOrReasonOf, JournalError, journalUnavailable, toJournalError } from './journal-error.ts';
import { type JournalFiles, systemFiles } from './journal-files.ts';
import { FrameWriter, headBytes } from './journal-frame.ts';
import { type Job, Part, promiseOf, sizeOf } from './journal-job.ts';
import { type FramePlace, toLine } from './journal-records.ts';
import { listSegments, type SegmentWriter } from './journal-segment.ts';
import { SegmentSupply } from './segment-supply.ts';

/** Texts are whole lines, with their line ends. Each promise resolves when the text is as durable as configured. */
export interface Journal {
  /** Before an exchange is sent. Rejects with `store_unavailable` where it cannot be written, or its end could not be. */
  open(id: string, text: string): Promise<void>;
  /** The end of an exchange that was opened; once for each, whatever became of the opening. */
  settle(id: string, text: string): Promise<void>;
  /** Of an exchange that was never opened. */
  note(text: string): Promise<void>;
  /** Whether there is room for such a text beside what waits, and for the ends of all that is open as well. */
  fits(text: string): boolean;
  state(): JournalState;
  /** What is appended is written first, and an end is marked. */
  close(): Promise<void>;
}

interface JournalState {
  /** Since the process started. */
  readonly bytesWritten: number;
  readonly openExchanges: number;
  /** Nothing new is taken on just now. */
  readonly failing: boolean;
}

export interface JournalOptions {
  /** Of the slot. */
  readonly directory: string;
  readonly node: string;
  readonly durability: Durability;
  readonly clock: Clock;
  readonly files?: JournalFiles;
  readonly log?: Log;
  readonly segmentBytes?: number;
  /** How long after a failure it is tried again. */
  readonly retryMs?: number;
}

const defaultSegmentBytes = 16 * 1024 * 1024;
const defaultRetryMs = 1_000;
/** Ends that could not be written wait in memory, up to so many characters. */
const mostLateCharacters = 16 * 1024 * 1024;
/** A look takes half as long as a write. */
const lookEveryMs = 20;
/** What cannot be written in so many segments cannot be written for now. */
const mostTries = 2;
/** Of the places where something was tried, the last ones are told to the reader. */
const mostPlaces = 64;
/** Room for a new exchange: the state without it counts as failing. */
const usualFrameBytes = 4_096;

/** The system says that it is not a matter of time. */
const lasting: ReadonlySet<string> = new Set(['EACCES', 'EPERM', 'EROFS', 'ENOTDIR']);

/** Resolves when the journal can be written, or is known to wait for the disk. Throws where the directory is of no use. */
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
  readonly #supply: SegmentSupply;
  readonly #frames = new FrameWriter();
  /** Room for the record that a segment begins with. */
  readonly #firstLineBytes: number;
  readonly #flushNow = (): void => this.#flush();

  #ends: Part | undefined = undefined;
  #beginnings: Part | undefined = undefined;
  #isScheduled = false;
  /** A sync runs. */
  #isBusy = false;
  #isStarted = false;
  #isClosing = false;
  #isClosed = false;

  readonly #room = new EndRoom();
  #bytesWritten = 0;
  #nextLookMs = 0;
  /** Opened in vain: their ends are no ends of anything. */
  readonly #refused = new Set<string>();
  /** Of them, those whose intents may be in the journal all the same. */
  #voids: string[] = [];
  /** Failed in one segment, and waits for another. */
  #held: Job | undefined = undefined;
  #heldBytes = 0;
  #late: Job[] = [];
  #lateCharacters = 0;

  constructor(options: JournalOptions, files: JournalFiles, firstNumber: number) {
    this.#options = options;
    this.#firstLineBytes = Buffer.byteLength(
      toLine({ kind: 'start', node: options.node, atMs: Number.MAX_SAFE_INTEGER }),
    );
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
    if (fault === undefined || !lasting.has(codeOrReasonOf(fault))) return;
    await this.#supply.close();
    throw new JournalError(
      `The journal directory "${this.#options.directory}" cannot be written (${codeOrReasonOf(fault)}); give the user Postern runs as write access to it, or point ledger.journal elsewhere.`,
      fault,
    );
  }

  open(id: string, text: string): Promise<void> {
    if (this.#isClosing) return this.#refuse(id);
    const bytes = Buffer.byteLength(text);
    this.#room.open(id, bytes);
    this.#beginnings ??= this.#newPart();
    this.#beginnings.add(text);
    this.#beginnings.ids.push(id);
    return this.#beginnings.promise;
  }

  settle(id: string, text: string): Promise<void> {
    if (this.#refused.size > 0 && this.#refused.delete(id)) return this.note(text);
    this.#room.close(id);
    if (this.#isClosed) return Promise.reject(journalUnavailable());
    this.#ends ??= this.#newPart();
    this.#ends.add(text);
    return this.#ends.promise;
  }

  note(text: string): Promise<void> {
    if (this.#isClosing) return Promise.reject(journalUnavailable());
    this.#beginnings ??= this.#newPart();
    this.#beginnings.add(text);
    return this.#beginnings.promise;
  }

  fits(text: string): boolean {
    if (this.#supply.fault !== undefined || this.#held !== undefined || this.#late.length > 0) return false;
    const bytes = Buffer.byteLength(text) + sizeOf(this.#ends) + sizeOf(this.#beginnings);
    return this.#supply.hasRoom(bytes + headBytes + this.#firstLineBytes, this.#room.bytes);
  }

  state(): JournalState {
    const isShort = this.#supply.fault !== undefined && !this.#supply.hasRoom(usualFrameBytes, this.#room.bytes);
    return {
      bytesWritten: this.#bytesWritten,
      openExchanges: this.#room.count,
      failing: this.#isClosing || isShort,
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
    last.add(toLine({ kind: 'end', node }));
    this.#isClosed = true;
    try {
      await last.promise;
      await this.#supply.current?.sync();
    } catch (thrown) {
      log?.error('the journal could not be ended properly: the next start does it', { reason: codeOrReasonOf(thrown) });
    }
    await this.#supply.close();
  }

  #refuse(id: string): Promise<void> {
    this.#refused.add(id);
    return Promise.reject(journalUnavailable());
  }

  #newPart(): Part {
    this.#schedule();
    return new Part();
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(this.#flushNow);
  }

  #flush(): void {
    this.#isScheduled = false;
    // A sync's end comes here again.
    if (this.#isBusy) return;
    const job = this.#nextJob();
    if (job !== undefined) this.#write(job);
    if (this.#isBusy) return;
    if (job !== undefined && this.#held === undefined && this.#hasMore()) this.#schedule();
    void this.#supply.grow(this.#waitingBytes(), this.#room.bytes);
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

  /** New exchanges only where their ends find room as well; ends wherever they fit. */
  #gather(): Job | undefined {
    const ends = this.#ends;
    const beginnings = this.#beginnings;
    if (beginnings !== undefined) {
      if (
        this.#supply.hasRoom(sizeOf(ends) + sizeOf(beginnings) + headBytes + this.#firstLineBytes, this.#room.bytes)
      ) {
        this.#ends = undefined;
        this.#beginnings = undefined;
        return { ends, beginnings, places: [], tries: 0, late: '' };
      }
      if (this.#supply.fault !== undefined) {
        this.#beginnings = undefined;
        this.#refuseAll(beginnings, this.#supply.fault);
      }
    }
    if (ends !== undefined) {
      if (!this.#supply.hasRoom(sizeOf(ends) + headBytes + this.#firstLineBytes, 0) && this.#supply.fault === undefined)
        return undefined;
      this.#ends = undefined;
      return { ends, beginnings: undefined, places: [], tries: 0, late: '' };
    }
    // The journal has something to say of itself.
    const isSilent =
      (this.#isStarted && this.#voids.length === 0) || this.#supply.isEmpty || this.#supply.fault !== undefined;
    return isSilent ? undefined : { ends: undefined, beginnings: undefined, places: [], tries: 0, late: '' };
  }

  #write(job: Job): void {
    while (job.tries < mostTries) {
      const voids = this.#voids;
      const text = this.#textOf(job, voids);
      const bytes = headBytes + Buffer.byteLength(text) + this.#firstLineBytes;
      const segment = this.#supply.take(bytes);
      if (segment === undefined) {
        if (this.#supply.fault !== undefined) break;
        this.#held = job;
        this.#heldBytes = bytes;
        return;
      }
      const place = { segment: segment.number, offset: segment.offset };
      const frame = this.#frames.encode(this.#firstLine(segment) + text, this.#options.clock.nowMs());
      try {
        this.#checkPlace(segment);
        segment.append(frame);
      } catch (thrown) {
        this.#failed(job, place, thrown);
        continue;
      }
      if (this.#options.durability === 'fast') this.#written(job, voids, frame.length);
      else this.#sync(segment, job, voids, frame.length, place);
      return;
    }
    this.#giveUp(job);
  }

  /** What is written to a file that somebody deleted reaches nobody, and the system says nothing of it. */
  #checkPlace(segment: SegmentWriter): void {
    const nowMs = this.#options.clock.monotonicMs();
    if (nowMs < this.#nextLookMs) return;
    if (!segment.isThere()) throw new Error('its files were deleted');
    this.#nextLookMs = nowMs + lookEveryMs;
  }

  #sync(segment: SegmentWriter, job: Job, voids: readonly string[], bytes: number, place: FramePlace): void {
    this.#isBusy = true;
    segment.sync().then(
      () => {
        this.#isBusy = false;
        this.#written(job, voids, bytes);
        this.#flush();
      },
      (thrown: unknown) => {
        this.#isBusy = false;
        // What was not synced now may be taken for synced the next time: this file is not written any more.
        this.#failed(job, place, thrown);
        this.#write(job);
        if (!this.#isBusy) this.#flush();
      },
    );
  }

  #firstLine({ offset }: SegmentWriter): string {
    if (offset > 0) return '';
    const { node, clock } = this.#options;
    return toLine(this.#isStarted ? { kind: 'more', node } : { kind: 'start', node, atMs: clock.nowMs() });
  }

  #textOf({ ends, beginnings, places, late }: Job, voids: readonly string[]): string {
    const isLate = late !== '';
    const before = voids.length === 0 ? '' : toLine({ kind: 'void', ids: voids });
    const again = places.length === 0 && !isLate ? '' : toLine({ kind: 'again', places, isLate });
    return before + again + late + (ends?.text ?? '') + (beginnings?.text ?? '');
  }

  #written({ ends, beginnings, late }: Job, voids: readonly string[], bytes: number): void {
    this.#bytesWritten += bytes;
    this.#isStarted = true;
    this.#lateCharacters -= late.length;
    if (voids.length > 0) this.#voids = this.#voids.slice(voids.length);
    this.#supply.works();
    ends?.resolve();
    beginnings?.resolve();
  }

  #failed(job: Job, place: FramePlace, thrown: unknown): void {
    job.places.push(place);
    if (job.places.length > mostPlaces) job.places.shift();
    job.tries += 1;
    this.#supply.abandon(thrown, job.tries >= mostTries);
  }

  #giveUp({ ends, beginnings, places, late }: Job): void {
    if (late !== '') {
      this.#late.unshift({ ends: undefined, beginnings: undefined, places, tries: 0, late });
      return;
    }
    if (ends !== undefined) {
      this.#keep(ends.text, places);
      ends.reject(journalUnavailable(this.#supply.fault));
    }
    if (beginnings === undefined) return;
    if (places.length > 0) this.#voids = this.#voids.concat(beginnings.ids);
    this.#refuseAll(beginnings, this.#supply.fault);
  }

  #refuseAll(part: Part, cause: unknown): void {
    for (const id of part.ids) {
      this.#room.close(id);
      this.#refused.add(id);
    }
    part.reject(journalUnavailable(cause));
  }

  /** It goes into the journal as soon as that can be written, marked as late. */
  #keep(text: string, places: FramePlace[]): void {
    if (this.#lateCharacters + text.length > mostLateCharacters) {
      this.#options.log?.error('ends of exchanges are lost: too many wait for the journal', {
        characters: text.length,
      });
      return;
    }
    this.#lateCharacters += text.length;
    this.#late.push({ ends: undefined, beginnings: undefined, places, tries: 0, late: text });
  }

  /** Of what waits for room. */
  #waitingBytes(): number {
    if (this.#held !== undefined) return this.#heldBytes;
    const bytes = sizeOf(this.#ends) + sizeOf(this.#beginnings);
    return bytes === 0 ? 0 : bytes + headBytes + this.#firstLineBytes;
  }
}
