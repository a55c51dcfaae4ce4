import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import { Kysely } from 'kysely';
import { imported, spreadRows } from '../../../test/support/ledger/ledger-rows.ts';
import { describeLedgerStore } from '../../../test/support/stores/ledger-conformance.ts';
import { tamper } from '../../../test/support/stores/tampering.ts';
import { createFakeClock } from '../../../test/support/time/fake-clock.ts';
import type { LedgerRow } from '../../core/accounting/ledger-row.ts';
import type { ImportedRow } from '../../core/store/ledger.ts';
import type { Store } from '../../core/store/store.ts';
import type { Clock } from '../../lib/clock.ts';
import { migrateStore, openStore } from '../open-store.ts';
import type { Schema } from '../schema.ts';
import { createSqliteDialect } from '../sqlite/sqlite-dialect.ts';
import { open as openDatabase } from '../sqlite/sqlite-file.ts';
import { readPage } from './ledger-page.ts';
import { firstIdOf } from './ledger-rows.ts';

const url = 'sqlite:postern.db';
const startMs = Date.UTC(2027, 0, 1);
const dayMs = 86_400_000;

async function openFile(t: TestContext, clock: Clock) {
  const cwd = await mkdtemp(join(tmpdir(), 'postern-ledger-'));
  t.after(() => rm(cwd, { recursive: true, force: true }));
  const store = await openStore(url, { cwd, clock });
  t.after(() => store.close());
  return { store, file: join(cwd, 'postern.db') };
}

describeLedgerStore('the ledger in a SQLite file', async (t, clock) => (await openFile(t, clock)).store);
describeLedgerStore('the ledger in memory', async (t, clock) => {
  const store = await openStore('sqlite::memory:', { cwd: '/nowhere', clock });
  t.after(() => store.close());
  return store;
});

const isOfKey = (key: string) => `place IN (SELECT id FROM ledger_places WHERE key = '${key}')`;

/** A time at which all imported rows are rolled up. */
const laterMs = startMs + 3 * dayMs;

/** A ledger of two hours, changed by a statement. */
async function verifyAfter(t: TestContext, sql: string): Promise<string[]> {
  const { store, file } = await openFile(t, createFakeClock(laterMs));
  const rows = [
    imported({ startedAtMs: startMs, key: 'a', costNanos: 1_500_000_000 }),
    imported({ startedAtMs: startMs + 3_600_000, key: 'b', project: 'p' }),
  ];
  await store.ledger.import('j', rows, { segment: 1, offset: 1 });
  tamper(file, sql);
  return store.ledger.verify(0, startMs + dayMs);
}

test('verification finds a row deleted by hand, with its hour and the missing amount', async (t) => {
  const found = await verifyAfter(t, `DELETE FROM ledger_rows WHERE ${isOfKey('a')}`);
  assert.deepEqual(found, [
    '2027-01-01T00:00Z, key a, route /v1/embeddings, operation embeddings, model bge-m3, upstream near, outcome ok: against the sums, the rows have 1 requests less, 10 input tokens less, 1 items less, 1.5 dollars less, 100 request bytes less, 2000 response bytes less, 12.5 ms of duration less',
  ]);
});

test('verification finds a row whose cost was changed by hand', async (t) => {
  const [found = '', ...others] = await verifyAfter(
    t,
    `UPDATE ledger_rows SET cost_nanos = cost_nanos + 1 WHERE ${isOfKey('b')}`,
  );
  assert.match(found, /^2027-01-01T01:00Z, key b, project p, .* the rows have 0\.000000001 dollars more$/);
  assert.deepEqual(others, []);
});

test('verification reports a row moved to another key by hand, for both keys', async (t) => {
  const found = await verifyAfter(t, "UPDATE ledger_places SET key = 'c' WHERE key = 'b'");
  assert.equal(found.length, 2);
  assert.match(found[0] ?? '', /key b, .*1 requests less/);
  assert.match(found[1] ?? '', /key c, .*1 requests more/);
});

