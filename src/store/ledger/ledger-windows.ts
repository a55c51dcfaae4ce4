/** Finds time windows that may have matching rows where no index helps, newest first. Series show which hours have such rows. */

import { type Kysely, sql } from 'kysely';
import type { LedgerFilter } from '../../core/store/ledger.ts';
import { bucketOf } from '../../lib/sketch.ts';
import { inBackground } from '../../lib/time-slices.ts';
import type { Schema } from '../schema.ts';
import {
  BlockReader,
  type CellName,
  cellKinds,
  countAt,
  nameAt,
  noName,
  othersName,
  sketchAt,
} from '../series/series-block.ts';
import { readBlocks, readSince } from '../series/series-blocks.ts';
import { sectionOf } from '../series/series-cells.ts';
import { keptMs } from '../series/series-plan.ts';
import { readCompactExtent } from './ledger-compact.ts';
import { isSqlite } from './ledger-insert.ts';
import { dayMs, hourMs, toConditions, toName, toTimeOf } from './ledger-rows.ts';
import type { Stretch } from './ledger-slices.ts';

/** Whether the filter has a property for which there is no index. */
export const isByWindows = ({ error, cache, minDurationMs, minCostNanos, keys }: LedgerFilter): boolean =>
  [error, cache, minDurationMs, minCostNanos, keys].some((one) => one !== undefined);

/** Rows that one statement looks through, so that other statements do not wait for long. */
const rowsPerWindow = 50_000;
const mostHoursAtOnce = 24;

export async function* windowsOf(
  db: Kysely<Schema>,
  filter: LedgerFilter,
  within: Stretch,
  nowMs: number,
): AsyncGenerator<Stretch, void, void> {
  const extent = await readExtent(db);
  if (extent === undefined) return;
  const fromMs = Math.max(within.fromMs, extent.fromMs);
  const sinceMs = await readSince(db);
  let upToMs = Math.min(within.toMs, extent.toMs);
  for (let hours = 1; upToMs > fromMs; hours = Math.min(mostHoursAtOnce, hours * 4)) {
    // Hourly blocks of older days are deleted: only whole days can be judged.
    const unitMs = upToMs <= nowMs - keptMs.hour + 2 * dayMs ? dayMs : hourMs;
    const firstMs = floorTo(upToMs - 1, unitMs) - (unitMs === dayMs ? 0 : (hours - 1) * hourMs);
    const known = await readUnits(db, filter, { fromMs: firstMs, toMs: upToMs }, unitMs);
    for (let atMs = floorTo(upToMs - 1, unitMs); atMs >= firstMs && atMs + unitMs > fromMs; atMs -= unitMs) {
      const { requests = 0, mayHave = atMs < sinceMs } = known.get(atMs) ?? {};
      if (!mayHave && atMs >= sinceMs) continue;
      const partMs = Math.ceil(unitMs / Math.max(1, Math.ceil(requests / rowsPerWindow)));
      for (let endMs = Math.min(atMs + unitMs, upToMs); endMs > Math.max(atMs, fromMs); endMs -= partMs) {
        yield { fromMs: Math.max(endMs - partMs, atMs, fromMs), toMs: endMs };
      }
    }
    upToMs = firstMs;
  }
}

const floorTo = (ms: number, unitMs: number): number => Math.floor(ms / unitMs) * unitMs;

async function readExtent(db: Kysely<Schema>): Promise<Stretch | undefined> {
  const { rows } = await sql<Record<'first' | 'last', string | null>>`
    select (select min(id) from ledger) as first, (select max(id) from ledger) as last`.execute(db);
  const { first = null, last = null } = rows[0] ?? {};
  const compact = isSqlite(db) ? await readCompactExtent(db) : undefined;
  const times = [first, last].flatMap((id) => (id === null ? [] : toTimeOf(id)));
  if (compact !== undefined) times.push(compact.firstMs, compact.lastMs);
  return times.length === 0 ? undefined : { fromMs: Math.min(...times), toMs: Math.max(...times) + 1 };
}

/** An hour or a day: its number of requests, and whether some may match the filter. */
interface Unit {
  requests: number;
  mayHave: boolean;
}

async function readUnits(
  db: Kysely<Schema>,
  filter: LedgerFilter,
  { fromMs, toMs }: Stretch,
  unitMs: number,
): Promise<ReadonlyMap<number, Unit>> {
  const wanted = wantedOf(filter);
  const names = wanted.names.map(([name]) => name);
  const level = unitMs === dayMs ? 'day' : 'hour';
  const section = sectionOf(filter.keys === undefined ? names : [...names, 'key']);
  const units = new Map<number, Unit>();
  for (const { at, data } of await readBlocks(db, [{ level, fromMs, toMs }], [section])) {
    const unit = units.get(floorTo(at, unitMs)) ?? { requests: 0, mayHave: false };
    units.set(floorTo(at, unitMs), unit);
    lookThrough(new BlockReader(data), wanted, unit);
    await inBackground.sliceIfOver();
  }
  return units;
}

function wantedOf(filter: LedgerFilter) {
  const { error, cache, keys, minDurationMs, minCostNanos } = filter;
  const names = toConditions(filter).map(({ column, value }): readonly [CellName, string] => [column, value]);
  if (error !== undefined) names.push(['code', toName(error)]);
  if (cache !== undefined) names.push(['cache', toName(cache)]);
  const bucket = minDurationMs === undefined ? undefined : bucketOf(minDurationMs);
  return { names, keys: keys && new Set(keys), bucket, minCostNanos };
}

function lookThrough(reader: BlockReader, wanted: ReturnType<typeof wantedOf>, unit: Unit): void {
  const { keys, bucket, minCostNanos } = wanted;
  const numbers = wanted.names.map(([name, text]) => [nameAt[name], reader.find(text)] as const);
  while (reader.next()) {
    if (reader.kind !== cellKinds.request) continue;
    reader.readFigures();
    unit.requests += reader.counts[countAt.requests] ?? 0;
    if (unit.mayHave) continue;
    const { names } = reader;
    const key = names[nameAt.key] ?? noName;
    unit.mayHave =
      numbers.every(([index, number]) => names[index] === number || names[index] === othersName) &&
      (keys === undefined || key === othersName || keys.has(reader.text(key))) &&
      (minCostNanos === undefined || (reader.counts[countAt.costNanos] ?? 0) >= minCostNanos) &&
      (bucket === undefined || slowestOf(reader) >= bucket);
  }
}

/** The highest bucket of the durations of a cell; infinite for lost requests, whose duration is unknown. */
function slowestOf(reader: BlockReader): number {
  const pairs = reader.sketches[sketchAt.duration];
  const length = reader.lengths[sketchAt.duration] ?? 0;
  const isMeasured = reader.text(reader.names[nameAt.outcome] ?? noName) !== 'lost';
  return isMeasured ? (pairs?.[length - 2] ?? -1) : Number.POSITIVE_INFINITY;
}
