/** The ledger in the store: queries, results, and the interface. */

import type { Capture, LedgerRow, RowOutcome } from '../accounting/ledger-row.ts';
import type { UnitSums } from '../accounting/units.ts';
import type { Operation } from '../operations/index.ts';

/** Up to where a journal is in the store. */
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
  /** The client's own; sums know nothing of it. */
  readonly clientRequestId?: string | undefined;
}

export interface LedgerPage {
  /** The newest first. */
  readonly rows: readonly LedgerRow[];
  /** What to give as `before` for the next page; undefined where this was the last. */
  readonly next: string | undefined;
}

/** By what usage is added up; the columns of the answer, in this order. */
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

export interface UsageSums {
  readonly requests: number;
  /** Of them, those that ended with an outcome other than `ok`. */
  readonly errors: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly searchUnits: number;
  readonly items: number;
  readonly costNanos: bigint;
  /** Requests whose cost is not known, and is not in the sum. */
  readonly unpriced: number;
  /** Requests whose usage is an estimate, at least in part. */
  readonly estimated: number;
  readonly requestBytes: number;
  readonly responseBytes: number;
  readonly durationMs: number;
}

export interface UsageLine {
  /** One value for each group that was asked for; days as 2026-11-21 and hours as 2026-11-21T10:00Z, in UTC. */
  readonly by: Readonly<Partial<Record<UsageGroup, string>>>;
  readonly sums: UsageSums;
}

export interface UnitLine {
  /** As those of a line of usage. */
  readonly by: UsageLine['by'];
  readonly units: UnitSums;
}

export interface LedgerStore {
  /**
   * In one transaction: the rows that are not there yet, their sums, what they cost the budgets, and the position. Rows that
   * are there already change nothing. Gives back how many were new.
   */
  import(journal: string, rows: readonly ImportedRow[], position: JournalPosition): Promise<number>;
  position(journal: string): Promise<JournalPosition | undefined>;
  /**
   * True where all that was imported stands in the database itself by now, and hangs on no log beside it that could be lost alone.
   * False where someone is in the way just now; it can be asked again.
   */
  secure(): Promise<boolean>;
  get(id: string): Promise<LedgerRow | undefined>;
  capture(id: string): Promise<Capture | undefined>;
  /** `before` is a `next`; `limit` is 1,000 at most. */
  page(
    filter: LedgerFilter,
    options: { readonly before?: string | undefined; readonly limit: number },
  ): Promise<LedgerPage>;
  /** From the sums by hour and by day, never from the rows: whole hours, at the ends of the span too. */
  usage(filter: LedgerFilter, by: readonly UsageGroup[]): Promise<UsageLine[]>;
  /** What was counted beside that, from its sums in the same way: only the lines that have some. */
  unitUsage(filter: LedgerFilter, by: readonly UsageGroup[]): Promise<UnitLine[]>;
  /**
   * Moves the mark of time that retention follows, and returns it; never past `nowMs`, which a wrong clock may give. A start moves it by
   * 48 h at most. Later it moves to `reachedMs`, the mark of the start and the time that the process ran since.
   */
  moveMark(nowMs: number, reachedMs?: number): Promise<number>;
  /** Undefined where nothing has moved it yet. */
  readMark(): Promise<number | undefined>;
  /** Somebody says that the clock is right. */
  setMark(nowMs: number): Promise<void>;
  /** How many rows began before. */
  countBefore(beforeMs: number): Promise<number>;
  /** Moves a few rows of former versions to where this version keeps its own; returns whether there may be more. */
  moveFormer(): Promise<boolean>;
  /** Deletes rows and captures that began before; sums stay. A few thousand at a time: call again until it says 0. */
  prune(beforeMs: number): Promise<number>;
  /** Deletes what was captured and is over its time. */
  pruneCaptures(nowMs: number): Promise<number>;
  /** Compares rows with sums, hour by hour, in the span: whatever differs, in words. Hours of which rows were pruned are left out. */
  verify(fromMs: number, toMs: number): Promise<string[]>;
}
