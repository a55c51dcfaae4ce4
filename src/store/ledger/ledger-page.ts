/** Reads pages of the ledger, newest row first. A page begins where the previous one ended, so that every page costs the same. */

import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { LedgerFilter, LedgerPage } from '../../core/store/ledger.ts';
import type { Clock } from '../../lib/clock.ts';
import type { LedgerTable, Schema } from '../schema.ts';
import { compactColumns, firstSeqOf, fromCompact, readCompactExtent, toRest, toSeq } from './ledger-compact.ts';
import { readFormerMark } from './ledger-former.ts';
import { compareTexts, isSqlite } from './ledger-insert.ts';
import { dayMs, firstIdOf, fromTableRow, isId, toConditions, toName, toStorable, toTimeOf } from './ledger-rows.ts';
import { isInSlice, isInSliceOfCompact, type Stretch, toSliceConditions } from './ledger-slices.ts';
import { rolledUpOr } from './ledger-usage.ts';
import { isByWindows, windowsOf } from './ledger-windows.ts';

const mostRowsPerPage = 1_000;
const idLength = 32;

/** Reads one page. Throws a RangeError for an invalid cursor or page size. */
export async function readPage(
  db: Kysely<Schema>,
  filter: LedgerFilter,
  { before, limit }: { readonly before?: string | undefined; readonly limit: number },
  clock: Pick<Clock, 'nowMs'>,
): Promise<LedgerPage> {
  if (!Number.isInteger(limit) || limit < 1 || limit > mostRowsPerPage) {
    throw new RangeError(`"limit" is ${limit}; ask for 1 to ${mostRowsPerPage} rows.`);
  }
  if (before !== undefined && !isId(before)) {
    throw new RangeError('"before" is no cursor of the ledger; give the "next" of the page before as it came.');
  }
  // No row has a status that is no integer.
  if (filter.status !== undefined && !Number.isSafeInteger(filter.status)) return { rows: [], next: undefined };

  const { fromMs = 0, toMs = Number.POSITIVE_INFINITY } = filter;
  let stretch: Stretch | undefined = { fromMs, toMs: Math.min(toMs, endOf(before)) };
  const { clientRequestId } = filter;
  if (clientRequestId === undefined && isByWindows(filter)) {
    return readByWindows(db, { filter, stretch, before, fits: toFits(db, filter), most: limit + 1 }, clock.nowMs());
  }
  if (clientRequestId === undefined && isRarelyTogether(filter))
    stretch = await findStretch(db, filter, stretch, limit + 1);
  if (stretch === undefined) return { rows: [], next: undefined };

  const found = { filter, stretch, before, fits: toFits(db, filter), most: limit + 1 };
  // One more row than requested shows whether there is a next page.
  return toPage(
    [...(await readBoth(db, found))].sort((a, b) => compareTexts(b.id, a.id)),
    limit,
  );
}

function toPage(rows: readonly LedgerTable[], limit: number): LedgerPage {
  const shown = rows.slice(0, limit);
  return { rows: shown.map(fromTableRow), next: rows.length > limit ? shown.at(-1)?.id : undefined };
}

const mostWindows = 40;

async function readByWindows(db: Kysely<Schema>, wanted: Wanted, nowMs: number): Promise<LedgerPage> {
  const rows: LedgerTable[] = [];
  let windows = 0;
  for await (const stretch of windowsOf(db, wanted.filter, wanted.stretch, nowMs)) {
    if (windows === mostWindows) return { rows: rows.map(fromTableRow), next: endIdOf(stretch) };
    windows += 1;
    const found = await readBoth(db, { ...wanted, stretch, most: wanted.most - rows.length });
    rows.push(...[...found].sort((a, b) => compareTexts(b.id, a.id)).slice(0, wanted.most - rows.length));
    if (rows.length === wanted.most) break;
  }
  return toPage(rows, wanted.most - 1);
}

/** The ID that ends a stretch; it is larger than the IDs of all rows in it. */
const endIdOf = ({ toMs }: Stretch): string => firstIdOf(toMs).padEnd(idLength, '0');

const nothing = sql``;
const sliced = sql`ledger_slices cross join`;
const bySlice = sql`ledger_slices.slice desc,`;

interface Wanted {
  readonly filter: LedgerFilter;
  readonly stretch: Stretch;
  readonly before: string | undefined;
  readonly fits: readonly RawBuilder<boolean>[];
  readonly most: number;
}

