import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { Kysely, sql } from 'kysely';
import { createSqliteThread } from './sqlite-thread-dialect.ts';

interface Tables {
  readonly things: { readonly value: number; readonly more: string | null };
}

async function open(t: TestContext) {
  const directory = await mkdtemp(join(tmpdir(), 'postern-thread-'));
  const path = join(directory, 'postern.db');
  const setUp = new DatabaseSync(path);
  setUp.exec('PRAGMA journal_mode = WAL; CREATE TABLE things (value INTEGER UNIQUE, more TEXT)');
  setUp.close();
  const workers: Worker[] = [];
  const thread = createSqliteThread({
    path,
    storeName: 'The store',
    startWorker(data) {
      const worker = new Worker(new URL('./sqlite-thread.ts', import.meta.url), { workerData: data, env: {} });
      workers.push(worker);
      return worker;
    },
  });
  t.after(async () => {
    await thread.close();
    await rm(directory, { recursive: true, force: true });
  });
  const db = new Kysely<Tables>({ dialect: thread.dialect });
  const add = (value: number) => db.insertInto('things').values({ value, more: null }).execute();
  const values = async () =>
    (await db.selectFrom('things').select('value').orderBy('value').execute()).map((row) => row.value);
  return { db, add, values, path, thread, workers };
}

/** Commits in the write-ahead log: each ends in a frame with the file's size. */
async function commitsIn(path: string): Promise<number> {
  const log = await readFile(`${path}-wal`);
  const pageSize = log.readUInt32BE(8);
  let commits = 0;
  for (let at = 32; at + 24 <= log.length; at += 24 + pageSize) if (log.readUInt32BE(at + 4) !== 0) commits += 1;
  return commits;
}

test('waiting writes share one commit, and reads wait for none', async (t) => {
  const { add, values, path } = await open(t);
  await add(0);
  const before = await commitsIn(path);
  await Promise.all(Array.from({ length: 200 }, (_, value) => add(value + 1)));
  assert.equal((await commitsIn(path)) - before, 1);
  assert.equal((await values()).length, 201);
});

test('a failed write fails no other write of its commit', async (t) => {
  const { add, values } = await open(t);
  await add(3);
  const results = await Promise.allSettled([1, 2, 3, 4, 5].map(add));
  assert.deepEqual(
    results.map(({ status }) => status),
    ['fulfilled', 'fulfilled', 'rejected', 'fulfilled', 'fulfilled'],
  );
  assert.deepEqual(await values(), [1, 2, 3, 4, 5]);
});

test('a failed multi-row write is undone completely, and other writes of its commit succeed', async (t) => {
  const { db, add, values } = await open(t);
  await add(3);
  const several = db
    .insertInto('things')
    .values([1, 2, 3, 4].map((value) => ({ value, more: null })))
    .execute();
  const results = await Promise.allSettled([add(10), several, add(11)]);
  assert.deepEqual(
    results.map(({ status }) => status),
    ['fulfilled', 'rejected', 'fulfilled'],
  );
  assert.deepEqual(await values(), [3, 10, 11]);
});

test('a transaction is isolated: no partial reads, no writes in between', async (t) => {
  const { db, add, values } = await open(t);
  const order: string[] = [];
  let other: Promise<unknown> | undefined;
  await db.transaction().execute(async (trx) => {
    await trx.insertInto('things').values({ value: 1, more: null }).execute();
    other = add(10).then(() => order.push('other'));
    assert.deepEqual(await values(), []);
    await wait(20);
    assert.deepEqual(await trx.selectFrom('things').select('value').execute(), [{ value: 1 }]);
    await trx.insertInto('things').values({ value: 2, more: null }).execute();
    order.push('transaction');
  });
  await other;
  assert.deepEqual(order, ['transaction', 'other']);
  assert.deepEqual(await values(), [1, 2, 10]);
});

