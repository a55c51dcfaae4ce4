/** Verifies the ledger: rows against hourly sums, those against daily sums and sums per key. */

import { type Kysely, type RawBuilder, sql } from 'kysely';
import { toolPrefix } from '../../core/accounting/units.ts';
import { toDollars } from '../../lib/money.ts';
import type { Schema } from '../schema.ts';
import { readCompactExtent, rowsOfTime } from './ledger-compact.ts';
import { isSqlite } from './ledger-insert.ts';
import { dayMs, hourMs } from './ledger-rows.ts';
import { unitLeaves } from './ledger-sums.ts';

/** Sums of fractions depend on the order of addition. */
const tolerance = 0.5;

const places = ['key', 'project', 'route', 'operation', 'model', 'upstream', 'outcome'] as const;
const keys = sql.join([...places, 'unit'].map((place) => sql.ref(place)));

type UnitDifference = Readonly<Record<(typeof places)[number] | 'unit', string> & { amount: number }>;

/** Rows minus sums; negative where the rows have less. */
function compareUnitHour(db: Kysely<Schema>, hour: number): Promise<UnitDifference[]> {
  // Versions that summed no units wrote cached tokens all the same, and may have run beside this one.
  const rows = sql`
    select key, coalesce(project, '') as project, route, operation, coalesce(model, '') as model,
      coalesce(upstream, '') as upstream, outcome, unit, amount
    from (${unitLeaves(isSqlite(db), sql`(${rowsOfTime(isSqlite(db), hour, hour + hourMs)})`)}) as leaves
    where unit <> 'cachedTokens'`;
  return compareUnits(
    db,
    rows,
    sql`select ${keys}, -amount from usage_unit_hours where span = ${hour} and unit <> 'cachedTokens'`,
  );
}

/** Hourly minus daily sums. */
function compareUnitDay(db: Kysely<Schema>, day: number): Promise<UnitDifference[]> {
  return compareUnits(
    db,
    sql`select ${keys}, amount from usage_unit_hours where span >= ${day} and span < ${day + dayMs}`,
    sql`select ${keys}, -amount from usage_all_unit_days where span >= ${day} and span < ${day + dayMs}`,
  );
}

async function compareUnits(
  db: Kysely<Schema>,
  one: RawBuilder<unknown>,
  other: RawBuilder<unknown>,
): Promise<UnitDifference[]> {
  const { rows } = await sql<UnitDifference>`
    select ${keys}, sum(amount) as amount from (${one} union all ${other}) as both_sides
    group by ${keys} having abs(sum(amount)) > ${sql.lit(tolerance)} order by ${keys}`.execute(db);
  return rows;
}

/** Such as "3 cache write tokens more". */
function toUnitWords({ unit, amount }: UnitDifference): string {
  const words = unit.startsWith(toolPrefix)
    ? `calls of ${unit.slice(toolPrefix.length)}`
    : unit.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  return `${Math.round(Math.abs(amount))} ${words} ${amount > 0 ? 'more' : 'less'}`;
}

/** Sums of durations depend on the order of addition, in the last digits. */
const durationToleranceMs = 1;
type Place = (typeof places)[number];
const keyPlaces = ['key', 'project'] as const;
/** What is compared, with its name where that differs. */
const figures = {
  requests: 'requests',
  input_tokens: 'input tokens',
  output_tokens: 'output tokens',
  search_units: 'search units',
  items: 'items',
  cost_nanos: 'dollars',
  unpriced: 'unpriced requests',
  estimated: 'estimated requests',
  request_bytes: 'request bytes',
  response_bytes: 'response bytes',
  duration_ms: 'ms of duration',
} as const;
type Figure = keyof typeof figures;
const figureNames = Object.keys(figures) as Figure[];

export async function verifySums(db: Kysely<Schema>, fromMs: number, toMs: number): Promise<string[]> {
  const found: string[] = [];
  const { first, last, firstWithRows } = await readExtent(db);
  const from = Math.max(Math.floor(fromMs / hourMs) * hourMs, first);
  const to = Math.min(Math.ceil(toMs / hourMs) * hourMs, last + hourMs);
  // One statement each: an import meanwhile is seen whole or not at all, and does not wait for long.
  for (let hour = Math.max(from, firstWithRows); hour < to; hour += hourMs) {
    const span = `${toText(hour, 16)}Z`;
    for (const row of await compareHour(db, hour)) found.push(toWords(row, span, 'rows', 'sums'));
    for (const row of await compareUnitHour(db, hour))
      found.push(toSentence(row, toUnitWords(row), span, 'rows', 'sums'));
  }
  for (let day = Math.floor(from / dayMs) * dayMs; day < to; day += dayMs) {
    for (const row of await compareDay(db, day)) {
      found.push(toWords(row, toText(day, 10), 'sums by hour', 'sums by day'));
    }
    for (const row of await compareUnitDay(db, day)) {
      found.push(toSentence(row, toUnitWords(row), toText(day, 10), 'sums by hour', 'sums by day'));
    }
    for (const row of await compareKeyDay(db, day)) {
      found.push(toWords(row, toText(day, 10), 'sums by day', 'sums of each key'));
    }
  }
  return found;
}