test('verification finds a sum by hour, day or key that was changed by hand, and names it', async (t) => {
  const days = await verifyAfter(t, "UPDATE usage_days SET requests = 7 WHERE key = 'a'");
  assert.equal(days.length, 2);
  assert.match(days[0] ?? '', /^2027-01-01, key a, .* against the sums by day, the sums by hour have 6 requests less$/);
  assert.match(
    days[1] ?? '',
    /^2027-01-01, key a: against the sums of each key, the sums by day have 6 requests more$/,
  );
  const keys = await verifyAfter(t, "UPDATE usage_key_days SET output_tokens = 7 WHERE key = 'b'");
  assert.equal(keys.length, 1);
  assert.match(keys[0] ?? '', /^2027-01-01, key b, project p: against the sums of each key, .* output tokens/);
  const hours = await verifyAfter(t, "DELETE FROM usage_hours WHERE key = 'a'");
  assert.equal(hours.length, 2);
  assert.match(hours[0] ?? '', /^2027-01-01T00:00Z, key a, .* the rows have 1 requests more/);
  assert.match(hours[1] ?? '', /^2027-01-01, key a, .* the sums by hour have 1 requests less/);
});

test('verification covers units other than tokens, such as images, by hour and by day', async (t) => {
  const verifyUnits = async (sql: string) => {
    const { store, file } = await openFile(t, createFakeClock(laterMs));
    const units = { images: 3, toolCalls: { web_search: 2 } };
    await store.ledger.import('j', [imported({ startedAtMs: startMs, key: 'a', units })], { segment: 1, offset: 1 });
    tamper(file, sql);
    return store.ledger.verify(0, startMs + dayMs);
  };
  const [rows = '', ...others] = await verifyUnits(
    `UPDATE ledger_rows SET more = json_set(more, '$.units', '{"images":1,"toolCalls":{"web_search":2}}')`,
  );
  assert.match(rows, /^2027-01-01T00:00Z, key a, .*: against the sums, the rows have 2 images less$/);
  assert.deepEqual(others, []);
  const [day = '', ...more] = await verifyUnits("UPDATE usage_unit_days SET amount = 5 WHERE unit <> 'images'");
  assert.match(
    day,
    /^2027-01-01, key a, .* against the sums by day, the sums by hour have 3 calls of web_search less$/,
  );
  assert.deepEqual(more, []);
  assert.equal((await verifyUnits("DELETE FROM usage_unit_hours WHERE unit = 'images'")).length, 2);
});

test('verification finds rows that are missing without a prune, even if no older row remains', async (t) => {
  assert.equal((await verifyAfter(t, 'DELETE FROM ledger_rows')).length, 2);
});

/** Deletes what the downgrade set aside. */
const dropSetAside = `INSERT INTO kysely_migration SELECT name, timestamp FROM migrations_set_aside; DELETE FROM migrations_set_aside;
  DROP TABLE ledger_rows; DROP TABLE ledger_places;
  DROP VIEW usage_all_days; DROP VIEW usage_all_key_days; DROP VIEW usage_all_unit_days;
  DROP TABLE usage_rollup; DROP TABLE series_blocks; DROP TABLE series_since; DROP TABLE alerts; DROP TABLE alert_lease`;
const dropSecretKeys = 'ALTER TABLE node_reports DROP COLUMN secret_keys';
const dropQueue = 'ALTER TABLE ledger DROP COLUMN queue_ms; ALTER TABLE ledger DROP COLUMN connect_ms';
const dropUnitSums = `${dropSetAside}; ${dropQueue}; ${dropSecretKeys}; DROP TABLE usage_unit_hours; DROP TABLE usage_unit_days`;

/** The tables before slices existed. */
const undoSlices = `
  DROP TABLE batches; DROP TABLE background_answers; DROP TABLE kept_objects; DROP TABLE ledger_slices;
  ${dropUnitSums}; ALTER TABLE ledger DROP COLUMN units; ALTER TABLE ledger DROP COLUMN trace_id;
  ALTER TABLE node_reports DROP COLUMN drift;
  ${['key', 'project', 'model', 'upstream', 'operation', 'outcome', 'status']
    .map((column) => `CREATE INDEX ledger_${column} ON ledger (${column}, id)`)
    .join(';')}`;

