/** Stores series blocks in the database. Imports add blocks per minute, which are rolled up to one per minute, hour and day. */

import { type Kysely, sql, type Transaction } from 'kysely';
import type { SeriesQuery, SeriesStore } from '../../core/store/series.ts';
import type { Clock } from '../../lib/clock.ts';
import { codeOf } from '../../lib/thrown.ts';
import { newestCompactBefore, rowsOfTime } from '../ledger/ledger-compact.ts';
import { isSqlite } from '../ledger/ledger-insert.ts';
import { dayMs, firstIdOf, hourMs, toTimeOf } from '../ledger/ledger-rows.ts';
import type { LedgerTable, Schema } from '../schema.ts';
import { BlockReader, Cells, writeBlock } from './series-block.ts';
import { boundCells, Minutes, minuteMs, type Section, sections, withoutNames } from './series-cells.ts';
import { type Interval, keptMs, levels, planSeries } from './series-plan.ts';
import { readSeries } from './series-read.ts';
import type { StoredBlock } from './series-selection.ts';

/** Stores blocks of imported rows, in the transaction that imports the rows. */
export async function insertSeries(trx: Transaction<Schema>, minutes: Minutes): Promise<void> {
  const blocks = [...minutes.cells].map(([at, cells]) => ({
    level: levels.raw,
    section: sections.detail.number,
    at,
    rolled: 0,
    data: writeBlock(boundCells(cells.values())),
  }));
  for (const block of blocks) await trx.insertInto('series_blocks').values(block).execute();
}

/** The time from which blocks cover all rows. */
export async function readSince(db: Kysely<Schema>): Promise<number> {
  const row = await db.selectFrom('series_since').select('at').executeTakeFirst();
  return Number(row?.at ?? 0);
}

/** Limits of one step, so that other writers do not wait for long. */
const formerAtOnce = { minutes: 60, rows: 10_000 };

/** Adds blocks for rows older than the series, a minute at a time, newest first; returns the new beginning. Replaces late blocks. */
async function addFormerRows(db: Kysely<Schema>): Promise<number> {
  let sinceMs = await readSince(db);
  for (
    let minutes = 0, rows = 0;
    sinceMs > 0 && minutes < formerAtOnce.minutes && rows < formerAtOnce.rows;
    minutes++
  ) {
    const newest = await newestBefore(db, sinceMs);
    const minute = newest === undefined ? 0 : newest - (newest % minuteMs);
    const added = await addMinute(db, minute, sinceMs);
    // Another node added the rows first.
    if (added === undefined) return readSince(db);
    rows += added;
    sinceMs = minute;
  }
  return sinceMs;
}

async function addMinute(db: Kysely<Schema>, minute: number, sinceMs: number): Promise<number | undefined> {
  const isOfServer = !isSqlite(db);
  const work = async (trx: Transaction<Schema>): Promise<number | undefined> => {
    const { numUpdatedRows } = await trx
      .updateTable('series_since')
      .set({ at: minute })
      .where('at', '=', sinceMs)
      .executeTakeFirstOrThrow();
    if (numUpdatedRows === 0n) return undefined;
    if (minute === 0) return 0;
    const { rows } = await sql<LedgerTable>`${rowsOfTime(!isOfServer, minute, minute + minuteMs)}`.execute(trx);
    await trx.deleteFrom('series_blocks').where('level', '=', levels.raw).where('at', '=', minute).execute();
    const minutes = new Minutes();
    minutes.add(rows.map((row) => ({ names: row, row })));
    await insertSeries(trx, minutes);
    return rows.length;
  };
  // Rows and blocks as of one moment: what is imported meanwhile is in neither, or in both.
  const transaction = isOfServer ? db.transaction().setIsolationLevel('repeatable read') : db.transaction();
  return transaction.execute(work).catch((thrown: unknown) => {
    if (isOfServer && isOutrun(thrown)) return undefined;
    throw thrown;
  });
}

/** Whether PostgreSQL reports a serialization failure: another transaction wrote the same row. */
const isOutrun = (thrown: unknown): boolean =>
  codeOf(thrown) === '40001' || codeOf(Reflect.get(Object(thrown), 'cause')) === '40001';

async function newestBefore(db: Kysely<Schema>, beforeMs: number): Promise<number | undefined> {
  const other = await db
    .selectFrom('ledger')
    .select('id')
    .where('id', '<', firstIdOf(beforeMs))
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst();
  const compact = isSqlite(db) ? await newestCompactBefore(db, beforeMs) : undefined;
  const found = [other && toTimeOf(other.id), compact].filter((ms) => ms !== undefined);
  return found.length === 0 ? undefined : Math.max(...found);
}