/** The first and the last hour with data; and the first without pruned rows. */
async function readExtent(db: Kysely<Schema>) {
  const { rows } = await sql<
    Record<'hour' | 'day' | 'first_row' | 'last_hour' | 'last_day' | 'last_row' | 'pruned', number | null>
  >`
    select
      (select min(span) from usage_hours) as hour, (select max(span) from usage_hours) as last_hour,
      (select min(span) from usage_days) as day, (select max(span) from usage_days) as last_day,
      (select started_at from ledger order by id limit 1) as first_row,
      (select started_at from ledger order by id desc limit 1) as last_row,
      (select max(before) from pruning) as pruned`.execute(db);
  const [found] = rows;
  const compact = isSqlite(db) ? await readCompactExtent(db) : undefined;
  const floor = (ms: number): number => Math.floor(ms / hourMs) * hourMs;
  const known = (...times: (number | null | undefined)[]) => times.filter((ms) => typeof ms === 'number').map(floor);
  return {
    first: Math.min(...known(found?.hour, found?.day, found?.first_row, compact?.firstMs)),
    last: Math.max(...known(found?.last_hour, found?.last_day, found?.last_row, compact?.lastMs)),
    firstWithRows: Math.ceil((found?.pruned ?? 0) / hourMs) * hourMs,
  };
}

/** With the sum's keys. */
type Difference = Readonly<Partial<Record<Place, string>> & Record<Figure, number | bigint>>;

/** The first minus the second, by key; negative where it has less. */
async function compare(
  db: Kysely<Schema>,
  one: RawBuilder<unknown>,
  other: RawBuilder<unknown>,
  by: readonly Place[] = places,
): Promise<Difference[]> {
  const keys = sql.join(by.map((place) => sql.ref(place)));
  const sums = figureNames.map((name) =>
    name === 'duration_ms'
      ? sql`sum(duration_ms) as duration_ms`
      : sql`cast(sum(${sql.ref(name)}) as bigint) as ${sql.ref(name)}`,
  );
  const differs = figureNames.map((name) =>
    name === 'duration_ms'
      ? sql`abs(sum(duration_ms)) > ${sql.lit(durationToleranceMs)}`
      : sql`sum(${sql.ref(name)}) <> 0`,
  );
  const { rows } = await sql<Difference>`
    select ${keys}, ${sql.join(sums)} from (${one} union all ${other}) as both_sides
    group by ${keys} having ${sql.join(differs, sql` or `)} order by ${keys}`.execute(db);
  return rows;
}

function compareHour(db: Kysely<Schema>, hour: number): Promise<Difference[]> {
  const rows = sql`
    select key, coalesce(project, '') as project, route, operation, coalesce(model, '') as model,
      coalesce(upstream, '') as upstream, outcome,
      count(*) as requests, sum(coalesce(billed_input_tokens, 0)) as input_tokens,
      sum(coalesce(billed_output_tokens, 0)) as output_tokens, sum(coalesce(billed_search_units, 0)) as search_units,
      sum(items) as items, sum(coalesce(cost_nanos, 0)) as cost_nanos,
      sum(case when cost_nanos is null and (billed_input_tokens is not null or outcome = 'lost')
        then 1 else 0 end) as unpriced,
      sum(is_estimated) as estimated, sum(request_bytes) as request_bytes, sum(response_bytes) as response_bytes,
      sum(duration_ms) as duration_ms
    from (${rowsOfTime(isSqlite(db), hour, hour + hourMs)}) as ledger
    group by key, project, route, operation, model, upstream, outcome`;
  return compare(db, rows, lessOf('usage_hours', hour, hour + hourMs));
}

function compareDay(db: Kysely<Schema>, day: number): Promise<Difference[]> {
  const hours = sumsOf('usage_hours', places, day);
  return compare(db, hours, lessOf('usage_all_days', day, day + dayMs));
}

function compareKeyDay(db: Kysely<Schema>, day: number): Promise<Difference[]> {
  const days = sumsOf('usage_all_days', keyPlaces, day);
  return compare(db, days, lessOf('usage_all_key_days', day, day + dayMs, keyPlaces), keyPlaces);
}

type SumTable = 'usage_hours' | 'usage_all_days' | 'usage_all_key_days';

function sumsOf(table: SumTable, by: readonly Place[], day: number): RawBuilder<unknown> {
  return sql`
    select ${sql.join([...by, ...figureNames].map((name) => sql.ref(name)))}
    from ${sql.table(table)} where span >= ${day} and span < ${day + dayMs}`;
}

function lessOf(table: SumTable, fromMs: number, toMs: number, by: readonly Place[] = places): RawBuilder<unknown> {
  const keys = sql.join(by.map((place) => sql.ref(place)));
  return sql`
    select ${keys}, ${sql.join(figureNames.map((name) => sql`-${sql.ref(name)}`))}
    from ${sql.table(table)} where span >= ${fromMs} and span < ${toMs}`;
}

function toWords(row: Difference, span: string, one: string, other: string): string {
  const differences = figureNames.flatMap((name) => {
    const difference = row[name];
    const isFraction = typeof difference === 'number' && !Number.isInteger(difference);
    if (Number(difference) === 0 || (name === 'duration_ms' && Math.abs(Number(difference)) <= durationToleranceMs)) {
      return [];
    }
    const size = isFraction ? Math.abs(difference) : toSize(difference);
    const shown = name === 'cost_nanos' ? toDollars(toSize(difference)) : size;
    return `${shown} ${figures[name]} ${Number(difference) > 0 ? 'more' : 'less'}`;
  });
  return toSentence(row, differences.join(', '), span, one, other);
}

function toSentence(
  at: Readonly<Partial<Record<Place, string>>>,
  differences: string,
  span: string,
  one: string,
  other: string,
): string {
  const place = places.flatMap((name) => ((at[name] ?? '') === '' ? [] : `${name} ${at[name]}`)).join(', ');
  return `${span}, ${place}: against the ${other}, the ${one} have ${differences}`;
}

const toSize = (value: number | bigint): bigint => {
  const whole = BigInt(value);
  return whole < 0n ? -whole : whole;
};

const toText = (ms: number, characters: number): string => new Date(ms).toISOString().slice(0, characters);
