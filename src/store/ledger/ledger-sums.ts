/** Sums the rows of an import by hour, by day, and by day and key. */

import { type RawBuilder, sql } from 'kysely';
import { readUnits, toolPrefix, type Units } from '../../core/accounting/units.ts';
import { getOrMake } from '../../lib/get-or-make.ts';
import { readJson } from '../../lib/json/read-json.ts';
import { recordOf } from '../../lib/record-of.ts';
import { type KeyUsageTable, sumColumns, type UnitUsageTable, type UsageGroup, type UsageTable } from '../schema.ts';
import { compareTexts } from './ledger-insert.ts';
import { dayMs, hourMs, type NamedRow, type RowFigures, type RowNames } from './ledger-rows.ts';

type Writable<T> = { -readonly [K in keyof T]: T[K] };
type Sums = Writable<UsageTable>;
type KeySums = Writable<KeyUsageTable>;
type Figures = Omit<KeySums, 'span' | 'key' | 'project' | 'errors'>;

type ByName<T> = Map<string, T>;

/** Sums by hour, to which rows are added a few at a time. */
export class HourSums {
  readonly #sums: ByName<Sums> = new Map();
  /** The latest sum for each names object: looking up an object is faster than building a text of all names. */
  readonly #ofNames = new Map<RowNames, Sums>();
  readonly #units: UnitsByName = new Map();