interface Roll {
  readonly from: number;
  readonly to: number;
  readonly spanMs: number;
  /** Time after the end of a span when most of its rows are imported and it is rolled up; later rows are rolled up separately. */
  readonly afterMs: number;
  /** Interval at which late blocks are rolled up together. */
  readonly everyMs: number;
}

const rolls: readonly Roll[] = [
  { from: levels.raw, to: levels.minute, spanMs: minuteMs, afterMs: 5_000, everyMs: 5_000 },
  { from: levels.minute, to: levels.hour, spanMs: hourMs, afterMs: 300_000, everyMs: 300_000 },
  { from: levels.hour, to: levels.day, spanMs: dayMs, afterMs: 1_200_000, everyMs: 1_800_000 },
];

/** Limit of spans in one step, so that other writers do not wait for long. */
const mostSpans: Readonly<Record<number, number>> = { [levels.minute]: 10, [levels.hour]: 1, [levels.day]: 1 };
const prunedAtOnce = 2_000;

export function createSeriesStore(db: Kysely<Schema>, clock: Clock): SeriesStore {
  const nextMs = new Map<number, number>();

  return {
    async read(query: SeriesQuery) {
      const plan = planSeries(query, clock.nowMs());
      const { intervals, section, totalSection } = plan;
      const wanted = [...new Set([section, totalSection])];
      const [blocks, sinceMs] = await Promise.all([readBlocks(db, intervals, wanted), readSince(db)]);
      return readSeries(query, plan, blocks, sinceMs);
    },

    async tend(retentionMs, pruneNowMs) {
      const nowMs = clock.nowMs();
      let hasMore = false;
      const sinceMs = await addFormerRows(db);
      for (const roll of rolls) {
        if (nowMs < (nextMs.get(roll.to) ?? 0)) continue;
        if (await rollUp(db, roll, nowMs, sinceMs)) hasMore = true;
        else nextMs.set(roll.to, nowMs + roll.everyMs);
      }
      if (!hasMore) hasMore = await prune(db, pruneNowMs, retentionMs);
      return hasMore;
    },
  };
}

/** Reads blocks in one statement, so that a block that is rolled up in the meantime is read once, in its old or new place. */
export async function readBlocks(
  db: Kysely<Schema>,
  intervals: readonly Interval[],
  wanted: readonly Section[],
): Promise<StoredBlock[]> {
  if (intervals.length === 0) return [];
  const numbers = wanted.map((section) => sections[section].number);
  const parts = intervals.flatMap((interval) => selectsOf(interval, numbers));
  const { rows } = await sql<StoredBlock>`${sql.join(parts, sql` union all `)}`.execute(db);
  return rows;
}

/** Selects blocks of the interval's length, and shorter ones that none of these includes; the latter have an index of their own. */
function selectsOf({ level, fromMs, toMs }: Interval, numbers: readonly number[]) {
  const isWithin = sql`at >= ${fromMs} and at < ${toMs}`;
  const finer = [levels.minute, levels.hour].filter((one) => one < levels[level]);
  const ofSections = numbers.flatMap((number) => [
    sql`select at, section, data from series_blocks where level = ${sql.lit(levels[level])} and section = ${sql.lit(number)} and ${isWithin}`,
    ...finer.map(
      (one) =>
        sql`select at, section, data from series_blocks where rolled = 0 and level = ${sql.lit(one)} and +section = ${sql.lit(number)} and ${isWithin}`,
    ),
  ]);
  return [
    ...ofSections,
    sql`select at, cast(null as integer), data from series_blocks where rolled = 0 and level = ${sql.lit(levels.raw)} and ${isWithin}`,
  ];
}