async function readBoth(db: Kysely<Schema>, wanted: Wanted): Promise<readonly LedgerTable[]> {
  if (!isSqlite(db)) return readOthers(db, wanted, undefined);
  const mark = await readFormerMark(db);
  const compact = await readCompact(db, wanted);
  // Rows of the other table are on the page only if they are newer than the last of these.
  const others = await readOthers(db, wanted, compact.length >= wanted.most ? compact.at(-1)?.id : undefined);
  if ((await readFormerMark(db)) === mark) return [...compact, ...others];
  // Rows move from the other table to this one only: one that moved meanwhile is here, and may have been read there, too.
  const byId = new Map([...others, ...(await readCompact(db, wanted))].map((row) => [row.id, row]));
  return [...byId.values()];
}

async function readCompact(
  db: Kysely<Schema>,
  { filter, stretch, before, fits, most }: Wanted,
): Promise<readonly LedgerTable[]> {
  const extent = await readCompactExtent(db);
  if (extent === undefined) return [];
  const within = {
    fromMs: Math.max(stretch.fromMs, extent.firstMs),
    toMs: Math.min(stretch.toMs, extent.lastMs + 1),
  };
  const slices = filter.clientRequestId === undefined ? toSliceConditions(filter, within) : undefined;
  const seq = boundOf(slices, 'ledger_rows.seq');
  const conditions = [
    ...fits,
    sql<boolean>`${seq} >= ${firstSeqOf(within.fromMs)}`,
    sql<boolean>`${seq} < ${firstSeqOf(within.toMs)}`,
  ];
  const end = before === undefined ? undefined : toSeq(before);
  if (before !== undefined && end !== undefined) {
    conditions.push(sql`${seq} <= ${end} and (${seq} < ${end} or rest < ${toRest(before)})`);
  }
  if (slices !== undefined) conditions.push(...slices, isInSliceOfCompact(sql.ref('ledger_slices.slice')));
  const { rows } = await sql<LedgerTable>`
    select ${compactColumns} from ${slices === undefined ? nothing : sliced} ${fromCompact} where ${sql.join(conditions, sql` and `)}
    order by ${slices === undefined ? nothing : bySlice} ledger_rows.seq desc limit ${most}`.execute(db);
  return rows;
}

/** Reads matching rows of the table `ledger`; `after` is the ID of a row that is older than all wanted ones. */
async function readOthers(
  db: Kysely<Schema>,
  { filter, stretch, before, fits, most }: Wanted,
  after: string | undefined,
): Promise<readonly LedgerTable[]> {
  const { toMs } = stretch;
  const fromMs = after === undefined ? stretch.fromMs : Math.max(stretch.fromMs, toTimeOf(after));
  const slices =
    isSqlite(db) && filter.clientRequestId === undefined ? toSliceConditions(filter, { fromMs, toMs }) : undefined;
  const id = boundOf(slices, 'ledger.id');
  const end = Number.isFinite(toMs) ? firstIdOf(toMs) : undefined;
  const bound = end === undefined || (before !== undefined && before < end) ? before : end;
  const conditions = [...fits];
  if (after !== undefined) conditions.push(sql`${id} > ${after}`);
  else if (fromMs > 0) conditions.push(sql`${id} >= ${firstIdOf(fromMs)}`);
  if (bound !== undefined) conditions.push(sql`${id} < ${bound}`);
  if (slices !== undefined) conditions.push(...slices, isInSlice(sql.ref('ledger_slices.slice')));
  const fit = conditions.length === 0 ? sql`true` : sql.join(conditions, sql` and `);
  const { rows } = await sql<LedgerTable>`
    select ledger.* from ${slices === undefined ? nothing : sliced} ledger where ${fit}
    order by ${slices === undefined ? nothing : bySlice} ledger.id desc limit ${most}`.execute(db);
  return rows;
}

/** The column as conditions name it. If slices lead to the rows, `+` keeps SQLite from scanning this column's index for each slice. */
const boundOf = (slices: unknown, column: string) =>
  slices === undefined ? sql.ref(column) : sql`+${sql.ref(column)}`;

function toFits(db: Kysely<Schema>, filter: LedgerFilter): RawBuilder<boolean>[] {
  const { clientRequestId, status, outcome, error, cache, minDurationMs, minCostNanos, keys } = filter;
  const fits = toConditions(filter).map(({ column, value }) => {
    if (value === '') return isEmpty(column);
    // Few rows have the same client ID, so no other index is to be used: `coalesce` hides the column from its index.
    if (clientRequestId !== undefined) return sql<boolean>`coalesce(${sql.ref(column)}, '') = ${value}`;
    return sql<boolean>`${sql.ref(column)} = ${value}`;
  });
  if (clientRequestId !== undefined) fits.push(sql`client_request_id = ${toName(clientRequestId)}`);
  if (status !== undefined) fits.push(sql`status = ${status}`);
  if (error !== undefined) fits.push(sql`error = ${toStorable(error)}`);
  if (cache !== undefined) fits.push(sql`cache = ${toStorable(cache)}`);
  if (minDurationMs !== undefined) fits.push(sql`duration_ms >= ${minDurationMs}`);
  if (minCostNanos !== undefined) fits.push(sql`cost_nanos >= ${minCostNanos}`);
  if (keys !== undefined) fits.push(sql`key in (${textsOf(db, keys)})`);
  // These two partial indices leave out the common value; they are used only with exactly these conditions.
  if (outcome !== undefined && outcome !== 'ok') fits.push(sql`outcome <> 'ok'`);
  if (status !== undefined && status !== 200) fits.push(sql`status <> 200`);
  return fits;
}

