/** Activity over a time range, from the ledger's sums, and from its rows for short ranges. */

import type * as z from 'zod';
import { type LedgerRow, type RowOutcome, rowOutcomes } from '../../core/accounting/ledger-row.ts';
import { addSums, noSums } from '../../core/accounting/usage-sums.ts';
import type { LedgerFilter, LedgerStore, UsageSums } from '../../core/store/ledger.ts';
import { toDollars } from '../../lib/money.ts';
import { toInstant } from '../shapes/common.ts';
import type { Breakdown, overview, overviewBucket, overviewQuery, overviewSums, Range } from './contract/state.ts';

type OverviewQuery = z.output<typeof overviewQuery>;
type Overview = z.input<typeof overview>;
type Ledger = Pick<LedgerStore, 'usage' | 'page'>;

/** Number of rows that percentiles are computed from. */
const newestRows = 1_000;
/** Two pages: with more rows, the hour is shown as a whole. */
const mostRowsByMinute = 2_000;
const topLines = 10;

interface Collected {
  readonly fromMs: number;
  readonly bucket: Overview['bucket'];
  readonly lines: readonly Line[];
  readonly byId: ReadonlyMap<string, UsageSums>;
}

export async function readOverview(ledger: Ledger, query: OverviewQuery, nowMs: number): Promise<Overview> {
  const { range, by: _, order, ...filter } = query;
  const stretch = toStretch(range, nowMs);
  const [collected, comparison, newest, today] = await Promise.all([
    collect(ledger, query, stretch),
    compare(ledger, filter, stretch),
    ledger.page({ ...filter, fromMs: range === '1h' ? nowMs - hourMs : stretch.fromMs }, { limit: newestRows }),
    readToday(ledger, nowMs),
  ]);
  return {
    from: toInstant(collected.fromMs),
    to: toInstant(stretch.toMs),
    bucket: collected.bucket,
    total: toFigures(collected.lines.reduce((total, { sums }) => addSums(total, sums), noSums)),
    buckets: toBuckets(collected, stretch.toMs),
    ...toTop(collected.byId, order),
    comparison,
    latency: toLatency(newest.rows, newest.next === undefined),
    today,
  };
}

async function collect(ledger: Ledger, query: OverviewQuery, stretch: Stretch): Promise<Collected> {
  const { range, by, order: _, ...filter } = query;
  const byMinute = range === '1h' ? await collectRows(ledger, filter, by, stretch.toMs) : undefined;
  return byMinute ?? collectSums(ledger, filter, by, stretch);
}

async function collectSums(
  ledger: Ledger,
  filter: LedgerFilter,
  by: OverviewQuery['by'],
  { fromMs, bucket }: Stretch,
): Promise<Collected> {
  const unit = bucket === 'day' ? 'day' : 'hour';
  const span = { ...filter, fromMs };
  const [overTime, byGroup] = await Promise.all([ledger.usage(span, [unit, 'outcome']), ledger.usage(span, [by])]);
  const lines = overTime.flatMap(({ by: names, sums }): Line[] => {
    const outcome = rowOutcomes.find((one) => one === names.outcome);
    return outcome === undefined ? [] : [{ atMs: Date.parse(names[unit] ?? ''), outcome, sums }];
  });
  return { fromMs, bucket, lines, byId: new Map(byGroup.map((line) => [line.by[by] ?? '', line.sums])) };
}