const goBack = (file: string) => migrateStore(`sqlite:${file}`, { cwd: '/nowhere' }, '0.1.0');

function readSlices(file: string): string[] {
  const database = new DatabaseSync(file, { readOnly: true });
  const slices = database.prepare('SELECT kind, name, slice FROM ledger_slices').all();
  database.close();
  return slices.map(({ kind, name, slice }) => `${kind} ${name} ${slice}`);
}

const spread = { keys: 5, projects: 2, models: 4, upstreams: 3, fromMs: startMs };
const toImported = (row: LedgerRow): ImportedRow => ({ row, accounts: [] });

test('records which names occur in each time slice of rows, in new and upgraded stores and after a prune', async (t) => {
  const { store, file } = await openFile(t, createFakeClock());
  const rows = [...spreadRows({ ...spread, rows: 5_000, toMs: startMs + 10_000 })];
  await store.ledger.import('j', rows.map(toImported), { segment: 1, offset: 1 });
  const imported = readSlices(file);
  assert.ok(imported.length > 100 && imported.length < 300, String(imported.length));

  await store.close();
  await goBack(file);
  tamper(file, `${undoSlices}; ALTER TABLE keys DROP COLUMN lane; DELETE FROM kysely_migration WHERE name >= '0013'`);
  const again = await openStore(`sqlite:${file}`, { cwd: '/nowhere' });
  t.after(() => again.close());
  assert.deepEqual(readSlices(file), imported);

  // Within a slice, and within those deleted at once.
  const beforeMs = startMs + 6_500;
  while ((await again.ledger.prune(beforeMs)) > 0);
  const { store: other, file: otherFile } = await openFile(t, createFakeClock());
  const young = rows.filter(({ startedAtMs }) => startedAtMs >= beforeMs);
  await other.ledger.import('j', young.map(toImported), { segment: 1, offset: 1 });
  assert.deepEqual(readSlices(file), readSlices(otherFile));
});

test('upgrading a store of a version without unit sums computes them from its rows', async (t) => {
  const { store, file } = await openFile(t, createFakeClock(laterMs));
  const units = { seconds: 1.5, serviceTier: 'flex', toolCalls: { web_search: 2 } };
  const rows = [
    imported({ startedAtMs: startMs, units, cachedTokens: 4 }),
    imported({ startedAtMs: startMs + dayMs - 1, units, model: null }),
    imported({ startedAtMs: startMs + dayMs, cachedTokens: 1, project: 'p' }),
    imported({ startedAtMs: startMs + dayMs, cachedTokens: 0 }),
  ];
  await store.ledger.import('j', rows, { segment: 1, offset: 1 });
  const readAll = async ({ ledger }: Store) => [
    await ledger.unitUsage({}, ['day', 'model', 'project']),
    await ledger.unitUsage({}, ['hour']),
  ];
  const before = await readAll(store);
  assert.equal(before.flat().length, 6);
  await store.close();
  await goBack(file);
  tamper(file, `${dropUnitSums}; ALTER TABLE keys DROP COLUMN lane; DELETE FROM kysely_migration WHERE name >= '0021'`);
  const again = await openStore(`sqlite:${file}`, { cwd: '/nowhere' });
  t.after(() => again.close());
  assert.deepEqual(await readAll(again), before);
  assert.deepEqual(await again.ledger.verify(0, startMs + 2 * dayMs), []);
});

test('an import adds each new row once, although some rows exist and some row numbers are in use', async (t) => {
  const { store } = await openFile(t, createFakeClock(laterMs));
  const idOf = (number: number, tail: number): string =>
    firstIdOf(startMs + number) + tail.toString(16).padStart(20, '0');
  const rowOf = (number: number, tail = 0): ImportedRow =>
    imported({ id: idOf(number, tail), startedAtMs: startMs + number });
  const before = [rowOf(5), rowOf(21, 1)];
  assert.equal(await store.ledger.import('j', before, { segment: 1, offset: 1 }), 2);
  // Number 5 exists already, 21 has the number of another row, and both of 30 have each other's.
  const batch = [...Array.from({ length: 40 }, (_, number) => rowOf(number)), rowOf(30, 1)];
  assert.equal(await store.ledger.import('j', batch, { segment: 1, offset: 2 }), 40);
  assert.equal(await store.ledger.import('j', batch, { segment: 1, offset: 3 }), 0);
  assert.equal((await store.ledger.usage({}, []))[0]?.sums.requests, 42);
  assert.deepEqual(await store.ledger.verify(0, startMs + dayMs), []);
});

