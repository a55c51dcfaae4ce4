/** Deletes expired ledger rows, a few thousand at a time to keep locks short. Sums stay. */

import { type Kysely, type RawBuilder, sql, type Transaction } from 'kysely';
import { isMapping } from '../../lib/is-mapping.ts';
import { readJson } from '../../lib/json/read-json.ts';
import type { Schema } from '../schema.ts';
import { lockSetting, readSetting, writeSetting } from '../settings.ts';
import {
  countCompactBefore,
  deleteCompact,
  deleteSharedValues,
  readCompactExtent,
  readCompactTime,
} from './ledger-compact.ts';
import { isSqlite } from './ledger-insert.ts';
import { firstIdOf, toTimeOf } from './ledger-rows.ts';
import { deleteSlices, slicedColumns } from './ledger-slices.ts';

const rowsAtOnce = 2_000;

const pruningId = 1;

export async function pruneRows(db: Kysely<Schema>, beforeMs: number): Promise<number> {
  // Where rows are kept for good, the limit lies before all times.
  if (!(beforeMs > 0)) return 0;
  const before = Math.ceil(beforeMs);
  const end = firstIdOf(before);
  return db.transaction().execute(async (trx) => {
    // Before the rows are deleted, as a comparison of rows with sums must not report them as lost.
    await trx
      .insertInto('pruning')
      .values({ id: pruningId, before })
      .onConflict((conflict) => conflict.column('id').doUpdateSet({ before }).where('pruning.before', '<', before))
      .execute();
    const rows = isSqlite(trx)
      ? await deleteSqliteRows(trx, before)
      : await deleteFirst(trx, 'ledger', 'id', sql`id < ${end}`);
    return rows + (await deleteFirst(trx, 'captures', 'id', sql`id < ${end}`));
  });
}

async function deleteFirst(
  db: Kysely<Schema>,
  table: 'ledger' | 'captures',
  order: 'id' | 'expires_at',
  fits: RawBuilder<unknown>,
): Promise<number> {
  const { numAffectedRows } = await sql`delete from ${sql.table(table)} where id in (
    select id from ${sql.table(table)} where ${fits} order by ${sql.ref(order)} limit ${rowsAtOnce})`.execute(db);
  return Number(numAffectedRows ?? 0);
}

/** Deletes rows from both tables up to the same time, because the tables share their time slices. */
async function deleteSqliteRows(trx: Transaction<Schema>, before: number): Promise<number> {
  const other = await trx
    .selectFrom('ledger')
    .select('id')
    .where('id', '<', firstIdOf(before))
    .orderBy('id')
    .limit(1)
    .offset(rowsAtOnce - 1)
    .executeTakeFirst();
  const compactMs = await readCompactTime(trx, before, rowsAtOnce);
  const toMs = Math.min(before, (compactMs ?? before) + 1, other === undefined ? before : toTimeOf(other.id) + 1);
  const others = await trx.deleteFrom('ledger').where('id', '<', firstIdOf(toMs)).returning(slicedColumns).execute();
  const rows = [...others, ...(await deleteCompact(trx, toMs))];
  if (rows.length > 0) await deleteSlices(trx, rows);
  else await deleteSharedValues(trx, before);
  return rows.length;
}

export async function pruneCaptures(db: Kysely<Schema>, nowMs: number): Promise<number> {
  for (let total = 0; ; ) {
    const deleted = await deleteFirst(db, 'captures', 'expires_at', sql`expires_at <= ${nowMs}`);
    total += deleted;
    if (deleted < rowsAtOnce) return total;
  }
}

const markName = 'retention_mark';
/** Longest time by which a start moves retention on. After a longer pause the operator must confirm the clock. */
const mostPerStartMs = 48 * 3_600_000;
/** Processes that start together, or repeatedly, move retention on only once in this time. */
const startEveryMs = 3_600_000;

interface Mark {
  readonly atMs: number;
  /** When the start of a process last moved retention on. */
  readonly startedAtMs: number;
}

export async function readMark(db: Kysely<Schema>): Promise<number | undefined> {
  return toMark(await readSetting(db, markName))?.atMs;
}

export function moveMark(db: Kysely<Schema>, nowMs: number, reachedMs: number | undefined): Promise<number> {
  return db.transaction().execute(async (trx) => {
    const known = toMark(await lockSetting(trx, markName));
    const former = known ?? { atMs: await firstMark(trx, nowMs), startedAtMs: nowMs };
    const isStep = reachedMs === undefined && Math.abs(nowMs - former.startedAtMs) >= startEveryMs;
    const reach = isStep ? former.atMs + mostPerStartMs : (reachedMs ?? former.atMs);
    const atMs = Math.max(former.atMs, Math.min(nowMs, reach));
    await writeMark(trx, { atMs, startedAtMs: isStep ? nowMs : former.startedAtMs });
    return Math.min(nowMs, atMs);
  });
}

export function setMark(db: Kysely<Schema>, nowMs: number): Promise<void> {
  return writeMark(db, { atMs: nowMs, startedAtMs: nowMs });
}

export async function countBefore(db: Kysely<Schema>, beforeMs: number): Promise<number> {
  if (!(beforeMs > 0)) return 0;
  const { rows } = await db
    .selectFrom('ledger')
    .select((column) => column.fn.countAll().as('rows'))
    .where('id', '<', firstIdOf(Math.ceil(beforeMs)))
    .executeTakeFirstOrThrow();
  return Number(rows) + (isSqlite(db) ? await countCompactBefore(db, beforeMs) : 0);
}

/** The first mark for retention. A former version stored none: the newest row shows when the store was last used. */
async function firstMark(db: Kysely<Schema>, nowMs: number): Promise<number> {
  const newest = await db.selectFrom('ledger').select('started_at').orderBy('id', 'desc').limit(1).executeTakeFirst();
  const lastMs = Math.max(
    newest?.started_at ?? 0,
    (isSqlite(db) ? await readCompactExtent(db) : undefined)?.lastMs ?? 0,
  );
  return lastMs === 0 ? nowMs : Math.min(nowMs, lastMs + mostPerStartMs);
}

const writeMark = (db: Kysely<Schema>, { atMs, startedAtMs }: Mark): Promise<void> =>
  writeSetting(db, markName, JSON.stringify({ at: atMs, started_at: startedAtMs }));

function toMark(text: string | undefined): Mark | undefined {
  const value = text === undefined ? undefined : readJson(text);
  if (!isMapping(value) || typeof value.at !== 'number' || typeof value.started_at !== 'number') return undefined;
  return { atMs: value.at, startedAtMs: value.started_at };
}