/** Rolls up some spans; true where there is more to do. If another node rolls up the same blocks, this call does nothing. */
async function rollUp(
  db: Kysely<Schema>,
  { from, to, spanMs, afterMs }: Roll,
  nowMs: number,
  sinceMs: number,
): Promise<boolean> {
  const before = Math.floor((nowMs - afterMs) / spanMs) * spanMs;
  // Spans before the beginning of the series are left to `addFormerRows`, which reads their rows once more.
  const first = Math.ceil(sinceMs / spanMs) * spanMs;
  const oldest = await db
    .selectFrom('series_blocks')
    .select('at')
    .where('rolled', '=', 0)
    .where('level', '=', from)
    .where('at', '>=', first)
    .where('at', '<', before)
    .orderBy('at')
    .limit(1)
    .executeTakeFirst();
  if (oldest === undefined) return false;
  const start = Math.floor(oldest.at / spanMs) * spanMs;
  const end = Math.min(before, start + spanMs * (mostSpans[to] ?? 1));
  const blocks = await db
    .selectFrom('series_blocks')
    .select(['id', 'at', 'data'])
    .where('rolled', '=', 0)
    .where('level', '=', from)
    .where('section', '=', sections.detail.number)
    .where('at', '>=', start)
    .where('at', '<', end)
    .execute();
  const made = [...Map.groupBy(blocks, ({ at }) => Math.floor(at / spanMs) * spanMs)].flatMap(([at, ofSpan]) => {
    const cells = new Cells();
    for (const { data } of ofSpan) {
      const reader = new BlockReader(data);
      while (reader.next()) {
        const cell = reader.toCell();
        cells.of(cell.kind, cell.names).addCell(cell);
      }
    }
    return toBlocks(to, at, cells);
  });
  await db
    .transaction()
    .execute(async (trx) => {
      const ids = blocks.map(({ id }) => id);
      const taken = from === levels.raw ? await takeAway(trx, ids) : await mark(trx, from, { start, end }, ids);
      if (taken !== ids.length) throw new RolledElsewhere();
      for (const block of made) await trx.insertInto('series_blocks').values(block).execute();
    })
    .catch((thrown: unknown) => {
      if (!(thrown instanceof RolledElsewhere)) throw thrown;
    });
  return true;
}

/** Makes the blocks of a span, one for each section. */
export function toBlocks(level: number, at: number, cells: Cells) {
  const detail = boundCells(cells.values());
  return Object.values(sections).map(({ number, without }) => ({
    level,
    section: number,
    at,
    rolled: 0,
    data: writeBlock(without.length === 0 ? detail : boundCells(withoutNames(detail, without))),
  }));
}

class RolledElsewhere extends Error {}

const idsAtOnce = 500;

async function takeAway(trx: Transaction<Schema>, ids: readonly number[]): Promise<number> {
  let taken = 0;
  for (let at = 0; at < ids.length; at += idsAtOnce) {
    const { numDeletedRows } = await trx
      .deleteFrom('series_blocks')
      .where('id', 'in', ids.slice(at, at + idsAtOnce))
      .executeTakeFirstOrThrow();
    taken += Number(numDeletedRows);
  }
  return taken;
}

/** Marks the blocks of a span as rolled up; returns how many of them have all names, or -1 where one of these is not among `ids`. */
async function mark(
  trx: Transaction<Schema>,
  level: number,
  { start, end }: { readonly start: number; readonly end: number },
  ids: readonly number[],
): Promise<number> {
  const marked = await trx
    .updateTable('series_blocks')
    .set({ rolled: 1 })
    .where('rolled', '=', 0)
    .where('level', '=', level)
    .where('at', '>=', start)
    .where('at', '<', end)
    .returning(['id', 'section'])
    .execute();
  const known = new Set(ids);
  const details = marked.filter(({ section }) => section === sections.detail.number);
  return details.every(({ id }) => known.has(id)) ? details.length : -1;
}

/** Deletes expired blocks that longer ones include. True where there may be more. */
async function prune(db: Kysely<Schema>, nowMs: number, retentionMs: number): Promise<boolean> {
  const kept = [
    { level: levels.minute, beforeMs: nowMs - keptMs.minute },
    { level: levels.hour, beforeMs: nowMs - keptMs.hour },
    { level: levels.day, beforeMs: nowMs - Math.max(keptMs.hour, retentionMs) },
  ];
  let hasMore = false;
  for (const { level, beforeMs } of kept) {
    if (!(beforeMs > 0)) continue;
    const old = db
      .selectFrom('series_blocks')
      .select('id')
      .where('level', '=', level)
      .where('at', '<', beforeMs)
      .where((one) => (level === levels.day ? one.lit(true) : one('rolled', '=', 1)))
      .limit(prunedAtOnce);
    const { numDeletedRows } = await db.deleteFrom('series_blocks').where('id', 'in', old).executeTakeFirstOrThrow();
    if (Number(numDeletedRows) === prunedAtOnce) hasMore = true;
  }
  return hasMore;
}
