/** Brings a database up to the schema that this version knows. The caller makes sure that nobody else does so meanwhile. */

import { type Kysely, sql } from 'kysely';
import { DEFAULT_MIGRATION_TABLE, Migrator } from 'kysely/migration';
import { reasonOf } from '../lib/thrown.ts';
import { migrations } from './migrations/index.ts';
import type { Schema } from './schema.ts';
import { setAside, takeUp } from './set-aside.ts';
import { StoreError } from './store-error.ts';

/** Gives back the names of those that ran. `place` names the database in errors. */
export async function migrate(db: Kysely<Schema>, place: string): Promise<string[]> {
  const missing = await readMissing(db, place);
  if (missing.length === 0) return [];
  await takeUp(db, await readTables(db));
  const migrator = new Migrator({ db, provider: { getMigrations: async () => migrations } });
  const { error } = await migrator.migrateToLatest();
  if (error instanceof StoreError) throw error;
  if (error !== undefined) {
    const reason = reasonOf(error);
    throw new StoreError(`${place} could not be set up (${reason}); point "store" at a database of its own.`, error);
  }
  return missing;
}

/** The names of the migrations that did not run yet. A database that is ahead of this version is refused. */
export async function readMissing(db: Kysely<Schema>, place: string): Promise<string[]> {
  const applied = await readApplied(db);
  const unknown = applied.find((name) => !Object.hasOwn(migrations, name));
  if (unknown !== undefined) {
    throw new StoreError(
      `${place} was made by a newer version of Postern (it has "${unknown}"); run that version, or point "store" elsewhere.`,
    );
  }
  return Object.keys(migrations)
    .filter((name) => !applied.includes(name))
    .toSorted();
}

/** Gives back the names of the steps that `version` would not know, and that are set aside for it now. */
export async function goBackTo(db: Kysely<Schema>, version: string, place: string): Promise<string[]> {
  const missing = await readMissing(db, place);
  const [first] = missing;
  if (first !== undefined && missing.length < Object.keys(migrations).length) {
    throw new StoreError(`${place} lacks "${first}": it is not up to date, so that there is nothing to go back from.`);
  }
  return setAside(db, await readApplied(db), version, place);
}

/** The names of the migrations that ran, whether this version knows them or not. */
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
