/** Answers usage queries from the daily sums, and from hourly sums where needed. */

import { type Kysely, type RawBuilder, sql } from 'kysely';
import { addUnits, toUnitSums } from '../../core/accounting/units.ts';
import { addSums, noSums } from '../../core/accounting/usage-sums.ts';
import type { LedgerFilter, UnitLine, UsageGroup, UsageLine, UsageSums } from '../../core/store/ledger.ts';
import { getOrMake } from '../../lib/get-or-make.ts';
import { recordOf } from '../../lib/record-of.ts';
import { inBackground } from '../../lib/time-slices.ts';
import { columnOf } from '../columns.ts';
import type { Schema } from '../schema.ts';
import { compareTexts, isSqlite } from './ledger-insert.ts';
import { dayMs, hourMs, toConditions } from './ledger-rows.ts';

const latestDateMs = 8_640_000_000_000_000;

interface Part {
  readonly table: 'usage_hours' | 'usage_days';
  readonly fromMs: number;
  /** End of the span (exclusive); Infinity for an open end. */
  readonly toMs: number;
}

/** Reads the usage of a time span. Throws a RangeError where the sums cannot answer the query. */
export async function readUsage(
  db: Kysely<Schema>,
  filter: LedgerFilter,
  by: readonly UsageGroup[],
  only: 'unpriced' | undefined,
): Promise<UsageLine[]> {
  const groups = [...new Set(by)];
  const lines = new Map<string, UsageLine>();
  for (const part of toParts(filter, groups)) {
    const table = part.table === 'usage_days' && isOfKeysAlone(filter, groups) ? 'usage_key_days' : part.table;
    const rows = await readPart(db, { ...part, table, only }, filter, groups);
    await inBackground.timeSliced(addingLines(rows, groups, lines));
  }
  // There may be tens of thousands: destructuring each entry in the comparison would take most of the time.
  const entries = [...lines].sort((one, other) => compareTexts(one[0], other[0]));
  return entries.map((entry) => entry[1]);
}

/** Parses and adds up lines. It may pause at every `yield`. */
function* addingLines(
  rows: readonly SumRow[],
  groups: readonly UsageGroup[],
  lines: Map<string, UsageLine>,
): Generator<undefined, void, undefined> {
  const toText = createSpanText();
  for (const row of rows) {
    yield;
    const line = { by: toBy(row, groups, toText), sums: toSums(String(row.sums)) };
    const name = nameOf(line, groups);
    const other = lines.get(name);
    lines.set(name, other === undefined ? line : { by: line.by, sums: addSums(other.sums, line.sums) });
  }
}

export async function readLastUse(db: Kysely<Schema>, fromMs: number): Promise<ReadonlyMap<string, number>> {
  const last = (table: SumTable) =>
    db
      .selectFrom(table)
      .select(['key', ({ fn }) => fn.max('span').as('at')])
      .groupBy('key');
  const hour = Math.floor(fromMs / hourMs) * hourMs;
  // In SQLite the daily sums lack the latest hours, which are read from the hourly sums.
  const since = isSqlite(db) ? sql<number>`min(${hour}, (select before from usage_rollup))` : sql<number>`${hour}`;
  const hours = last('usage_hours').where('span', '>=', since);
  const found = new Map<string, number>();
  for (const { key, at } of await last('usage_key_days').unionAll(hours).execute())
    found.set(key, Math.max(Number(at), found.get(key) ?? 0));
  return found;
}

function nameOf({ by }: Pick<UsageLine, 'by'>, groups: readonly UsageGroup[]): string {
  let name = '';
  for (const group of groups) name += `${by[group]}\0`;
  return name;
}

/** Splits a time span: whole days are read from the daily sums, the ends from the hourly ones. */
function toParts(
  { fromMs = 0, toMs = Number.POSITIVE_INFINITY, status }: LedgerFilter,
  groups: readonly UsageGroup[],
): Part[] {
  if (status !== undefined) {
    throw new RangeError('"status" is not kept in the sums; filter by outcome, or page through the rows.');
  }
  const from = Math.floor(Math.max(fromMs, 0) / hourMs) * hourMs;
  const to = toMs > latestDateMs ? Number.POSITIVE_INFINITY : Math.ceil(toMs / hourMs) * hourMs;
  if (from > latestDateMs) return [];
  const firstDay = Math.ceil(from / dayMs) * dayMs;
  const lastDay = Math.floor(to / dayMs) * dayMs;
  const parts: Part[] =
    groups.includes('hour') || firstDay >= lastDay
      ? [{ table: 'usage_hours', fromMs: from, toMs: to }]
      : [
          { table: 'usage_hours', fromMs: from, toMs: firstDay },
          { table: 'usage_days', fromMs: firstDay, toMs: lastDay },
          { table: 'usage_hours', fromMs: lastDay, toMs: to },
        ];
  return parts.filter((part) => part.fromMs < part.toMs);
}

/** Whether the smaller table of sums per key can answer: the query names no route, model, upstream or outcome. */
function isOfKeysAlone(filter: LedgerFilter, groups: readonly UsageGroup[]): boolean {
  const asked = [...groups, ...toConditions(filter).map(({ column }) => column)];
  return asked.every((name) => name === 'day' || name === 'key' || name === 'project');
}

type SumTable = Part['table'] | 'usage_key_days';
type SumPart = Omit<Part, 'table'> & { readonly table: SumTable; readonly only: 'unpriced' | undefined };

