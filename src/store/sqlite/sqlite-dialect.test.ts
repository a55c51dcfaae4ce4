import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import { CompiledQuery, Kysely, sql } from 'kysely';
import { createSqliteDialect } from './sqlite-dialect.ts';

interface Tables {
  readonly things: { readonly value: unknown };
}

function open(t: TestContext, toError = (thrown: unknown) => thrown): Kysely<Tables> {
  const database = new DatabaseSync(':memory:');
  database.exec('CREATE TABLE things (value)');
  const db = new Kysely<Tables>({ dialect: createSqliteDialect(database, toError) });
  t.after(() => db.destroy());
  return db;
}

test('values are read as written, including integers above 2^53', async (t) => {
  const db = open(t);
  const values = ['text', '', null, 1.5, 0, -1, 2 ** 53 - 1, 2n ** 53n, -(2n ** 63n), new Uint8Array([0, 255])];
  for (const value of values) await db.insertInto('things').values({ value }).execute();
  const rows = await db.selectFrom('things').select('value').execute();
  assert.deepEqual(
    rows.map(({ value }) => value),
    values,
  );
});

test('a small bigint is read as a number', async (t) => {
  const db = open(t);
  const { rows } = await sql<{ value: unknown }>`select ${7n} as value`.execute(db);
  assert.equal(rows[0]?.value, 7);
});

test('a query parameter of a type that SQL lacks is refused at any position', async (t) => {
  const db = open(t);
  for (const value of [{ a: 1 }, [1], true, undefined, Symbol('a')]) {
    for (const parameters of [[value], [1, value]]) {
      const query = CompiledQuery.raw(`select ${parameters.map(() => '?').join(', ')}`, parameters);
      await assert.rejects(db.executeQuery(query), { name: 'TypeError', message: /cannot be bound/ });
    }
  }
});

test('a query reports the number of changed rows, and returns them with RETURNING', async (t) => {
  const db = open(t);
  const inserted = await db
    .insertInto('things')
    .values([{ value: 1 }, { value: 2 }, { value: 3 }])
    .executeTakeFirst();
  assert.equal(inserted.numInsertedOrUpdatedRows, 3n);
  const returned = await db.deleteFrom('things').where('value', '>', 1).returning('value').execute();
  assert.equal(returned.length, 2);
});

test('a failed transaction writes nothing', async (t) => {
  const db = open(t);
  const failing = db.transaction().execute(async (transaction) => {
    await transaction.insertInto('things').values({ value: 1 }).execute();
    throw new Error('no');
  });
  await assert.rejects(failing, /^Error: no$/);
  assert.deepEqual(await db.selectFrom('things').selectAll().execute(), []);
});

test("SQLite's exceptions become store errors", async (t) => {
  const db = open(t, (thrown) => new Error('turned', { cause: thrown }));
  await assert.rejects(sql`select nothing`.execute(db), /^Error: turned$/);
  await assert.rejects(sql`insert into things select json(${'{'})`.execute(db), /^Error: turned$/);
});

test("a transaction that SQLite aborted fails with the original error, not the rollback's", async (t) => {
  const db = open(t);
  await sql`pragma max_page_count = 4`.execute(db);
  const failing = db.transaction().execute(async (transaction) => {
    await transaction.insertInto('things').values({ value: 1 }).execute();
    // A full disk can end the whole transaction; here the statement does.
    await sql`insert or rollback into things values (zeroblob(1000000))`.execute(transaction);
  });
  await assert.rejects(failing, /database or disk is full/);
  assert.deepEqual(await db.selectFrom('things').selectAll().execute(), []);
});
