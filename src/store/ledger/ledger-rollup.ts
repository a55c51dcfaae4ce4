/** Adds past hours to SQLite's daily sums, because imports write hourly sums only. Views such as `usage_all_days` combine both. */

import { type Kysely, sql } from 'kysely';
import { type Schema, sumColumns } from '../schema.ts';
import { plus } from './ledger-insert.ts';
import { dayMs, hourMs } from './ledger-rows.ts';

/** Time after an hour's end when it is added to its day: most of its exchanges are imported by then. Later ones are added to the day at once. */
const afterMs = 300_000;

const sumKeys = ['span', 'key', 'project', 'route', 'model', 'upstream', 'outcome'] as const;

/** For each table of sums: its key columns, and the columns to add up. */
export const sumTables = {
  usage_hours: { keys: sumKeys, added: sumColumns },
  usage_days: { keys: sumKeys, added: sumColumns },
  usage_key_days: { keys: ['span', 'key', 'project'], added: ['errors', ...sumColumns] },
  usage_unit_hours: { keys: [...sumKeys, 'unit'], added: ['amount'] },
  usage_unit_days: { keys: [...sumKeys, 'unit'], added: ['amount'] },
} as const;

const dayTables = {
  usage_days: { hours: 'usage_hours', columns: [...sumKeys, 'operation', ...sumColumns] },
  usage_key_days: { hours: 'usage_hours', columns: ['span', 'key', 'project', 'errors', ...sumColumns] },
  usage_unit_days: { hours: 'usage_unit_hours', columns: [...sumKeys, 'operation', 'unit', 'amount'] },
} as const;

/** Rolls up all finished hours. The daily sums are then complete up to the returned time, and have nothing later. */
export async function rollUpHours(trx: Kysely<Schema>, nowMs: number): Promise<number> {
  const { before } = await trx.selectFrom('usage_rollup').select('before').executeTakeFirstOrThrow();
  const over = Math.floor((nowMs - afterMs) / hourMs) * hourMs;
  if (over <= before) return before;
  await rollUp(trx, before, over);
  return over;
}

/** Rolls up all hours, for a version without the views. Until `resumeRollup`, imports add each row to its day at once. */
export async function rollUpForGood(trx: Kysely<Schema>): Promise<void> {
  const { before } = await trx.selectFrom('usage_rollup').select('before').executeTakeFirstOrThrow();
  if (before < Number.MAX_SAFE_INTEGER) await rollUp(trx, before, Number.MAX_SAFE_INTEGER);
}

/** Lets imports write hourly sums only again. Called once all hours were added to their days. */
export async function resumeRollup(trx: Kysely<Schema>): Promise<void> {
  await sql`update usage_rollup set before = (select coalesce(max(span), 0) + ${sql.lit(hourMs)} from usage_hours)`.execute(
    trx,
  );
}

/** Rolls up hours line by line, as an import does: one statement would fail where a sum exceeds the database's integers. */
async function rollUp(trx: Kysely<Schema>, from: number, to: number): Promise<void> {
  for (const [days, { hours, columns }] of Object.entries(dayTables)) {
    const { keys, added } = sumTables[days as keyof typeof dayTables];
    const values = columns.map((column) => {
      if (column === 'span') return sql`span - span % ${sql.lit(dayMs)}`;
      return column === 'errors' ? sql`case when outcome = 'ok' then 0 else requests end` : sql.ref(column);
    });
    await sql`
      insert into ${sql.table(days)} (${sql.join(columns.map((column) => sql.ref(column)))})
      select ${sql.join(values)} from ${sql.table(hours)} where span >= ${from} and span < ${to}
      on conflict (${sql.join(keys.map((column) => sql.ref(column)))}) do update
      set ${sql.join(added.map((column) => sql`${sql.ref(column)} = ${plus(days, column)}`))}`.execute(trx);
  }
  await trx.updateTable('usage_rollup').set({ before: to }).execute();
}