/** The last sixty minutes. Undefined where they have too many rows. */
async function collectRows(
  ledger: Ledger,
  filter: LedgerFilter,
  by: OverviewQuery['by'],
  nowMs: number,
): Promise<Collected | undefined> {
  const fromMs = nowMs - hourMs;
  const [sums] = await ledger.usage({ ...filter, fromMs }, []);
  if ((sums?.sums.requests ?? 0) > mostRowsByMinute) return undefined;
  const rows: LedgerRow[] = [];
  let before: string | undefined;
  do {
    const page = await ledger.page({ ...filter, fromMs }, { before, limit: newestRows });
    rows.push(...page.rows);
    before = page.next;
  } while (before !== undefined && rows.length < mostRowsByMinute);
  const byId = new Map<string, UsageSums>();
  const lines = rows.map((row): Line => {
    const one = toSumsOfRow(row);
    const id = idOf(row, by);
    byId.set(id, addSums(byId.get(id) ?? noSums, one));
    return { atMs: Math.floor(row.startedAtMs / minuteMs) * minuteMs, outcome: row.outcome, sums: one };
  });
  return { fromMs, bucket: 'minute', lines, byId };
}

function toBuckets({ fromMs, bucket, lines }: Collected, toMs: number): z.input<typeof overviewBucket>[] {
  const byTime = Map.groupBy(lines, ({ atMs }) => atMs);
  return bucketsOf({ fromMs, toMs, bucket }).map((atMs) => {
    const own = byTime.get(atMs) ?? [];
    const byOutcome: z.input<typeof overviewBucket>['byOutcome'] = {};
    for (const { outcome, sums } of own) byOutcome[outcome] = (byOutcome[outcome] ?? 0) + sums.requests;
    const total = own.reduce((all, { sums }) => addSums(all, sums), noSums);
    return { at: toInstant(atMs), byOutcome, ...toFigures(total) };
  });
}

function toTop(byId: ReadonlyMap<string, UsageSums>, order: OverviewQuery['order']): Pick<Overview, 'top' | 'others'> {
  const sorted = [...byId].sort(([a, one], [b, other]) => compareBy(order, other, one) || (a < b ? -1 : 1));
  const rest = sorted.slice(topLines);
  return {
    top: sorted.slice(0, topLines).map(([id, sums]) => ({ id: id || null, ...toFigures(sums) })),
    others:
      rest.length === 0
        ? null
        : { count: rest.length, ...toFigures(rest.reduce((all, [, sums]) => addSums(all, sums), noSums)) },
  };
}

function compareBy(order: OverviewQuery['order'], a: UsageSums, b: UsageSums): number {
  if (order !== 'cost') return a[order] - b[order];
  if (a.costNanos === b.costNanos) return a.requests - b.requests;
  return a.costNanos < b.costNanos ? -1 : 1;
}

async function compare(ledger: Ledger, filter: LedgerFilter, { whole }: Stretch): Promise<Overview['comparison']> {
  const { fromMs, toMs, earlierByMs } = whole;
  if (fromMs >= toMs) return null;
  const sumOf = async (start: number, end: number): Promise<UsageSums> =>
    (await ledger.usage({ ...filter, fromMs: start, toMs: end }, []))[0]?.sums ?? noSums;
  const [now, before] = await Promise.all([sumOf(fromMs, toMs), sumOf(fromMs - earlierByMs, toMs - earlierByMs)]);
  return { from: toInstant(fromMs), to: toInstant(toMs), now: toFigures(now), before: toFigures(before) };
}

function toLatency(rows: readonly LedgerRow[], isAll: boolean): Overview['latency'] {
  const ended = rows.filter(({ outcome }) => outcome !== 'lost');
  const duration = toPercentiles(ended.map(({ durationMs }) => durationMs));
  if (duration === undefined) return null;
  const firstByte = toPercentiles(ended.flatMap(({ firstByteMs }) => firstByteMs ?? []));
  return { rows: ended.length, isAll, duration, firstByte: firstByte ?? null };
}

/** Of the values themselves. */
function toPercentiles(values: readonly number[]): { p50: number; p95: number; p99: number } | undefined {
  if (values.length === 0) return undefined;
  const sorted = values.toSorted((a, b) => a - b);
  const at = (quantile: number): number => sorted[Math.max(0, Math.ceil(sorted.length * quantile) - 1)] ?? 0;
  return { p50: at(0.5), p95: at(0.95), p99: at(0.99) };
}

