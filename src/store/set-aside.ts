/** Steps that are done and not spoken of, so that a former version opens the store, which refuses what it has never heard of. */

import { type Kysely, sql } from 'kysely';
import { DEFAULT_MIGRATION_TABLE } from 'kysely/migration';
import { moveCompactBack } from './ledger/ledger-compact.ts';
import { isSqlite } from './ledger/ledger-insert.ts';
import { resumeRollup, rollUpForGood } from './ledger/ledger-rollup.ts';
import { compactStep, lastStepOf, passedOver, usageRollupStep } from './migrations/releases.ts';
import type { Schema } from './schema.ts';
import { StoreError } from './store-error.ts';

const table = 'migrations_set_aside';

/** Gives back the names of those that are set aside now. The caller makes sure that nobody else migrates meanwhile. */
export async function setAside(
  db: Kysely<Schema>,
  applied: readonly string[],
  version: string,
  place: string,
): Promise<string[]> {
  const last = lastStepOf[version];
  if (last === undefined) {
    const known = Object.keys(lastStepOf).join(', ');
    throw new StoreError(`${version} is no version that this one follows; the way back is to one of: ${known}.`);
  }
  const later = applied.filter((name) => name > last);
  const stops = later.find((name) => !passedOver.has(name));
  if (stops !== undefined) {
    throw new StoreError(`${version} does not run on what "${stops}" made of ${place}; put back the copy from before.`);
  }
  if (later.length === 0) return [];
  await sql`create table if not exists ${sql.table(table)} (name text primary key, timestamp text not null)`.execute(
    db,
  );
  if (later.includes(usageRollupStep) && isSqlite(db)) await rollUpForGood(db);
  if (later.includes(compactStep) && isSqlite(db)) await moveCompactBack(db);
  await move(db, later, DEFAULT_MIGRATION_TABLE, table);
  return later;
}

/** What was set aside is done already: it counts again. `tables` are those that are there. */
export async function takeUp(db: Kysely<Schema>, tables: ReadonlySet<string>): Promise<void> {
  if (!tables.has(table)) return;
  const { rows } = await sql<{ name: string }>`select name from ${sql.table(table)}`.execute(db);
  const names = rows.map(({ name }) => name);
  if (names.length > 0) await move(db, names, table, DEFAULT_MIGRATION_TABLE);
  if (names.includes(usageRollupStep) && isSqlite(db)) await resumeRollup(db);
}

async function move(db: Kysely<Schema>, names: readonly string[], from: string, to: string): Promise<void> {
  const list = sql.join(names);
  await sql`insert into ${sql.table(to)} (name, timestamp)
    select name, timestamp from ${sql.table(from)} where name in (${list})`.execute(db);
  await sql`delete from ${sql.table(from)} where name in (${list})`.execute(db);
}
