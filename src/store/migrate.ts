/** Brings a database up to the schema that this version knows. The caller makes sure that nobody else does so meanwhile. */

import { type Kysely, sql } from 'kysely';
import { DEFAULT_MIGRATION_TABLE, Migrator } from 'kysely/migration';
import { reasonOf } from '../lib/thrown.ts';
import { migrations } from './migrations/index.ts';
import type { Schema } from './schema.ts';
import { StoreError } from './store-error.ts';

/** Gives back the names of those that ran. `place` names the database in errors. */
export async function migrate(db: Kysely<Schema>, place: string): Promise<string[]> {
  const missing = await readMissing(db, place);
  if (missing.length === 0) return [];
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

/** The names of the migrations that ran, whether this version knows them or not. */
async function readApplied(db: Kysely<Schema>): Promise<string[]> {
  const tables = await db.introspection.getTables({ withInternalKyselyTables: true });
  if (!tables.some((table) => table.name === DEFAULT_MIGRATION_TABLE)) return [];
  const { rows } = await sql<{
    name: string;
  }>`select name from ${sql.table(DEFAULT_MIGRATION_TABLE)} order by name`.execute(db);
  return rows.map((row) => row.name);
}
