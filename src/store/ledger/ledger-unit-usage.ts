/** What was counted beside tokens, from its sums by day and, where days are too coarse, by hour. */

import { type Kysely, sql } from 'kysely';
import { addUnits, toUnitSums } from '../../core/accounting/units.ts';
import type { LedgerFilter, UnitLine, UsageGroup } from '../../core/store/ledger.ts';
import type { Schema } from '../schema.ts';
import { toConditions } from './ledger-rows.ts';
import { createSpanText, nameOf, type Part, type SumRow, toBy, toColumn, toParts } from './ledger-usage.ts';

const tables = { usage_hours: 'usage_unit_hours', usage_days: 'usage_all_unit_days' } as const;

/** Throws a RangeError where the sums cannot tell. */
export async function readUnitUsage(
  db: Kysely<Schema>,
  filter: LedgerFilter,
  by: readonly UsageGroup[],
): Promise<UnitLine[]> {
  const groups = [...new Set(by)];
  const toText = createSpanText();
  const lines = new Map<string, UnitLine>();
  for (const part of toParts(filter, groups)) {
    for (const row of await readPart(db, part, filter, groups)) {
      const found = { by: toBy(row, groups, toText), units: toUnitSums(String(row.unit), Number(row.amount)) };
      const name = nameOf(found, groups);
      const other = lines.get(name);
      lines.set(name, other === undefined ? found : { by: found.by, units: addUnits(other.units, found.units) });
    }
  }
  return [...lines.values()];
}

function readPart(
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
