/** Migrates a database to this version's schema. The caller holds the lock. */

import { type Kysely, sql } from 'kysely';
import { DEFAULT_MIGRATION_TABLE, Migrator } from 'kysely/migration';
import { reasonOf } from '../lib/thrown.ts';
import { moveCompactBack } from './ledger/ledger-compact.ts';
import { forgetFormerMark } from './ledger/ledger-former.ts';
import { isSqlite } from './ledger/ledger-insert.ts';
import { resumeRollup, rollUpForGood } from './ledger/ledger-rollup.ts';
import { compactStep, lastStepOf, migrations, passedOver, seriesStep, usageRollupStep } from './migrations.ts';
import type { Schema } from './schema.ts';
import { nextMinute } from './series/series-cells.ts';
import { StoreError } from './store-error.ts';

/** Runs the pending migrations, and returns their names. `storeName` names the database in errors. */
export async function migrate(db: Kysely<Schema>, storeName: string): Promise<string[]> {
  const missing = await readMissing(db, storeName);
  if (missing.length === 0) return [];
  await takeUp(db, await readTables(db));
  const migrator = new Migrator({ db, provider: { getMigrations: async () => migrations } });
  const { error } = await migrator.migrateToLatest();
  if (error instanceof StoreError) throw error;
  if (error !== undefined) {
    const reason = reasonOf(error);
    throw new StoreError(
      `${storeName} could not be set up (${reason}); point "store" at a database of its own.`,
      error,
    );
  }
  return missing;
}

/** The names of the pending migrations. Throws for a database with migrations that this version does not know. */
export async function readMissing(db: Kysely<Schema>, storeName: string): Promise<string[]> {
  const applied = await readApplied(db);
  const unknown = applied.find((name) => !Object.hasOwn(migrations, name));
  if (unknown !== undefined) {
    throw new StoreError(
      `${storeName} was made by a newer version of Postern (it has "${unknown}"); run that version, or point "store" elsewhere.`,
    );
  }
  return Object.keys(migrations)
    .filter((name) => !applied.includes(name))
    .toSorted();
}

/** Sets aside the migrations that `version` does not know, so that it can run, and returns their names. */
export async function goBackTo(db: Kysely<Schema>, version: string, storeName: string): Promise<string[]> {
  const missing = await readMissing(db, storeName);
  const [first] = missing;
  if (first !== undefined && missing.length < Object.keys(migrations).length) {
    throw new StoreError(
      `${storeName} lacks "${first}": it is not up to date, so that there is nothing to go back from.`,
    );
  }
  return setAside(db, await readApplied(db), version, storeName);
}

async function readApplied(db: Kysely<Schema>): Promise<string[]> {
  if (!(await readTables(db)).has(DEFAULT_MIGRATION_TABLE)) return [];
  const { rows } = await sql<{
    name: string;
  }>`select name from ${sql.table(DEFAULT_MIGRATION_TABLE)} order by name`.execute(db);
  return rows.map((row) => row.name);
}

async function readTables(db: Kysely<Schema>): Promise<ReadonlySet<string>> {
  const tables = await db.introspection.getTables({ withInternalKyselyTables: true });
  return new Set(tables.map(({ name }) => name));
}

const table = 'migrations_set_aside';

/** Sets aside the applied migrations that `version` does not know, and returns their names. The caller excludes parallel migrations. */
export async function setAside(
  db: Kysely<Schema>,
  applied: readonly string[],
  version: string,
  storeName: string,
): Promise<string[]> {
  const last = lastStepOf[version];
  if (last === undefined) {
    const known = Object.keys(lastStepOf).join(', ');
    throw new StoreError(`${version} is no version that this one follows; the way back is to one of: ${known}.`);
  }
  const later = applied.filter((name) => name > last);
  const stops = later.find((name) => !passedOver.has(name));
  if (stops !== undefined) {
    throw new StoreError(
      `${version} does not run on what "${stops}" made of ${storeName}; put back the copy from before.`,
    );
  }
  if (later.length === 0) return [];
  await sql`create table if not exists ${sql.table(table)} (name text primary key, timestamp text not null)`.execute(
    db,
  );
  if (later.includes(usageRollupStep) && isSqlite(db)) await rollUpForGood(db);
  if (later.includes(compactStep) && isSqlite(db)) {
    await moveCompactBack(db);
    await forgetFormerMark(db);
  }
  await move(db, later, DEFAULT_MIGRATION_TABLE, table);
  return later;
}

/** Marks migrations that were set aside as applied again, as their tables still exist. `tables` are the existing tables. */
async function takeUp(db: Kysely<Schema>, tables: ReadonlySet<string>): Promise<void> {
  if (!tables.has(table)) return;
  const { rows } = await sql<{ name: string }>`select name from ${sql.table(table)}`.execute(db);
  const names = rows.map(({ name }) => name);
  if (names.length > 0) await move(db, names, table, DEFAULT_MIGRATION_TABLE);
  if (names.includes(usageRollupStep) && isSqlite(db)) await resumeRollup(db);
  // Rows that a former version wrote meanwhile are in no block.
  if (names.includes(seriesStep)) await sql`update series_since set at = ${nextMinute(Date.now())}`.execute(db);
}

async function move(db: Kysely<Schema>, names: readonly string[], from: string, to: string): Promise<void> {
  const list = sql.join(names);
  await sql`insert into ${sql.table(to)} (name, timestamp)
    select name, timestamp from ${sql.table(from)} where name in (${list})`.execute(db);
  await sql`delete from ${sql.table(from)} where name in (${list})`.execute(db);
}