test('concurrent transactions run one after another, and a failed one leaves nothing', async (t) => {
  const { db, values } = await open(t);
  const count = (turn: number) =>
    db.transaction().execute(async (trx) => {
      const { rows } = await sql<{ most: number | null }>`select max(value) as most from things`.execute(trx);
      await wait(1);
      await trx
        .insertInto('things')
        .values({ value: (rows[0]?.most ?? 0) + 1, more: null })
        .execute();
      if (turn === 3) throw new Error('no');
    });
  const results = await Promise.allSettled(Array.from({ length: 8 }, (_, turn) => count(turn)));
  assert.deepEqual(results.filter(({ status }) => status === 'rejected').length, 1);
  assert.deepEqual(await values(), [1, 2, 3, 4, 5, 6, 7]);
});

test('while another process locks the file, reads go on and writes wait', async (t) => {
  const { add, values, path } = await open(t);
  await add(1);
  const other = new DatabaseSync(path);
  t.after(() => other.close());
  other.exec('BEGIN IMMEDIATE; INSERT INTO things VALUES (100, NULL)');
  const writing = add(2);
  for (let turn = 0; turn < 20; turn += 1) assert.deepEqual(await values(), [1]);
  other.exec('COMMIT');
  await writing;
  assert.deepEqual(await values(), [1, 2, 100]);
});

test('when the thread dies, waiting queries fail with an error, and it is restarted', async (t) => {
  const { db, add, values, workers } = await open(t);
  await add(1);
  const dying = db.transaction().execute(async (trx) => {
    await trx.insertInto('things').values({ value: 2, more: null }).execute();
    await workers[0]?.terminate();
    await trx.insertInto('things').values({ value: 3, more: null }).execute();
  });
  await assert.rejects(dying, { name: 'StoreError', message: /^The store broke off; it is opened again/ });
  await assert.rejects(add(4), { name: 'StoreError' });
  for (let turn = 0; turn < 100 && workers.length < 2; turn += 1) {
    await values().catch(() => undefined);
    await wait(20);
  }
  assert.equal(workers.length, 2);
  await add(5);
  assert.deepEqual(await values(), [1, 5]);
});

test('a transaction of a thread that died fails, and does not continue in the next thread', async (t) => {
  const { db, values, workers } = await open(t);
  const stale = db.transaction().execute(async (trx) => {
    await trx.insertInto('things').values({ value: 1, more: null }).execute();
    await workers[0]?.terminate();
    for (let turn = 0; turn < 100 && workers.length < 2; turn += 1) {
      await values().catch(() => undefined);
      await wait(20);
    }
    await trx.insertInto('things').values({ value: 2, more: null }).execute();
  });
  await assert.rejects(stale, /The transaction has ended already; nothing of it was written/);
  assert.deepEqual(await values(), []);
});

test('a write that needs more space than the file may use is refused, and the data stays', async (t) => {
  const { db, add, values } = await open(t);
  await add(1);
  await sql`update things set more = ${'x'} where value = 1`.execute(db);
  // As with a full disk: the file may not grow by another page.
  await db.transaction().execute(async (trx) => {
    await sql`pragma max_page_count = 3`.execute(trx);
  });
  const large = 'y'.repeat(100_000);
  const writing = db.insertInto('things').values({ value: 2, more: large }).execute();
  await assert.rejects(writing, { name: 'StoreError', message: /cannot grow because the disk is full; make room/ });
  const inside = db.transaction().execute(async (trx) => {
    await trx
      .insertInto('things')
      .values({ value: 3, more: large })
      .execute()
      .catch(() => undefined);
    await trx.insertInto('things').values({ value: 4, more: null }).execute();
  });
  // SQLite may end a transaction on a full disk; later statements must not run on their own.
  const isWritten = await inside.then(
    () => true,
    () => false,
  );
  assert.deepEqual(await values(), isWritten ? [1, 4] : [1]);
  await add(5);
  assert.ok((await values()).includes(5));
});

test('closing the thread first completes waiting queries, and refuses later ones', async (t) => {
  const { add, thread, path } = await open(t);
  const writing = Promise.all(Array.from({ length: 50 }, (_, value) => add(value)));
  await wait(0);
  await thread.close();
  await writing;
  await assert.rejects(add(99), { name: 'StoreError', message: 'The store is closed.' });
  const after = new DatabaseSync(path);
  assert.equal(after.prepare('SELECT count(*) AS n FROM things').get()?.n, 50);
  after.close();
});