test('upgrading a store of a version without sums per key computes them from the daily sums', async (t) => {
  const { store, file } = await openFile(t, createFakeClock(laterMs));
  const rows = [
    imported({ startedAtMs: startMs, key: 'a', model: 'one' }),
    imported({ startedAtMs: startMs, key: 'a', model: 'two', outcome: 'error' }),
    imported({ startedAtMs: startMs + dayMs, key: 'a', project: 'p' }),
  ];
  await store.ledger.import('j', rows, { segment: 1, offset: 1 });
  const before = await store.ledger.usage({}, ['key', 'day']);
  await store.close();
  await goBack(file);
  tamper(
    file,
    `${undoSlices}; DROP TABLE usage_key_days; DROP TABLE budget_nodes; ALTER TABLE sessions DROP COLUMN proved_at;
     ALTER TABLE invitations DROP COLUMN kept; ALTER TABLE keys DROP COLUMN shape;
     ALTER TABLE keys DROP COLUMN lane; DELETE FROM kysely_migration WHERE name >= '0009'`,
  );
  const again = await openStore(`sqlite:${file}`, { cwd: '/nowhere' });
  t.after(() => again.close());
  assert.deepEqual(await again.ledger.usage({}, ['key', 'day']), before);
  assert.equal(before[0]?.sums.errors, 1);
  assert.deepEqual(await again.ledger.verify(0, startMs + 2 * dayMs), []);
});

function readDays(file: string): string[] {
  const database = new DatabaseSync(file, { readOnly: true });
  const days = database.prepare('SELECT key, requests FROM usage_days ORDER BY key').all();
  database.close();
  return days.map(({ key, requests }) => `${key} ${requests}`);
}

test('a downgrade adds all hours to the daily sums, and an upgrade keeps daily sums that changed meanwhile', async (t) => {
  const { store, file } = await openFile(t, createFakeClock());
  const importOne = async (to: Store, key: string, offset: number) =>
    to.ledger.import('j', [imported({ startedAtMs: startMs, key })], { segment: 1, offset });
  await importOne(store, 'a', 1);
  assert.deepEqual(readDays(file), []);
  await store.close();

  await goBack(file);
  assert.deepEqual(readDays(file), ['a 1']);
  const tables = ['usage_hours', 'usage_days', 'usage_key_days'];
  tamper(file, tables.map((table) => `UPDATE ${table} SET requests = 2`).join(';'));

  const again = await openStore(`sqlite:${file}`, { cwd: '/nowhere', clock: createFakeClock() });
  t.after(() => again.close());
  await importOne(again, 'b', 2);
  assert.deepEqual(readDays(file), ['a 2', 'b 1']);
  assert.deepEqual(
    (await again.ledger.usage({}, ['key', 'day'])).map(({ by, sums }) => `${by.key} ${sums.requests}`),
    ['a 2', 'b 1'],
  );
});

test('a process that still runs after a downgrade adds imported rows to the daily sums at once', async (t) => {
  const { store, file } = await openFile(t, createFakeClock());
  await store.ledger.import('j', [imported({ startedAtMs: startMs, key: 'a' })], { segment: 1, offset: 1 });
  await goBack(file);
  await store.ledger.import('j', [imported({ startedAtMs: startMs, key: 'b' })], { segment: 1, offset: 2 });
  assert.deepEqual(readDays(file), ['a 1', 'b 1']);
  assert.deepEqual(await store.ledger.verify(0, startMs + dayMs), []);
});