  add(rows: readonly NamedRow[]): void {
    for (const { names, row } of rows) {
      const span = row.started_at - (row.started_at % hourMs);
      addRow(this.#sumOf(names, span), names, row);
      if (row.units !== null || row.cached_tokens) addUnitsOf(row, toAmounts(this.#units, span, names));
    }
  }

  /** All hourly sums, in any order, with the same columns in the same order each time. */
  hours(): readonly UsageTable[] {
    return [...this.#sums.values()];
  }

  unitHours(): readonly UnitUsageTable[] {
    return toUnitRows(this.#units);
  }

  #sumOf(names: RowNames, span: number): Sums {
    const known = this.#ofNames.get(names);
    if (known?.span === span) return known;
    const name = identityOf(span, names);
    const sum = getOrMake(this.#sums, name, () => newSums(names, span));
    this.#ofNames.set(names, sum);
    return sum;
  }
}

/** Sorts sums in the order that `toDays` needs, which is also the order in which rows are locked. */
export function inOrder(sums: Iterable<UsageTable>): readonly UsageTable[] {
  // The default sort compares code units; a comparison function takes several times as long.
  const byName = new Map<string, UsageTable>();
  for (const sum of sums) byName.set(identityOf(sum.span, sum), sum);
  return [...byName.keys()].sort().flatMap((name) => byName.get(name) ?? []);
}

export function toDays(hours: readonly UsageTable[]): readonly UsageTable[] {
  const dayOf = ({ span }: UsageTable): number => span - (span % dayMs);
  const [first] = hours;
  // Nearly every batch is within one hour.
  if (first !== undefined && hours.at(-1)?.span === first.span) {
    const span = dayOf(first);
    return hours.map((hour) => ({ ...hour, span }));
  }
  const sums: ByName<Sums> = new Map();
  for (const hour of hours) {
    const span = dayOf(hour);
    const name = identityOf(span, hour);
    const sum = sums.get(name);
    if (sum === undefined) sums.set(name, { ...hour, span });
    else addFigures(sum, hour);
  }
  return inOrder(sums.values());
}

/** Sums up the days by key. Sums of one key must be adjacent. */
export function toKeyDays(days: readonly UsageTable[]): readonly KeyUsageTable[] {
  const sums: KeySums[] = [];
  for (const day of days) {
    const { span, key, project } = day;
    const errors = day.outcome === 'ok' ? 0 : day.requests;
    let sum = sums.at(-1);
    if (sum === undefined || sum.key !== key || sum.project !== project || sum.span !== span) {
      sum = { span, key, project, errors: 0, ...nothing };
      sums.push(sum);
    }
    sum.errors = addCounts(sum.errors, errors);
    addFigures(sum, day);
  }
  return sums;
}

function identityOf(span: number, row: Pick<RowNames, 'key' | 'project' | 'route' | 'model' | 'upstream' | 'outcome'>) {
  const { key, project, route, model, upstream, outcome } = row;
  return `${span}\0${key}\0${project ?? ''}\0${route}\0${model ?? ''}\0${upstream ?? ''}\0${outcome}`;
}

/** Adds figures. Written out field by field, as a loop over names takes several times as long for each row. */
function addFigures(sum: Figures, more: Readonly<Figures>): void {
  sum.requests = addCounts(sum.requests, more.requests);
  sum.input_tokens = addCounts(sum.input_tokens, more.input_tokens);
  sum.output_tokens = addCounts(sum.output_tokens, more.output_tokens);
  sum.search_units = addCounts(sum.search_units, more.search_units);
  sum.items = addCounts(sum.items, more.items);
  sum.cost_nanos = addCounts(sum.cost_nanos, more.cost_nanos);
  sum.unpriced = addCounts(sum.unpriced, more.unpriced);
  sum.estimated = addCounts(sum.estimated, more.estimated);
  sum.request_bytes = addCounts(sum.request_bytes, more.request_bytes);
  sum.response_bytes = addCounts(sum.response_bytes, more.response_bytes);
  sum.duration_ms += more.duration_ms;
}

function addRow(sum: Figures, names: RowNames, row: RowFigures): void {
  sum.requests = addCounts(sum.requests, 1);
  sum.input_tokens = addCounts(sum.input_tokens, row.billed_input_tokens ?? 0);
  sum.output_tokens = addCounts(sum.output_tokens, row.billed_output_tokens ?? 0);
  sum.search_units = addCounts(sum.search_units, row.billed_search_units ?? 0);
  sum.items = addCounts(sum.items, row.items);
  sum.cost_nanos = addCounts(sum.cost_nanos, row.cost_nanos ?? 0);
  sum.unpriced = addCounts(sum.unpriced, isUnpriced(names, row) ? 1 : 0);
  sum.estimated = addCounts(sum.estimated, names.is_estimated);
  sum.request_bytes = addCounts(sum.request_bytes, row.request_bytes);
  sum.response_bytes = addCounts(sum.response_bytes, row.response_bytes);
  sum.duration_ms += row.duration_ms;
}

function addCounts(one: number | bigint, other: number | bigint): number | bigint {
  if (typeof one === 'number' && typeof other === 'number' && Number.isSafeInteger(one + other)) return one + other;
  return BigInt(one) + BigInt(other);
}

const nothing: Readonly<Figures> = recordOf(sumColumns, () => 0);

const newSums = ({ key, project, route, operation, model, upstream, outcome }: RowNames, span: number): Sums => ({
  span,
  key,
  project: project ?? '',
  route,
  operation,
  model: model ?? '',
  upstream: upstream ?? '',
  outcome,
  ...nothing,
});

/** Whether a request's cost is unknown. A request that was not billed costs nothing, whatever the price; a lost one may have cost anything. */
const isUnpriced = ({ outcome }: RowNames, row: RowFigures): boolean =>
  row.cost_nanos === null && (row.billed_input_tokens !== null || outcome === 'lost');

interface GroupSums {
  readonly group: UsageGroup;
  readonly amounts: Map<string, number>;
}

function addUnitsOf(row: RowFigures, amounts: Map<string, number>): void {
  if (row.cached_tokens !== null && row.cached_tokens > 0) add(amounts, 'cachedTokens', row.cached_tokens);
  if (row.units !== null) addUnits(amounts, readUnits(readJson(row.units)) ?? {});
}

export function toUnitDays(hours: readonly UnitUsageTable[]): readonly UnitUsageTable[] {
  const days: UnitsByName = new Map();
  for (const hour of hours) add(toAmounts(days, hour.span - (hour.span % dayMs), hour), hour.unit, hour.amount);
  return toUnitRows(days);
}

type UnitsByName = Map<string, GroupSums>;

/** The amounts by unit of the sum that a row belongs to; null names become empty texts in sums. */
function toAmounts(sums: UnitsByName, span: number, row: UsageGroup | RowNames): Map<string, number> {
  const { key, route, operation, outcome } = row;
  const project = row.project ?? '';
  const model = row.model ?? '';
  const upstream = row.upstream ?? '';
  const name = `${span}\0${key}\0${project}\0${route}\0${model}\0${upstream}\0${outcome}`;
  const known = sums.get(name);
  if (known !== undefined) return known.amounts;
  const amounts = new Map<string, number>();
  sums.set(name, { group: { span, key, project, route, operation, model, upstream, outcome }, amounts });
  return amounts;
}

function addUnits(amounts: Map<string, number>, units: Units): void {
  // Terms of the price are texts, not amounts.
  for (const [unit, amount] of Object.entries(units)) if (typeof amount === 'number') add(amounts, unit, amount);
  for (const [kind, count] of Object.entries(units.toolCalls ?? {})) add(amounts, `${toolPrefix}${kind}`, count);
}

const add = (amounts: Map<string, number>, unit: string, amount: number) =>
  amounts.set(unit, (amounts.get(unit) ?? 0) + amount);

function toUnitRows(sums: UnitsByName): UnitUsageTable[] {
  return [...sums]
    .sort(([one], [other]) => compareTexts(one, other))
    .flatMap(([, { group, amounts }]) =>
      [...amounts]
        .sort(([one], [other]) => compareTexts(one, other))
        .map(([unit, amount]) => ({ ...group, unit, amount })),
    );
}

const ofSqlite = (rows: RawBuilder<unknown>) => sql`
  select ledger.*, 'cachedTokens' as unit, cast(cached_tokens as real) as amount from ${rows} as ledger where cached_tokens > 0
  union all
  select ledger.*, case leaf.path when '$' then leaf.key else ${sql.lit(toolPrefix)} || leaf.key end, leaf.atom
  from ${rows} as ledger, json_tree(ledger.units) as leaf where ledger.units is not null and leaf.type in ('integer', 'real')`;

const ofPostgres = (rows: RawBuilder<unknown>) => sql`
  select ledger.*, 'cachedTokens' as unit, cached_tokens::double precision as amount from ${rows} as ledger where cached_tokens > 0
  union all
  select ledger.*, leaf.unit, leaf.amount::double precision
  from ${rows} as ledger, lateral (
    select key as unit, value as amount from json_each_text(units::json) where json_typeof(units::json -> key) = 'number'
    union all
    select ${sql.lit(toolPrefix)} || key, value from json_each_text(units::json -> 'toolCalls')
  ) as leaf where ledger.units is not null`;

/** A table with the columns of the ledger, `unit` and `amount`; a row is returned once for each of its units. */
export const unitLeaves = (isSqlite: boolean, rows: RawBuilder<unknown> = sql`ledger`): RawBuilder<unknown> =>
  isSqlite ? ofSqlite(rows) : ofPostgres(rows);
