import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { Kysely } from 'kysely';
import { goBackTo, migrate, setAside } from './migrate.ts';
import type { Schema } from './schema.ts';
import { createSqliteDialect } from './sqlite/sqlite-dialect.ts';

function openMemory() {
  const database = new DatabaseSync(':memory:');
  return { database, db: new Kysely<Schema>({ dialect: createSqliteDialect(database, () => undefined) }) };
}

test('a downgrade of a store that is not up to date is refused and changes nothing', async () => {
  const { database, db } = openMemory();
  await migrate(db, 'The store');
  database.exec("DELETE FROM kysely_migration WHERE name > '0001-keys'");
  await assert.rejects(goBackTo(db, '0.1.0', 'The store'), {
    message: 'The store lacks "0002-node-reports": it is not up to date, so that there is nothing to go back from.',
  });
  assert.equal(database.prepare('SELECT count(*) AS n FROM kysely_migration').get()?.n, 1);
});

test('a downgrade past a migration that the older version cannot use is refused and changes nothing', async () => {
  const { database, db } = openMemory();
  const applied = ['0013-ledger-slices', '0014-kept-objects', '0099-other-rows'];
  await assert.rejects(setAside(db, applied, '0.1.0', 'The store'), {
    name: 'StoreError',
    message: '0.1.0 does not run on what "0099-other-rows" made of The store; put back the copy from before.',
  });
  assert.deepEqual(database.prepare('SELECT name FROM sqlite_schema').all(), []);
});