/** IDs as a gateway makes them. */
const withId = (row: LedgerRow, index: number): ImportedRow => {
  const chance = ((index * 0x9e37_79b1) >>> 0).toString(16).padStart(8, '0');
  return toImported({ ...row, id: row.startedAtMs.toString(16).padStart(12, '0') + chance.padEnd(20, '0') });
};

function count(file: string, table: string): number {
  const database = new DatabaseSync(file, { readOnly: true });
  const found = database.prepare(`SELECT count(*) AS rows FROM ${table}`).get();
  database.close();
  return Number(found?.rows);
}

test("rows of an older version move to this version's table in slices, and back for a downgrade", async (t) => {
  const { store, file } = await openFile(t, createFakeClock());
  const rows = [...spreadRows({ ...spread, rows: 1_200, toMs: startMs + 10_000 })].map(withId);
  await store.ledger.import('j', rows, { segment: 1, offset: 1 });
  // One does not fit, as its ID begins with another time.
  const odd = toImported({ ...(rows[0] as ImportedRow).row, id: firstIdOf(startMs + 5_000).padEnd(32, '7') });
  await store.ledger.import('j', [odd], { segment: 1, offset: 2 });
  await store.close();
  await goBack(file);
  assert.equal(count(file, 'ledger'), 1_201);

  const again = await openStore(`sqlite:${file}`, { cwd: '/nowhere', clock: createFakeClock() });
  const all = [...rows, odd].map(({ row }) => row).sort((a, b) => (a.id < b.id ? 1 : -1));
  const left: number[] = [];
  for (let hasMore = true; hasMore; ) {
    hasMore = await again.ledger.moveFormer();
    left.push(count(file, 'ledger'));
    assert.deepEqual((await again.ledger.page({}, { limit: 1_000 })).rows, all.slice(0, 1_000));
    assert.deepEqual(await again.ledger.get(all[600]?.id ?? ''), all[600]);
    assert.deepEqual(await again.ledger.verify(0, startMs + dayMs), []);
  }
  assert.deepEqual(left, [701, 202, 1]);
  assert.deepEqual(await again.ledger.get(odd.row.id), odd.row);
  await again.close();

  await goBack(file);
  assert.equal(count(file, 'ledger'), 1_201);
  const later = await openStore(`sqlite:${file}`, { cwd: '/nowhere', clock: createFakeClock() });
  t.after(() => later.close());
  while (await later.ledger.moveFormer());
  assert.equal(count(file, 'ledger'), 1);
});

test('a process that still runs after a downgrade moves no rows to its own table', async (t) => {
  const { store, file } = await openFile(t, createFakeClock());
  await store.ledger.import('j', [imported({ startedAtMs: startMs })], { segment: 1, offset: 1 });
  await goBack(file);
  assert.equal(await store.ledger.moveFormer(), false);
  assert.equal(count(file, 'ledger'), 1);
});

test('a process that runs through a downgrade and an upgrade moves all rows to its table again', async (t) => {
  const { store, file } = await openFile(t, createFakeClock());
  const rows = [...spreadRows({ ...spread, rows: 700, toMs: startMs + 10_000 })].map(withId);
  await store.ledger.import('j', rows, { segment: 1, offset: 1 });
  for (const turn of ['first', 'second']) {
    await goBack(file);
    await migrateStore(`sqlite:${file}`, { cwd: '/nowhere' });
    while (await store.ledger.moveFormer());
    assert.equal(count(file, 'ledger'), 0, turn);
  }
});

test('a page has all rows, even if they move to the new table while it is read', async (t) => {
  const { store, file } = await openFile(t, createFakeClock());
  const rows = [...spreadRows({ ...spread, rows: 600, toMs: startMs + 10_000 })].map(withId);
  await store.ledger.import('j', rows.slice(0, 300), { segment: 1, offset: 1 });
  await goBack(file);
  await migrateStore(`sqlite:${file}`, { cwd: '/nowhere' });
  await store.ledger.import('j', rows.slice(300), { segment: 1, offset: 2 });
  let statements = 0;
  const db = new Kysely<Schema>({
    dialect: createSqliteDialect(openDatabase(file, {}), (thrown) => thrown),
  }).withPlugin({
    transformQuery: ({ node }) => node,
    async transformResult({ result }) {
      // The mark, the extent of this version's table, its rows, and then the rows of the other one.
      statements += 1;
      if (statements === 3) while (await store.ledger.moveFormer());
      return result;
    },
  });
  t.after(() => db.destroy());
  const page = await readPage(db, {}, { limit: 1_000 }, createFakeClock());
  const all = rows.map(({ row }) => row).sort((a, b) => (a.id < b.id ? 1 : -1));
  assert.deepEqual(page.rows, all);
  assert.equal(count(file, 'ledger'), 0);
});

