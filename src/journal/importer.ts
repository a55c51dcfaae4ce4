/** Imports journals into the store: this process's own as it grows, and those of dead processes. */

import type { Log } from '../core/log.ts';
import type { BudgetAccountStore } from '../core/store/budgets.ts';
import type { JournalPosition, LedgerStore } from '../core/store/ledger.ts';
import type { SeriesStore } from '../core/store/series.ts';
import { type StoredObjectStore, storedObjectsMs } from '../core/store/stored-objects.ts';
import type { Clock } from '../lib/clock.ts';
import { reasonOf } from '../lib/thrown.ts';
import { type JournalBatch, type JournalReader, mostBatchBytes } from './journal-reader.ts';

/** A journal without a writer, claimed until released. */
export interface OrphanJournal {
  readonly reader: JournalReader;
  release(): void;
}

export interface ImporterDeps {
  /** This process's journal; undefined where it writes none. */
  readonly own: JournalReader | undefined;
  /** Claims journals without a writer; each is released when it is completely imported. */
  claimOrphans(): readonly OrphanJournal[];
  readonly store: {
    readonly ledger: Pick<LedgerStore, 'import' | 'position' | 'moveMark' | 'moveFormer' | 'prune' | 'pruneCaptures'>;
    readonly budgets: Pick<BudgetAccountStore, 'release'>;
    readonly storedObjects: Pick<StoredObjectStore, 'prune'>;
    readonly series: Pick<SeriesStore, 'tend'>;
  };
  readonly clock: Clock;
  readonly log: Log;
  readonly retentionMs: number;
  /** Maximum of rows in one import. */
  readonly batch?: number;
  readonly pollMs?: number;
}

export interface ImporterState {
  /** Rows imported since the start. */
  readonly importedRows: number;
  /** Journal bytes that are not imported into the store yet. */
  readonly bytesBehind: number;
  /** Rows in the bytes that are not imported yet. */
  readonly rowsBehind: number;
  /** Time of the oldest row that is not imported; undefined where there is none. */
  readonly oldestAtMs: number | undefined;
  /** Why the store refuses rows at present; undefined where it accepts them. */
  readonly failure: string | undefined;
}

export const nothingImported: ImporterState = Object.freeze({
  importedRows: 0,
  bytesBehind: 0,
  rowsBehind: 0,
  oldestAtMs: undefined,
  failure: undefined,
});

export interface Importer {
  /** Resolves once everything that was in the journals at the start is imported. */
  caughtUp(): Promise<void>;
  state(): ImporterState;
  retain(retentionMs: number): void;
  /** Imports what remains, if the store accepts it, and stops. */
  close(): Promise<void>;
}

/** The rows that come during the longest pause, at thousands of requests a second; SQLite takes some 40 ms for them. */
const defaultBatch = 5_000;
/**
 * Rows in memory at a time. If all rows of a batch lived until its end, V8 would copy each of them into its old generation, whose collections cost as
 * much CPU as writing the rows.
 */
const partRows = 256;
const defaultPollMs = 100;
/** Factors for the pause after a step, by how many rows came: larger batches cost less per row. */
const polls = { nothing: 1, some: 2, many: 10 } as const;
const manyRows = 200;
const orphansEveryMs = 10_000;
const tidyEveryMs = 1_000;
const pruneEveryMs = 3_600_000;
/** Where rows are held back for longer than this, it is logged. */
const heldBackMs = 3_600_000;
const seriesEveryMs = 2_000;
const formerEveryMs = 60_000;
const progressEveryMs = 3_000;
const firstPauseMs = 50;
const longestPauseMs = 2_000;
/** Time for the import at the end of the process; the rest is imported at the next start. */
const closeWithinMs = 5_000;

/** What one step imported: nothing, some new rows, many, or more than a batch holds. */
type Came = 'nothing' | 'some' | 'many' | 'more';

export function createImporter(deps: ImporterDeps): Importer {
  const importer = new JournalImporter(deps);
  importer.start();
  return importer;
}

class Source {
  readonly reader: JournalReader;
  readonly release: (() => void) | undefined;
  isOpen = false;
  /** A batch that was read but not imported: while the store fails, nothing more is read, and the journal is the buffer. */
  held: JournalBatch | undefined = undefined;
  position: JournalPosition | undefined = undefined;
  failures = 0;
  /** Why the latest attempt to import failed; undefined where it succeeded. */
  failure: string | undefined = undefined;
  pausedUntilMs = 0;
  nextTidyMs = 0;