async function readToday(ledger: Ledger, nowMs: number): Promise<Overview['today']> {
  const fromMs = Math.floor(nowMs / dayMs) * dayMs;
  const lines = await ledger.usage({ fromMs }, ['hour']);
  const byHour = new Map(lines.map(({ by, sums }) => [Date.parse(by.hour ?? ''), sums]));
  return {
    from: toInstant(fromMs),
    total: toFigures(lines.reduce((total, { sums }) => addSums(total, sums), noSums)),
    hours: bucketsOf({ fromMs, toMs: nowMs, bucket: 'hour' }).map((atMs) => ({
      at: toInstant(atMs),
      cost: toDollars((byHour.get(atMs) ?? noSums).costNanos),
    })),
  };
}

function toFigures(sums: UsageSums): z.input<typeof overviewSums> {
  const { requests, errors, inputTokens, outputTokens, costNanos, unpriced, durationMs } = sums;
  const meanMs = requests === 0 ? null : durationMs / requests;
  return { requests, errors, inputTokens, outputTokens, cost: toDollars(costNanos), unpriced, meanMs };
}

/** Input of a chart and a list, from any source. */
interface Line {
  readonly atMs: number;
  readonly outcome: RowOutcome;
  readonly sums: UsageSums;
}

/** As the import sums a row. */
function toSumsOfRow(row: LedgerRow): UsageSums {
  const isUnpriced = row.costNanos === null && (row.billedInputTokens !== null || row.outcome === 'lost');
  return {
    requests: 1,
    errors: row.outcome === 'ok' ? 0 : 1,
    inputTokens: row.billedInputTokens ?? 0,
    outputTokens: row.billedOutputTokens ?? 0,
    searchUnits: row.billedSearchUnits ?? 0,
    items: row.items,
    costNanos: BigInt(row.costNanos ?? 0),
    unpriced: isUnpriced ? 1 : 0,
    estimated: row.isEstimated ? 1 : 0,
    requestBytes: row.requestBytes,
    responseBytes: row.responseBytes,
    durationMs: row.durationMs,
  };
}

function idOf(row: LedgerRow, by: Breakdown): string {
  return row[by] ?? '';
}

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

interface Stretch {
  readonly fromMs: number;
  readonly toMs: number;
  readonly bucket: 'minute' | 'hour' | 'day';
  /** The span's whole hours, and the same number of hours before; without the current hour. */
  readonly whole: { readonly fromMs: number; readonly toMs: number; readonly earlierByMs: number };
}

const lengths: Readonly<Record<Range, number>> = { '1h': hourMs, '24h': dayMs, '7d': 7 * dayMs, '30d': 30 * dayMs };

export function toStretch(range: Range, nowMs: number): Stretch {
  const lengthMs = lengths[range];
  const hourNow = Math.floor(nowMs / hourMs) * hourMs;
  if (range === '1h') {
    const whole = { fromMs: hourNow - hourMs, toMs: hourNow, earlierByMs: hourMs };
    return { fromMs: hourNow - hourMs, toMs: nowMs, bucket: 'hour', whole };
  }
  const dayNow = Math.floor(nowMs / dayMs) * dayMs;
  const fromMs = range === '24h' ? hourNow - lengthMs + hourMs : dayNow - lengthMs + dayMs;
  const whole = { fromMs, toMs: hourNow, earlierByMs: lengthMs };
  return { fromMs, toMs: nowMs, bucket: range === '30d' ? 'day' : 'hour', whole };
}

/** The beginnings of all buckets, including those without a request. */
function bucketsOf({ fromMs, toMs, bucket }: Pick<Stretch, 'fromMs' | 'toMs' | 'bucket'>): number[] {
  const stepMs = { minute: minuteMs, hour: hourMs, day: dayMs }[bucket];
  const first = Math.floor(fromMs / stepMs) * stepMs;
  const starts: number[] = [];
  for (let at = first; at < toMs; at += stepMs) starts.push(at);
  return starts;
}