async function readPart(
  db: Kysely<Schema>,
  part: SumPart,
  filter: LedgerFilter,
  groups: readonly UsageGroup[],
): Promise<readonly SumRow[]> {
  const { table, fromMs } = part;
  const sums = selectSums(db, part, filter, groups);
  // One statement, so that an hour that is rolled up meanwhile counts exactly once. A view of both tables takes half as long again.
  const isWithLater = table !== 'usage_hours' && isSqlite(db);
  const later = selectSums(db, { ...part, table: 'usage_hours', fromMs: 0 }, filter, groups);
  const query = isWithLater ? sums.unionAll(later.where('span', '>=', rolledUpOr(fromMs))) : sums;
  return query.execute();
}

/** The time up to which hours are in the daily sums, or `fromMs` if that is later; as one condition, so that SQLite can use an index. */
export const rolledUpOr = (fromMs: number) => sql<number>`max(${fromMs}, (select before from usage_rollup))`;

function selectSums(
  db: Kysely<Schema>,
  { table, fromMs, toMs, only }: SumPart,
  filter: LedgerFilter,
  groups: readonly UsageGroup[],
) {
  const columns = groups.map((group) => toColumn(group, table));
  let query = db
    .selectFrom(table)
    // One text per line: fetching a dozen columns takes longer than summing them.
    .select(sql<string>`concat_ws(',', ${sql.join(figuresIn(table))})`.as('sums'))
    .select(columns.map((column, index) => column.as(`by_${index}`)))
    // Without groups there is one row even without data.
    .having(sql<boolean>`count(*) > 0`)
    .$if(columns.length > 0, (grouped) => grouped.groupBy(columns));
  if (only !== undefined) query = query.where(only, '>', 0);
  if (fromMs > 0) query = query.where('span', '>=', fromMs);
  if (Number.isFinite(toMs)) query = query.where('span', '<', toMs);
  for (const { column, value } of toConditions(filter)) query = query.where(sql.ref<string>(column), '=', value);
  return query;
}

const sumNames = Object.keys(noSums) as (keyof UsageSums)[];
const costAt = sumNames.indexOf('costNanos');

/** The figures of a sum in SQL, in the order that `toSums` reads. */
const figuresIn = (table: SumTable) =>
  sumNames.map((name) =>
    name === 'errors' && table !== 'usage_key_days'
      ? sql`sum(case when outcome = 'ok' then 0 else requests end)`
      : sql`sum(${sql.ref(columnOf(name))})`,
  );

type SumRow = Readonly<Record<string, string | number>>;

function toColumn(group: UsageGroup, table: SumTable): RawBuilder<string | number> {
  if (group === 'hour' || (group === 'day' && table !== 'usage_hours')) return sql<number>`span`;
  // Inlined: PostgreSQL does not recognise two parameters as equal.
  if (group === 'day') return sql<number>`span - span % ${sql.lit(dayMs)}`;
  return sql<string>`${sql.ref(group)}`;
}

function toBy(row: SumRow, groups: readonly UsageGroup[], toText: (ms: number) => string): UsageLine['by'] {
  const by: Partial<Record<UsageGroup, string>> = {};
  for (const [index, group] of groups.entries()) {
    const value = row[`by_${index}`];
    if (group === 'day') by.day = toText(Number(value)).slice(0, 10);
    else if (group === 'hour') by.hour = `${toText(Number(value)).slice(0, 16)}Z`;
    else by[group] = String(value);
  }
  return by;
}

/** Creates a function that writes a time as text, with a cache, as many lines share a time span. */
function createSpanText(): (ms: number) => string {
  const texts = new Map<number, string>();
  return (ms) => {
    return getOrMake(texts, ms, () => new Date(ms).toISOString());
  };
}

function toSums(text: string): UsageSums {
  const values = text.split(',');
  const sums = recordOf(sumNames, (name) => Number(values[sumNames.indexOf(name)]));
  return { ...sums, costNanos: BigInt(values[costAt] ?? 0) };
}

const tables = { usage_hours: 'usage_unit_hours', usage_days: 'usage_all_unit_days' } as const;

/** Reads the usage in units. Throws a RangeError where the sums cannot answer the query. */
export async function readUnitUsage(
  db: Kysely<Schema>,
  filter: LedgerFilter,
  by: readonly UsageGroup[],
): Promise<UnitLine[]> {
  const groups = [...new Set(by)];
  const toText = createSpanText();
  const lines = new Map<string, UnitLine>();
  for (const part of toParts(filter, groups)) {
    for (const row of await readUnitPart(db, part, filter, groups)) {
      const found = { by: toBy(row, groups, toText), units: toUnitSums(String(row.unit), Number(row.amount)) };
      const name = nameOf(found, groups);
      const other = lines.get(name);
      lines.set(name, other === undefined ? found : { by: found.by, units: addUnits(other.units, found.units) });
    }
  }
  return [...lines.values()];
}

function readUnitPart(
  db: Kysely<Schema>,
  { table, fromMs, toMs }: Part,
  filter: LedgerFilter,
  groups: readonly UsageGroup[],
): Promise<readonly SumRow[]> {
  const columns = groups.map((group) => toColumn(group, table));
  let query = db
    .selectFrom(tables[table])
    .select(['unit', sql<number>`sum(amount)`.as('amount')])
    .select(columns.map((column, index) => column.as(`by_${index}`)))
    .groupBy(['unit', ...columns]);
  if (fromMs > 0) query = query.where('span', '>=', fromMs);
  if (Number.isFinite(toMs)) query = query.where('span', '<', toMs);
  for (const { column, value } of toConditions(filter)) query = query.where(column, '=', value);
  return query.execute();
}