/** The texts as one parameter, because databases allow only a limited number of parameters. */
function textsOf(db: Kysely<Schema>, texts: readonly string[]): RawBuilder<unknown> {
  const json = JSON.stringify(texts.map(toStorable));
  return isSqlite(db) ? sql`select value from json_each(${json})` : sql`select json_array_elements_text(${json}::json)`;
}

/** The latest start time of rows before this row. */
const endOf = (id: string | undefined): number => (id === undefined ? Number.POSITIVE_INFINITY : toTimeOf(id) + 1);

/** Whether a row has no such name: that is an empty text in sums, and null in most rows. */
const isEmpty = (column: string) => sql<boolean>`coalesce(${sql.ref(column)}, '') = ''`;

/** How many days each step looks back; the first ones are short, as most pages are filled early. */
const looks = [1, 6, 23, 60, Number.POSITIVE_INFINITY];

/** Whether the filter combines several names, or an absent one: matching rows may be rare, and no single index leads to them. */
function isRarelyTogether(filter: LedgerFilter): boolean {
  const conditions = toConditions(filter);
  return conditions.length > 1 || conditions.some(({ value }) => value === '');
}

async function findStretch(
  db: Kysely<Schema>,
  filter: LedgerFilter,
  within: Stretch,
  most: number,
): Promise<Stretch | undefined> {
  const firstMs = Math.max(floorDay(within.fromMs), 0);
  const endMs = Math.min(Math.ceil(within.toMs), await readEndOfLastDay(db));
  let newestMs: number | undefined;
  let oldestMs = 0;
  let count = 0;
  let upToMs = endMs;
  for (const days of looks) {
    if (upToMs <= firstMs) break;
    const downToMs = Math.max(floorDay(upToMs - 1) - (days - 1) * dayMs, firstMs);
    for (const { day: span, requests } of await readDays(db, filter, downToMs, upToMs)) {
      newestMs ??= span;
      oldestMs = span;
      // The last day may be cut by the cursor, and sums have no status.
      if (span + dayMs <= endMs && filter.status === undefined) count += requests;
      if (count >= most) return toStretch(oldestMs, newestMs, within);
    }
    upToMs = downToMs;
  }
  return newestMs === undefined ? undefined : toStretch(oldestMs, newestMs, within);
}

async function readEndOfLastDay(db: Kysely<Schema>): Promise<number> {
  const { last } = await db
    .selectFrom('usage_hours')
    .select(({ fn }) => fn.max('span').as('last'))
    .executeTakeFirstOrThrow();
  return last === null ? 0 : floorDay(last) + dayMs;
}

function readDays(db: Kysely<Schema>, filter: LedgerFilter, fromMs: number, toMs: number) {
  const days = selectDays(db, 'usage_days', sql<number>`span`, filter, toMs).where('span', '>=', fromMs);
  const hours = selectDays(db, 'usage_hours', sql<number>`span - span % ${sql.lit(dayMs)}`, filter, toMs);
  // A partly rolled-up day is returned twice.
  const query = isSqlite(db) ? days.unionAll(hours.where('span', '>=', rolledUpOr(fromMs))) : days;
  return query.orderBy('day', 'desc').execute();
}

function selectDays(
  db: Kysely<Schema>,
  table: 'usage_days' | 'usage_hours',
  day: RawBuilder<number>,
  filter: LedgerFilter,
  toMs: number,
) {
  let query = db
    .selectFrom(table)
    .select([day.as('day'), sql<number>`cast(sum(requests) as bigint)`.as('requests')])
    .where('span', '<', toMs)
    .groupBy(day);
  for (const { column, value } of toConditions(filter)) query = query.where(column, '=', value);
  return query;
}

function toStretch(oldestMs: number, newestMs: number, within: Stretch): Stretch {
  return { fromMs: Math.max(oldestMs, within.fromMs), toMs: Math.min(newestMs + dayMs, within.toMs) };
}

const floorDay = (ms: number): number => Math.floor(ms / dayMs) * dayMs;
