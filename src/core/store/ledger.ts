/** Interface to the ledger in the store: imports rows, finds them, and adds up usage. */

import type { Capture, LedgerRow, RowOutcome } from '../accounting/ledger-row.ts';
import type { UnitSums } from '../accounting/units.ts';
import type { Operation } from '../operations/index.ts';

/** The position in a journal up to which rows are imported into the store. */
export interface JournalPosition {
  readonly segment: number;
  readonly offset: number;
}

export interface ImportedRow {
  readonly row: LedgerRow;
  readonly accounts: readonly string[];
  readonly capture?: Capture | undefined;
}

export interface LedgerFilter {
  /** Only requests that started at this time or later. */
  readonly fromMs?: number | undefined;
  /** Only requests that started before this time. */
  readonly toMs?: number | undefined;
  readonly key?: string | undefined;
  readonly project?: string | undefined;
  readonly model?: string | undefined;
  readonly upstream?: string | undefined;
  readonly operation?: Operation | undefined;
  readonly outcome?: RowOutcome | undefined;
  readonly status?: number | undefined;
  /** The request ID that the client sent; sums cannot be filtered by it. */
  readonly clientRequestId?: string | undefined;
  /** The gateway's error code. Sums and database indices do not know this and the next fields. */
  readonly error?: string | undefined;
  readonly cache?: string | undefined;
  readonly minDurationMs?: number | undefined;
  readonly minCostNanos?: number | undefined;
  readonly keys?: readonly string[] | undefined;
}

export interface LedgerPage {
  /** The newest first. Where no database index helps the search, only as many as were found within a bounded time. */
  readonly rows: readonly LedgerRow[];
  /** The value of `before` for the next page; undefined where this page is the last. */
  readonly next: string | undefined;
}

/** What usage can be grouped by; the columns of the answer are in this order. */
export const usageGroups = [
  'key',
  'project',
  'model',
  'upstream',
  'route',
  'operation',
  'outcome',
  'hour',
  'day',
] as const;
export type UsageGroup = (typeof usageGroups)[number];

export const summedCounts = [
  'requests',
  /** Number of requests with another outcome than `ok`. */
  'errors',
  'inputTokens',
  'outputTokens',
  'searchUnits',
  'items',
  /** Number of requests with unknown cost, which the sum of costs lacks. */
  'unpriced',
  'estimated',
  'requestBytes',
  'responseBytes',
  'durationMs',
] as const;

export type UsageSums = Readonly<Record<(typeof summedCounts)[number], number>> & { readonly costNanos: bigint };

export interface UsageLine {
  /** The group of the line: one value for each requested grouping; days as 2026-11-21 and hours as 2026-11-21T10:00Z, in UTC. */
  readonly by: Readonly<Partial<Record<UsageGroup, string>>>;
  readonly sums: UsageSums;
}

export interface UnitLine {
  readonly by: UsageLine['by'];
  readonly units: UnitSums;
}

export interface ImportedPart {
  readonly rows: readonly ImportedRow[];
  readonly position: JournalPosition;
}

export interface LedgerStore {
  /**
   * Stores in one transaction: new rows, their sums, their cost to the budgets, and the position. Known rows change nothing. Returns how many were
   * new. `next` reads the rows that follow, with the position behind them; it is called until it returns undefined.
   */
  import(
    journal: string,
    rows: readonly ImportedRow[],
    position: JournalPosition,
    next?: () => Promise<ImportedPart | undefined>,
  ): Promise<number>;
  position(journal: string): Promise<JournalPosition | undefined>;
  /** True once imported rows are in the database file itself, and no longer only in its log. False where another connection prevents that. */
  secure(): Promise<boolean>;
  get(id: string): Promise<LedgerRow | undefined>;
  capture(id: string): Promise<Capture | undefined>;
  /** Rows that match the filter. `before` is the `next` of the previous page; `limit` is at most 1,000. */
  page(
    filter: LedgerFilter,
    options: { readonly before?: string | undefined; readonly limit: number },
  ): Promise<LedgerPage>;
  /** Usage from the hourly and daily sums, never from the rows: in whole hours. `unpriced`: of requests with unknown cost, as far as sums tell. */
  usage(filter: LedgerFilter, by: readonly UsageGroup[], only?: 'unpriced'): Promise<UsageLine[]>;
  /** For each key that was used since `fromMs`: when it was used last, to the hour (older: to the day). */
  lastUse(fromMs: number): Promise<ReadonlyMap<string, number>>;
  /** Sums of further units; only lines that have such units. */
  unitUsage(filter: LedgerFilter, by: readonly UsageGroup[]): Promise<UnitLine[]>;
  /**
   * Moves the retention mark, the time by which retention judges the age of rows, and returns it; never past `nowMs`, as the clock may be wrong.
   * A start moves it by 48 h at most. Later it moves to `reachedMs`, the mark at the start plus the process's running time since.
   */
  moveMark(nowMs: number, reachedMs?: number): Promise<number>;
  /** Reads the retention mark, the time by which retention judges the age of rows; undefined where it was never set. */
  readMark(): Promise<number | undefined>;
  /** Sets the retention mark to the clock, which an operator has confirmed. */
  setMark(nowMs: number): Promise<void>;
  countBefore(beforeMs: number): Promise<number>;
  /** Moves a few rows, written by older versions, into the present tables; returns whether there may be more. */
  moveFormer(): Promise<boolean>;
  /** Deletes rows and captured bodies of requests that began before; sums stay. A few thousand at a time: call until it returns 0. */
  prune(beforeMs: number): Promise<number>;
  pruneCaptures(nowMs: number): Promise<number>;
  /** Compares rows with sums, hour by hour, and returns the differences as sentences. Hours with deleted rows are skipped. */
  verify(fromMs: number, toMs: number): Promise<string[]>;
}
