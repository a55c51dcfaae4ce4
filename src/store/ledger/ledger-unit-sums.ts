/** Adds up what the rows of an import counted beside tokens, by hour and by day. Lists are in the order of what tells their sums apart. */

import { readUnits, toolPrefix, type Units } from '../../core/accounting/units.ts';
import type { LedgerTable, UnitUsageTable, UsagePlace } from '../schema.ts';
import { readJson } from '../stored-json.ts';
import { compareTexts } from './ledger-insert.ts';
import { dayMs, hourMs } from './ledger-rows.ts';

interface PlaceSums {
  readonly place: UsagePlace;
  readonly amounts: Map<string, number>;
}

/** By hour. */
export function addUpUnits(rows: readonly LedgerTable[]): readonly UnitUsageTable[] {
  const hours: ByName = new Map();
  for (const row of rows) {
    if (row.units === null && !row.cached_tokens) continue;
    const amounts = toAmounts(hours, row.started_at - (row.started_at % hourMs), row);
    if (row.cached_tokens !== null && row.cached_tokens > 0) add(amounts, 'cachedTokens', row.cached_tokens);
    if (row.units !== null) addUnits(amounts, readUnits(readJson(row.units)) ?? {});
  }
  return inOrder(hours);
}

export function toUnitDays(hours: readonly UnitUsageTable[]): readonly UnitUsageTable[] {
  const days: ByName = new Map();
  for (const hour of hours) add(toAmounts(days, hour.span - (hour.span % dayMs), hour), hour.unit, hour.amount);
  return inOrder(days);
}

type ByName = Map<string, PlaceSums>;

/** What is null in a row is empty text here. */
function toAmounts(sums: ByName, span: number, row: UsagePlace | LedgerTable): Map<string, number> {
  const { key, route, operation, outcome } = row;
  const project = row.project ?? '';
  const model = row.model ?? '';
  const upstream = row.upstream ?? '';
  const name = `${span}\0${key}\0${project}\0${route}\0${model}\0${upstream}\0${outcome}`;
  const known = sums.get(name);
  if (known !== undefined) return known.amounts;
  const amounts = new Map<string, number>();
  sums.set(name, { place: { span, key, project, route, operation, model, upstream, outcome }, amounts });
  return amounts;
}

function addUnits(amounts: Map<string, number>, units: Units): void {
  // Beside counts there are words: what a price hung on.
  for (const [unit, amount] of Object.entries(units)) if (typeof amount === 'number') add(amounts, unit, amount);
  for (const [kind, count] of Object.entries(units.toolCalls ?? {})) add(amounts, `${toolPrefix}${kind}`, count);
}

const add = (amounts: Map<string, number>, unit: string, amount: number) =>
  amounts.set(unit, (amounts.get(unit) ?? 0) + amount);

function inOrder(sums: ByName): UnitUsageTable[] {
  return [...sums]
    .sort(([one], [other]) => compareTexts(one, other))
    .flatMap(([, { place, amounts }]) =>
      [...amounts]
        .sort(([one], [other]) => compareTexts(one, other))
        .map(([unit, amount]) => ({ ...place, unit, amount })),
    );
}