  constructor(reader: JournalReader, release?: () => void) {
    this.reader = reader;
    this.release = release;
  }
}

class JournalImporter implements Importer {
  readonly #deps: ImporterDeps;
  readonly #pollMs: number;
  #retentionMs: number;
  readonly #caughtUp = Promise.withResolvers<void>();
  #ended: Promise<void> = Promise.resolve();
  #sources: Source[] = [];
  /** Journals that existed at the start and were not read to their end yet. */
  readonly #behindAtStart = new Set<Source>();
  #isCaughtUp = false;
  #importedRows = 0;
  #nextOrphansMs = 0;
  #nextPruneMs = 0;
  #nextProgressMs: number;
  #nextSeriesMs = 0;
  #nextFormerMs = 0;
  /** Names of background work whose latest attempt failed. */
  readonly #failing = new Set<string>();
  /** The store's retention mark as last read, and the monotonic clock at that moment. */
  #mark: { readonly atMs: number; readonly movedMs: number } | undefined = undefined;
  #hasMoreToPrune = false;
  #isHeldBack = false;
  #closesAtMs = Number.POSITIVE_INFINITY;
  #wake: () => void = () => undefined;

  constructor(deps: ImporterDeps) {
    this.#deps = deps;
    this.#pollMs = deps.pollMs ?? defaultPollMs;
    this.#retentionMs = deps.retentionMs;
    this.#nextProgressMs = deps.clock.monotonicMs() + progressEveryMs;
    if (deps.own !== undefined) this.#sources.push(new Source(deps.own));
  }

  start(): void {
    this.#ended = this.#run();
  }

  caughtUp(): Promise<void> {
    return this.#caughtUp.promise;
  }