test('after a prune of shared values, a new key and a returning key get their own rows', async (t) => {
  const { store } = await openFile(t, createFakeClock(startMs));
  let offset = 0;
  const put = (startedAtMs: number, key: string) =>
    store.ledger.import('j', [imported({ startedAtMs, key })], { segment: 1, offset: ++offset });
  await put(startMs, 'steady');
  await put(startMs, 'rare');
  for (let day = 1; day <= 10; day++) await put(startMs + day * dayMs, 'steady');
  while ((await store.ledger.prune(startMs + 5 * dayMs)) > 0);
  await put(startMs + 10 * dayMs + 1, 'fresh');
  await put(startMs + 10 * dayMs + 2, 'rare');
  const { rows } = await store.ledger.page({}, { limit: 2 });
  assert.deepEqual(
    rows.map(({ key }) => key),
    ['rare', 'fresh'],
  );
  assert.deepEqual(await store.ledger.verify(0, startMs + 20 * dayMs), []);
});

test('rows in the tables of an older version and of this one are read, verified and pruned together', async (t) => {
  const { store, file } = await openFile(t, createFakeClock());
  const rows = [...spreadRows({ ...spread, rows: 600, toMs: startMs + 10_000 })].map(withId);
  const formers = rows.filter((_, index) => index % 3 === 0);
  await store.ledger.import('j', formers, { segment: 1, offset: 1 });
  assert.equal(count(file, 'ledger_rows'), formers.length);
  await store.close();
  await goBack(file);
  assert.equal(count(file, 'ledger'), formers.length);

  const again = await openStore(`sqlite:${file}`, { cwd: '/nowhere', clock: createFakeClock() });
  t.after(() => again.close());
  const { ledger } = again;
  // One has a twin with the same values in the table of numbers.
  const twin = toImported({ ...(rows[1] as ImportedRow).row, id: `${(rows[1] as ImportedRow).row.id.slice(0, 31)}f` });
  const fresh = rows.length - formers.length + 1;
  assert.equal(await ledger.import('j', [...rows, twin], { segment: 1, offset: 2 }), fresh);
  assert.equal(await ledger.import('j', [...rows, twin], { segment: 1, offset: 2 }), 0);
  assert.equal(count(file, 'ledger'), formers.length + 1);

  const all = [...rows, twin].map(({ row }) => row).sort((a, b) => (a.id < b.id ? 1 : -1));
  const readAll = async (filter: Parameters<typeof ledger.page>[0]) => {
    const read: LedgerRow[] = [];
    for (let before: string | undefined, isFirst = true; isFirst || before !== undefined; isFirst = false) {
      const page = await ledger.page(filter, { before, limit: 7 });
      read.push(...page.rows);
      before = page.next;
    }
    return read;
  };
  const { key, model } = (rows[5] as ImportedRow).row;
  assert.deepEqual(await readAll({}), all);
  assert.deepEqual(
    await readAll({ key, model: model ?? '' }),
    all.filter((row) => row.key === key && row.model === model),
  );
  assert.deepEqual(
    await readAll({ status: 502, fromMs: startMs + 1_000, toMs: startMs + 9_000 }),
    all.filter((row) => row.status === 502 && row.startedAtMs >= startMs + 1_000 && row.startedAtMs < startMs + 9_000),
  );
  assert.deepEqual(await ledger.get(twin.row.id), twin.row);
  assert.deepEqual(await ledger.verify(0, startMs + dayMs), []);

  const beforeMs = startMs + 6_500;
  assert.equal(await ledger.countBefore(beforeMs), all.filter(({ startedAtMs }) => startedAtMs < beforeMs).length);
  while ((await ledger.prune(beforeMs)) > 0);
  const left = all.filter(({ startedAtMs }) => startedAtMs >= beforeMs);
  assert.deepEqual(await readAll({}), left);
  const { store: other, file: otherFile } = await openFile(t, createFakeClock());
  await other.ledger.import('j', left.map(toImported), { segment: 1, offset: 1 });
  assert.deepEqual(readSlices(file), readSlices(otherFile));
});

