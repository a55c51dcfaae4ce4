/** Verifies the ledger: compares rows with hourly sums, and hourly sums with daily sums and with sums per key. */

import { type Kysely, type RawBuilder, sql } from 'kysely';
import { toolPrefix } from '../../core/accounting/units.ts';
import { toDollars } from '../../lib/money.ts';
import { type Schema, sumColumns } from '../schema.ts';
import { readCompactExtent, rowsOfTime } from './ledger-compact.ts';
import { isSqlite } from './ledger-insert.ts';
import { dayMs, hourMs } from './ledger-rows.ts';
import { unitLeaves } from './ledger-sums.ts';

const groupColumns = ['key', 'project', 'route', 'operation', 'model', 'upstream', 'outcome'] as const;

/** Names of figures in messages, where they differ from the column's name. */
const otherWords: Readonly<Record<string, string>> = {
  cost_nanos: 'dollars',
  unpriced: 'unpriced requests',
  estimated: 'estimated requests',
  duration_ms: 'ms of duration',
};

/** Accepted differences: sums of fractions depend on the order of addition. */
const tolerances: Readonly<Record<string, number>> = { duration_ms: 1, amount: 0.5 };

/** A kind of sum: the columns that identify a line, and the figures that are compared. */
interface Kind {
  readonly by: readonly string[];
  readonly figures: readonly string[];
}

const sums: Kind = { by: groupColumns, figures: sumColumns };
const sumsOfKeys: Kind = { by: ['key', 'project'], figures: sums.figures };
const units: Kind = { by: [...groupColumns, 'unit'], figures: ['amount'] };

/** One of the two tables that are compared: its name in messages, and its lines. */
type Side = readonly [name: string, lines: RawBuilder<unknown>];

export async function verifySums(db: Kysely<Schema>, fromMs: number, toMs: number): Promise<string[]> {
  const found: string[] = [];
  const note = async (kind: Kind, span: string, [one, oneLines]: Side, [other, otherLines]: Side): Promise<void> => {
    for (const row of await compare(db, kind, oneLines, otherLines)) {
      const group = groupColumns.flatMap((name) => ((row[name] ?? '') === '' ? [] : `${name} ${row[name]}`)).join(', ');
      const differences = kind.figures.flatMap((figure) => toDifference(row, figure)).join(', ');
      found.push(`${span}, ${group}: against the ${other}, the ${one} have ${differences}`);
    }
  };
  const { first, last, firstWithRows } = await readExtent(db);
  const from = Math.max(Math.floor(fromMs / hourMs) * hourMs, first);
  const to = Math.min(Math.ceil(toMs / hourMs) * hourMs, last + hourMs);
  // Each hour in one statement: an import meanwhile is seen whole or not at all, and does not wait for long.
  for (let hour = Math.max(from, firstWithRows); hour < to; hour += hourMs) {
    const span = `${toText(hour, 16)}Z`;
    const unitLines = linesOf('usage_unit_hours', units, hour, hourMs);
    await note(sums, span, ['rows', sumsOfRows(db, hour)], ['sums', linesOf('usage_hours', sums, hour, hourMs)]);
    await note(units, span, ['rows', unitsOfRows(db, hour)], ['sums', sql`${unitLines} and ${isSummed}`]);
  }
  for (let day = Math.floor(from / dayMs) * dayMs; day < to; day += dayMs) {
    const span = toText(day, 10);
    const sideOf = (name: string, table: keyof Schema, kind: Kind): Side => [name, linesOf(table, kind, day, dayMs)];
    const [byHour, byDay] = ['sums by hour', 'sums by day'];
    await note(sums, span, sideOf(byHour, 'usage_hours', sums), sideOf(byDay, 'usage_all_days', sums));
    await note(units, span, sideOf(byHour, 'usage_unit_hours', units), sideOf(byDay, 'usage_all_unit_days', units));
    const ofKeys = sideOf('sums of each key', 'usage_all_key_days', sumsOfKeys);
    await note(sumsOfKeys, span, sideOf(byDay, 'usage_all_days', sumsOfKeys), ofKeys);
  }
  return found;
}

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

type Line = Readonly<Record<string, string | number | bigint>>;

const listOf = (names: readonly string[]) => sql.join(names.map((name) => sql.ref(name)));

/** Compares two tables: for each line that differs, the figures of the first table minus those of the second. */
async function compare(
  db: Kysely<Schema>,
  { by, figures }: Kind,
  one: RawBuilder<unknown>,
  other: RawBuilder<unknown>,
): Promise<readonly Line[]> {
  const keys = listOf(by);
  const negatives = figures.map((name) => sql`-${sql.ref(name)}`);
  const totals = figures.map((name) => {
    const total = sql`sum(${sql.ref(name)})`;
    return sql`${tolerances[name] === undefined ? sql`cast(${total} as bigint)` : total} as ${sql.ref(name)}`;
  });
  const differs = figures.map((name) => sql`abs(sum(${sql.ref(name)})) > ${sql.lit(tolerances[name] ?? 0)}`);
  const { rows } = await sql<Line>`
    select ${keys}, ${sql.join(totals)}
    from (${one} union all select ${keys}, ${sql.join(negatives)} from (${other}) as less) as both_sides
    group by ${keys} having ${sql.join(differs, sql` or `)} order by ${keys}`.execute(db);
  return rows;
}

const linesOf = (table: keyof Schema, { by, figures }: Kind, fromMs: number, lengthMs: number) => sql`
  select ${listOf([...by, ...figures])} from ${sql.table(table)} where span >= ${fromMs} and span < ${fromMs + lengthMs}`;

const sumsOfRows = (db: Kysely<Schema>, hour: number) => sql`
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

/** Leaves out cached tokens: versions that summed no units wrote them all the same, and may have run beside this one. */
const isSummed = sql`unit <> 'cachedTokens'`;

const unitsOfRows = (db: Kysely<Schema>, hour: number) => sql`
  select key, coalesce(project, '') as project, route, operation, coalesce(model, '') as model,
    coalesce(upstream, '') as upstream, outcome, unit, amount
  from (${unitLeaves(isSqlite(db), sql`(${rowsOfTime(isSqlite(db), hour, hour + hourMs)})`)}) as leaves
  where ${isSummed}`;

/** A text such as "3 cache write tokens more"; none where the figure does not differ. */
function toDifference(row: Line, figure: string): string[] {
  const difference = row[figure] ?? 0;
  if (Math.abs(Number(difference)) <= (tolerances[figure] ?? 0)) return [];
  const word =
    figure === 'amount' ? toUnitWords(String(row.unit)) : (otherWords[figure] ?? figure.replaceAll('_', ' '));
  return [`${toSize(figure, difference)} ${word} ${Number(difference) > 0 ? 'more' : 'less'}`];
}

function toUnitWords(unit: string): string {
  if (unit.startsWith(toolPrefix)) return `calls of ${unit.slice(toolPrefix.length)}`;
  return unit.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}

function toSize(figure: string, difference: string | number | bigint): string {
  if (figure === 'amount') return String(Math.round(Math.abs(Number(difference))));
  if (typeof difference === 'number' && !Number.isInteger(difference)) return String(Math.abs(difference));
  const whole = BigInt(difference);
  const size = whole < 0n ? -whole : whole;
  return figure === 'cost_nanos' ? toDollars(size) : String(size);
}

const toText = (ms: number, characters: number): string => new Date(ms).toISOString().slice(0, characters);
