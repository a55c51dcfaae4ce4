/** Compares what the rows of the ledger counted beside tokens with its sums by hour, and those with the sums by day. */

import { type Kysely, type RawBuilder, sql } from 'kysely';
import { toolPrefix } from '../../core/accounting/units.ts';
import type { Schema } from '../schema.ts';
import { rowsOfTime } from './ledger-compact.ts';
import { isSqlite } from './ledger-insert.ts';
import { dayMs, hourMs } from './ledger-rows.ts';
import { unitLeaves } from './unit-leaves.ts';

/** Sums of fractions depend on the order in which they were added up. */
const tolerance = 0.5;

const places = ['key', 'project', 'route', 'operation', 'model', 'upstream', 'outcome'] as const;
const keys = sql.join([...places, 'unit'].map((place) => sql.ref(place)));

export type UnitDifference = Readonly<Record<(typeof places)[number] | 'unit', string> & { amount: number }>;

/** What the rows have more of than the sums; negative where they have less. */
export function compareUnitHour(db: Kysely<Schema>, hour: number): Promise<UnitDifference[]> {
  // Versions that summed no units wrote down what the cache held all the same, and may have run beside this one.
  const rows = sql`
    select key, coalesce(project, '') as project, route, operation, coalesce(model, '') as model,
      coalesce(upstream, '') as upstream, outcome, unit, amount
    from (${unitLeaves(isSqlite(db), sql`(${rowsOfTime(isSqlite(db), hour, hour + hourMs)})`)}) as leaves
    where unit <> 'cachedTokens'`;
  return compare(
    db,
    rows,
    sql`select ${keys}, -amount from usage_unit_hours where span = ${hour} and unit <> 'cachedTokens'`,
  );
}

/** What the sums by hour have more of than those by day. */
export function compareUnitDay(db: Kysely<Schema>, day: number): Promise<UnitDifference[]> {
  return compare(
    db,
    sql`select ${keys}, amount from usage_unit_hours where span >= ${day} and span < ${day + dayMs}`,
    sql`select ${keys}, -amount from usage_all_unit_days where span >= ${day} and span < ${day + dayMs}`,
  );
}

async function compare(
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
export function toUnitWords({ unit, amount }: UnitDifference): string {
  const words = unit.startsWith(toolPrefix)
    ? `calls of ${unit.slice(toolPrefix.length)}`
    : unit.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  return `${Math.round(Math.abs(amount))} ${words} ${amount > 0 ? 'more' : 'less'}`;
}
