/** The ledger in the store: queries, results, and the interface. */

import type { Capture, LedgerRow, RowOutcome } from '../accounting/ledger-row.ts';
import type { UnitSums } from '../accounting/units.ts';
import type { Operation } from '../operations/index.ts';

/** How far a journal is imported into the store. */
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
  /** Started at this time or later. */
  readonly fromMs?: number | undefined;
  /** Started before. */
  readonly toMs?: number | undefined;
  readonly key?: string | undefined;
  readonly project?: string | undefined;
  readonly model?: string | undefined;
  readonly upstream?: string | undefined;
  readonly operation?: Operation | undefined;
  readonly outcome?: RowOutcome | undefined;
  readonly status?: number | undefined;
  /** The client's own; sums cannot be filtered by it. */
  readonly clientRequestId?: string | undefined;
  /** The gateway's error code. Neither sums nor indices know this and the next ones. */
  readonly error?: string | undefined;
  readonly cache?: string | undefined;
  readonly minDurationMs?: number | undefined;
  readonly minCostNanos?: number | undefined;
  /** One of these. */
  readonly keys?: readonly string[] | undefined;
}

export interface LedgerPage {
  /** The newest first. Where no index leads to them, fewer than there are: as many as were found within a bounded time. */
  readonly rows: readonly LedgerRow[];
  /** `before` of the next page; undefined for the last one. */
  readonly next: string | undefined;
}

/** Groupings of usage; the columns of the answer, in this order. */
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
  /** Requests with another outcome than `ok`. */
  'errors',
  'inputTokens',
  'outputTokens',
  'searchUnits',
  'items',
  /** Requests of unknown cost, which is not in the sum. */
  'unpriced',
  /** Requests whose usage is at least partly estimated. */
  'estimated',
  'requestBytes',
  'responseBytes',
  'durationMs',
] as const;

export type UsageSums = Readonly<Record<(typeof summedCounts)[number], number>> & { readonly costNanos: bigint };

export interface UsageLine {
  /** One value for each requested group; days as 2026-11-21 and hours as 2026-11-21T10:00Z, in UTC. */
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
   * In one transaction: new rows, their sums, their cost to the budgets, and the position. Known rows change nothing. Returns how many were new.
   * `next` reads the rows that follow, with the position behind them; it is called until it returns undefined.
   */
  import(
    journal: string,
    rows: readonly ImportedRow[],
    position: JournalPosition,
    next?: () => Promise<ImportedPart | undefined>,
  ): Promise<number>;
  position(journal: string): Promise<JournalPosition | undefined>;
  /** True once imported rows are in the database file itself, and need no log beside it. False where another connection is in the way. */
  secure(): Promise<boolean>;
  get(id: string): Promise<LedgerRow | undefined>;
  capture(id: string): Promise<Capture | undefined>;
  /** `before` is a `next`; `limit` is at most 1,000. */
  page(
    filter: LedgerFilter,
    options: { readonly before?: string | undefined; readonly limit: number },
  ): Promise<LedgerPage>;
  /** From the hourly and daily sums, never from the rows: in whole hours. `unpriced`: of requests with unknown cost alone, as far as sums tell them apart. */
  usage(filter: LedgerFilter, by: readonly UsageGroup[], only?: 'unpriced'): Promise<UsageLine[]>;
  /** By key, the beginning of the last hour with a request since `fromMs`, else of the last day. */
  lastUse(fromMs: number): Promise<ReadonlyMap<string, number>>;
  /** Further units from their sums: only the lines that have some. */
  unitUsage(filter: LedgerFilter, by: readonly UsageGroup[]): Promise<UnitLine[]>;
  /**
   * Moves the mark of time that retention follows, and returns it; never past `nowMs`, which a wrong clock may give. A start moves it by 48 h at
   * most. Later it moves to `reachedMs`, the mark of the start and the process's running time since.
   */
  moveMark(nowMs: number, reachedMs?: number): Promise<number>;
  /** Undefined where it was never set. */
  readMark(): Promise<number | undefined>;
  /** An operator confirms the clock. */
  setMark(nowMs: number): Promise<void>;
  countBefore(beforeMs: number): Promise<number>;
  /** Moves a few rows of older versions into the present tables; returns whether there may be more. */
  moveFormer(): Promise<boolean>;
  /** Deletes rows and captures that began before; sums stay. A few thousand at a time: call until it returns 0. */
  prune(beforeMs: number): Promise<number>;
  pruneCaptures(nowMs: number): Promise<number>;
  /** Compares rows with sums by the hour: the differences as sentences. Hours with pruned rows are skipped. */
  verify(fromMs: number, toMs: number): Promise<string[]>;
}
