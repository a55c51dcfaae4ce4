/** Finds out from the sums between which times the rows of a page are, so that nobody looks for them where there are none. */

import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { LedgerFilter } from '../../core/store/ledger.ts';
import type { Schema } from '../schema.ts';
import { isSqlite } from './ledger-insert.ts';
import { dayMs, toConditions } from './ledger-rows.ts';
import { rolledUpOr } from './ledger-usage.ts';

/** How far back is looked each time, in days: most pages are full soon. */
const looks = [1, 6, 23, 60, Number.POSITIVE_INFINITY];

/** From the one time until before the other; the second may be Infinity. */
export interface Stretch {
  readonly fromMs: number;
  readonly toMs: number;
}

/** An index leads to the rows of one thing. Those of several at once, or of none, may be few among many. */
export function isRarelyTogether(filter: LedgerFilter): boolean {
  const conditions = toConditions(filter);
  return conditions.length > 1 || conditions.some(({ value }) => value === '');
}

/** Holds the `most` newest rows that fit and began within the stretch; undefined where none does. */
export async function findStretch(
  db: Kysely<Schema>,
  filter: LedgerFilter,
  within: Stretch,
  most: number,
): Promise<Stretch | undefined> {
  const firstMs = Math.max(floorDay(within.fromMs), 0);
  const endMs = Math.min(Math.ceil(within.toMs), await readEnd(db));
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
      // Of the day at the end it is not known how many are before it; and no sum knows the status.
      if (span + dayMs <= endMs && filter.status === undefined) count += requests;
      if (count >= most) return toStretch(oldestMs, newestMs, within);
    }
    upToMs = downToMs;
  }
  return newestMs === undefined ? undefined : toStretch(oldestMs, newestMs, within);
}

/** When the last day is over of which there is anything. */
async function readEnd(db: Kysely<Schema>): Promise<number> {
  const { last } = await db
    .selectFrom('usage_hours')
    .select(({ fn }) => fn.max('span').as('last'))
    .executeTakeFirstOrThrow();
  return last === null ? 0 : floorDay(last) + dayMs;
}

/** The newest first. */
function readDays(db: Kysely<Schema>, filter: LedgerFilter, fromMs: number, toMs: number) {
  const days = selectDays(db, 'usage_days', sql<number>`span`, filter, toMs).where('span', '>=', fromMs);
  const hours = selectDays(db, 'usage_hours', sql<number>`span - span % ${sql.lit(dayMs)}`, filter, toMs);
  // A day that is rolled up in part comes twice.
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