  state(): ImporterState {
    let bytesBehind = 0;
    let rowsBehind = 0;
    let oldestAtMs: number | undefined;
    for (const { reader } of this.#sources) {
      const state = reader.state();
      bytesBehind += state.bytesBehind;
      rowsBehind += state.rowsBehind;
      const atMs = state.oldestUnimportedAtMs;
      if (atMs !== undefined && (oldestAtMs === undefined || atMs < oldestAtMs)) oldestAtMs = atMs;
    }
    const failure = this.#sources.find((source) => source.failure !== undefined)?.failure;
    return { importedRows: this.#importedRows, bytesBehind, rowsBehind, oldestAtMs, failure };
  }

  retain(retentionMs: number): void {
    if (retentionMs < this.#retentionMs) this.#nextPruneMs = 0;
    this.#retentionMs = retentionMs;
  }

  async close(): Promise<void> {
    this.#closesAtMs = Math.min(this.#closesAtMs, this.#deps.clock.monotonicMs() + closeWithinMs);
    this.#wake();
    await this.#ended;
  }

  get #isClosing(): boolean {
    return Number.isFinite(this.#closesAtMs);
  }

  async #run(): Promise<void> {
    this.#claimOrphans();
    for (const source of this.#sources) this.#behindAtStart.add(source);
    for (;;) {
      const came: Came[] = [];
      for (const source of this.#sources) came.push(await this.#step(source));
      // A store that is locked blocks this thread: its state is reported before the other work waits for the lock as well.
      if (this.#sources.some(({ failure }) => failure !== undefined)) await this.#pause(0);
      const isBusy = came.some((one) => one !== 'nothing');
      // Under load rows are taken in large steps: a few at a time cost ten times as much each.
      let isHurried = came.includes('more') || (isBusy && (this.#isClosing || this.#behindAtStart.size > 0));
      if (this.#behindAtStart.size > 0) this.#reportProgress();
      else this.#isCaughtUp = true;
      if (this.#isCaughtUp) this.#caughtUp.resolve();
      if (this.#isClosing && (!isBusy || this.#deps.clock.monotonicMs() >= this.#closesAtMs)) break;
      if (!this.#isClosing) {
        this.#claimOrphans();
        if (await this.#prune()) isHurried = true;
        if (await this.#tendSeries()) isHurried = true;
        await this.#moveFormer();
      }
      const most = came.includes('many') ? 'many' : isBusy ? 'some' : 'nothing';
      if (!isHurried) await this.#pause(this.#pollMs * polls[most]);
    }
    for (const source of this.#sources) await this.#giveUp(source);
    this.#sources = [];
    this.#caughtUp.resolve();
  }

  async #step(source: Source): Promise<Came> {
    if (this.#deps.clock.monotonicMs() < source.pausedUntilMs) return 'nothing';
    try {
      const came = await this.#takeBatch(source);
      this.#succeeded(source);
      // Under steady traffic there are always further rows of this process.
      if (came === 'nothing' || (came !== 'more' && source.release === undefined)) this.#behindAtStart.delete(source);
      if (came === 'nothing' && source.release !== undefined) await this.#finished(source);
      return came;
    } catch (thrown) {
      this.#failed(source, thrown);
      return 'nothing';
    }
  }

  async #takeBatch(source: Source): Promise<Came> {
    const { reader } = source;
    const { store, batch = defaultBatch } = this.#deps;
    if (!source.isOpen) {
      source.position = await store.ledger.position(reader.id);
      await reader.open(source.position);
      source.isOpen = true;
    }
    source.held ??= await this.#read(source);
    const first = source.held;
    if (first.rows.length === 0 && first.endedNodes.length === 0 && isSame(first.position, source.position)) {
      source.held = undefined;
      await this.#tidy(source);
      return 'nothing';
    }
    // The store's position goes back where a replica took over without the last transactions: the journal may still have their rows.
    if (!isSame(await store.ledger.position(reader.id), source.position)) {
      source.isOpen = false;
      source.held = undefined;
      return this.#takeBatch(source);
    }
    let last = first;
    let { bytes } = first;
    let rows = first.rows.length;
    const endedNodes = [...first.endedNodes];
    const next = async (): Promise<JournalBatch | undefined> => {
      // While the store fails, one part is held, and nothing more is read.
      if (!last.isFull || rows >= batch || bytes >= mostBatchBytes || source.failures > 0) return undefined;
      last = await this.#read(source);
      bytes += last.bytes;
      rows += last.rows.length;
      endedNodes.push(...last.endedNodes);
      return last;
    };
    try {
      this.#importedRows += await store.ledger.import(reader.id, first.rows, first.position, next);
      for (const node of endedNodes) await store.budgets.release(node);
      await reader.imported(last.position);
    } catch (thrown) {
      // The store's position shows which parts were imported. The other parts are read again, with the nodes that ended in them.
      if (last !== first) {
        source.held = undefined;
        source.isOpen = false;
      }
      throw thrown;
    }
    source.position = last.position;
    source.held = undefined;
    return last.isFull ? 'more' : rows < manyRows ? 'some' : 'many';
  }

  async #read({ reader }: Source): Promise<JournalBatch> {
    const part = await reader.read(Math.min(partRows, this.#deps.batch ?? partRows));
    for (const sentence of part.damage) this.#deps.log.error('journal damaged', { reason: sentence });
    return part;
  }

  /** Deletes segments that could not be deleted right after their import. */
  async #tidy(source: Source): Promise<void> {
    const nowMs = this.#deps.clock.monotonicMs();
    if (source.position === undefined || nowMs < source.nextTidyMs) return;
    source.nextTidyMs = nowMs + tidyEveryMs;
    await source.reader.imported(source.position);
  }

  /** Gives up a journal without a writer that was read to its end. */
  async #finished(source: Source): Promise<void> {
    this.#sources = this.#sources.filter((other) => other !== source);
    await this.#giveUp(source);
  }

  async #giveUp({ reader, release }: Source): Promise<void> {
    try {
      await reader.close();
      release?.();
    } catch (thrown) {
      this.#deps.log.warn('journal reader not closed', { journal: reader.id, reason: reasonOf(thrown) });
    }
  }

  #succeeded(source: Source): void {
    if (source.failures === 0) return;
    source.failures = 0;
    source.failure = undefined;
    this.#deps.log.info('journal import working again', { journal: source.reader.id });
  }

  #failed(source: Source, thrown: unknown): void {
    const { clock, log } = this.#deps;
    const failure = reasonOf(thrown);
    // Logged again where the cause changes.
    if (source.failure !== failure) {
      log.error('journal import failing', { journal: source.reader.id, reason: failure });
    }
    source.failure = failure;
    source.pausedUntilMs = clock.monotonicMs() + Math.min(longestPauseMs, firstPauseMs * 2 ** source.failures);
    source.failures += 1;
  }

  #claimOrphans(): void {
    const { clock, log, claimOrphans } = this.#deps;
    const nowMs = clock.monotonicMs();
    if (nowMs < this.#nextOrphansMs) return;
    this.#nextOrphansMs = nowMs + orphansEveryMs;
    try {
      for (const { reader, release } of claimOrphans()) this.#sources.push(new Source(reader, release));
    } catch (thrown) {
      log.error('journals of other processes unreadable', { reason: reasonOf(thrown) });
    }
  }

  /** Deletes old rows, a few at a time, so that imports do not wait for long. True where there are more. */
  async #prune(): Promise<boolean> {
    const { clock, store } = this.#deps;
    if (!this.#isCaughtUp || clock.monotonicMs() < this.#nextPruneMs) return false;
    // Set before any await: a shorter retention that is set meanwhile must prune at once.
    this.#nextPruneMs = clock.monotonicMs() + pruneEveryMs;
    const hasMore = await this.#attempt('old ledger rows not deleted', async () => {
      const nowMs = await this.#findTime();
      const rows = await store.ledger.prune(nowMs - this.#retentionMs);
      const gone = rows + (await store.storedObjects.prune(nowMs - storedObjectsMs));
      this.#hasMoreToPrune = gone > 0;
      if (gone > 0) this.#nextPruneMs = 0;
      else await store.ledger.pruneCaptures(nowMs);
      return gone > 0;
    });
    if (hasMore === undefined) this.#nextPruneMs = clock.monotonicMs() + orphansEveryMs;
    return hasMore === true;
  }

  /** Sums up and deletes time series, a time span at a time, so that imports do not wait for long. */
  async #tendSeries(): Promise<boolean> {
    const { clock, store } = this.#deps;
    const markMs = this.#mark?.atMs;
    if (!this.#isCaughtUp || markMs === undefined || clock.monotonicMs() < this.#nextSeriesMs) return false;
    const tend = () => store.series.tend(this.#retentionMs, markMs);
    const hasMore = await this.#attempt('time series rollup failing', tend);
    const pauseMs = hasMore === undefined ? orphansEveryMs : seriesEveryMs;
    if (hasMore !== true) this.#nextSeriesMs = clock.monotonicMs() + pauseMs;
    return hasMore === true;
  }

  /** Moves some rows of older versions at each step, in small slices, so that other writers get more of the time. */
  async #moveFormer(): Promise<void> {
    const { clock, store } = this.#deps;
    if (!this.#isCaughtUp || clock.monotonicMs() < this.#nextFormerMs) return;
    const hasMore = await this.#attempt('older ledger rows not migrated', () => store.ledger.moveFormer());
    this.#nextFormerMs = clock.monotonicMs() + (hasMore === true ? this.#pollMs : formerEveryMs);
  }

  async #attempt<T>(failure: string, work: () => Promise<T>): Promise<T | undefined> {
    try {
      const result = await work();
      this.#failing.delete(failure);
      return result;
    } catch (thrown) {
      if (!this.#failing.has(failure)) this.#deps.log.warn(failure, { reason: reasonOf(thrown) });
      this.#failing.add(failure);
      return undefined;
    }
  }

  /** The time of day as confirmed by the store: a clock that jumps ahead must not delete everything. */
  async #findTime(): Promise<number> {
    const { clock, log, store } = this.#deps;
    const known = this.#mark;
    if (known !== undefined && this.#hasMoreToPrune) return known.atMs;
    const movedMs = clock.monotonicMs();
    const nowMs = clock.nowMs();
    const atMs = await store.ledger.moveMark(nowMs, known && known.atMs + movedMs - known.movedMs);
    this.#mark = { atMs, movedMs };
    const isHeldBack = nowMs - atMs > heldBackMs;
    if (isHeldBack && !this.#isHeldBack) {
      const [time, storeTime] = [nowMs, atMs].map((ms) => new Date(ms).toISOString());
      log.warn('ledger retention held back: clock ahead', { clock: time, store_time: storeTime });
    }
    this.#isHeldBack = isHeldBack;
    return atMs;
  }

  #reportProgress(): void {
    const { clock, log } = this.#deps;
    if (clock.monotonicMs() < this.#nextProgressMs) return;
    this.#nextProgressMs = clock.monotonicMs() + progressEveryMs;
    const { importedRows, bytesBehind } = this.state();
    log.info('journal import in progress', { imported_rows: importedRows, bytes_behind: bytesBehind });
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}

function isSame(one: JournalPosition | undefined, other: JournalPosition | undefined): boolean {
  return one?.segment === other?.segment && one?.offset === other?.offset;
}