test('an import that failed on a full disk succeeds completely when it is repeated', async (t) => {
  const { store, file } = await openFile(t, createFakeClock());
  tamper(file, "CREATE TRIGGER full BEFORE INSERT ON journals BEGIN SELECT RAISE(ABORT, 'the disk is full'); END");
  const row = imported({ startedAtMs: startMs });
  await assert.rejects(store.ledger.import('j', [row], { segment: 1, offset: 1 }));
  assert.equal(count(file, 'ledger_places'), 0);
  tamper(file, 'DROP TRIGGER full');
  assert.equal(await store.ledger.import('j', [row], { segment: 1, offset: 1 }), 1);
  assert.deepEqual((await store.ledger.page({}, { limit: 10 })).rows, [row.row]);
});

test('a prune deletes the shared values of pruned rows except the newest, and a new row gets its own again', async (t) => {
  const { store, file } = await openFile(t, createFakeClock());
  const { ledger } = store;
  await ledger.import('j', [imported({ startedAtMs: startMs, key: 'early' })], { segment: 1, offset: 1 });
  await ledger.import('j', [imported({ startedAtMs: startMs + 2 * dayMs })], { segment: 1, offset: 2 });
  assert.equal(count(file, 'ledger_places'), 2);
  while ((await ledger.prune(startMs + 9 * dayMs)) > 0);
  assert.equal(count(file, 'ledger_places'), 1);
  const row = imported({ startedAtMs: startMs + 10 * dayMs });
  await ledger.import('j', [row], { segment: 1, offset: 3 });
  assert.deepEqual(await ledger.get(row.row.id), row.row);
});

test('a row whose shared values another process stored and a prune deleted is stored again unchanged', async (t) => {
  const { store: first, file } = await openFile(t, createFakeClock());
  const early = imported({
    startedAtMs: startMs,
    key: 'early',
    project: 'p',
    error: 'e',
    outcome: 'error',
    status: 502,
  });
  await first.ledger.import('j', [early], { segment: 1, offset: 1 });
  const other = await openStore(`sqlite:${file}`, { cwd: '/nowhere', clock: createFakeClock() });
  t.after(() => other.close());
  const { ledger } = other;
  await ledger.import('j', [imported({ startedAtMs: startMs + 2 * dayMs })], { segment: 1, offset: 2 });
  while ((await ledger.prune(startMs + 9 * dayMs)) > 0);
  assert.equal(count(file, 'ledger_places'), 1);
  const { id: _, ...shared } = early.row;
  const late = imported({ ...shared, startedAtMs: startMs + 10 * dayMs });
  await ledger.import('j', [late], { segment: 1, offset: 3 });
  assert.deepEqual(await ledger.get(late.row.id), late.row);
});

test('a prune keeps the newest row readable, although another process imported an older row after it', async (t) => {
  const { store, file } = await openFile(t, createFakeClock());
  const other = await openStore(`sqlite:${file}`, { cwd: '/nowhere', clock: createFakeClock() });
  t.after(() => other.close());
  const importAt = async (to: Store, day: number) => {
    const row = imported({ startedAtMs: startMs + day * dayMs });
    await to.ledger.import('j', [row], { segment: 1, offset: day });
    return row.row;
  };
  await importAt(store, 0);
  await importAt(other, 0);
  const newest = await importAt(store, 9);
  await importAt(other, 3);
  while ((await store.ledger.prune(startMs + 8 * dayMs)) > 0);
  assert.deepEqual((await store.ledger.page({}, { limit: 10 })).rows, [newest]);
});
