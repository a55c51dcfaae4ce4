/** The store on a real PostgreSQL: the same conduct as on SQLite, and what only a server can do wrong. */

import assert from 'node:assert/strict';
import { rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { Client } from 'pg';
import type { Change, Store } from '../../src/core/store/store.ts';
import { type Clock, systemClock } from '../../src/lib/clock.ts';
import { migrations } from '../../src/store/migrations.ts';
import { migrateStore, openStore, readMissingMigrations } from '../../src/store/open-store.ts';
import { newKey } from '../support/gateways/keys.ts';
import { imported } from '../support/ledger/ledger-rows.ts';
import { startPostgres, usePostgres, whyNoOwnPostgres, whyNoPostgres } from '../support/servers/postgres.ts';
import { describeBudgetAccountStore } from '../support/stores/budget-conformance.ts';
import { describeLedgerStore } from '../support/stores/ledger-conformance.ts';
import { checkFormerRows, describeSeriesStore } from '../support/stores/series-conformance.ts';
import { describeStore } from '../support/stores/store-conformance.ts';
import { until } from '../support/time/until.ts';
import { localhostCertificate, localhostKey } from '../support/upstreams/localhost-certificate.ts';

const cwd = '/nowhere';
const names = Object.keys(migrations).toSorted();

async function open(t: TestContext, url: string, clock: Clock = systemClock): Promise<Store> {
  const store = await openStore(url, { cwd, clock });
  t.after(() => store.close());
  return store;
}

async function run(url: string, statement: string): Promise<unknown[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(statement)).rows;
  } finally {
    await client.end();
  }
}

/** What it rejects with, which must be a sentence without the password. */
async function faultOf(work: Promise<unknown>): Promise<string> {
  try {
    await work;
  } catch (error) {
    assert.ok(error instanceof Error);
    assert.equal(error.name, 'StoreError', error.stack ?? '');
    assert.doesNotMatch(error.message, /its-Own|pass\/word|wrong-one|postgres:\/\//);
    return error.message;
  }
  throw new Error('It went well.');
}

describe('a store in PostgreSQL', { skip: whyNoPostgres }, () => {
  const server = usePostgres();

  const openNew = async (t: TestContext, clock: Clock) => open(t, await server().createDatabase(), clock);

  describeStore('passes the tests of every store', openNew);
  describeLedgerStore('passes the ledger tests of every store', openNew);
  describeSeriesStore('passes the time series tests of every store', openNew);

  test('rows of an older version are converted to series once, with two nodes running', async (t) => {
    const url = await server().createDatabase();
    const store = await openStore(url, { cwd });
    await checkFormerRows(store, async () => {
      await store.close();
      await migrateStore(url, { cwd }, '0.1.0');
      return [await open(t, url), await open(t, url)];
    });
  });

  let latest = '';
  describeBudgetAccountStore(
    'passes the budget account tests of every store',
    async (t, clock) => {
      latest = await server().createDatabase();
      return open(t, latest, clock);
    },
    async (t, clock) => {
      const url = await server().createDatabase();
      return [await open(t, url, clock), await open(t, url, clock)];
    },
    (ms) => run(latest, `update budget_nodes set heard_at = heard_at - ${ms}`),
  );

  test('a node whose clock is two hours fast or slow draws no budget money that belongs to other nodes', async (t) => {
    const url = await server().createDatabase();
    const skewed = (hours: number): Clock => ({ ...systemClock, nowMs: () => Date.now() + hours * 3_600_000 });
    const stores = await Promise.all([-2, 0, 2].map((hours) => open(t, url, skewed(hours))));
    for (const isKnown of [false, true, true]) {
      for (const [index, { budgets }] of stores.entries()) assert.equal(await budgets.renew(`node ${index}`), isKnown);
    }
  });

  test('an account that is made while an import runs has the costs of the import', async (t) => {
    const url = await server().createDatabase();
    const [importing, drawing] = [await open(t, url), await open(t, url)];
    const startsAtMs = Date.UTC(2027, 0, 1);
    const endsAtMs = startsAtMs + 86_400_000;
    const account = { id: 'a', holderKind: 'key', holderId: 'dev', startsAtMs, endsAtMs, nanos: 100 } as const;
    const spend = (costNanos: number) =>
      importing.ledger.import('j', [imported({ startedAtMs: startsAtMs, costNanos }, ['a'])], {
        segment: 1,
        offset: costNanos,
      });
    await spend(30);
    // The import's last write waits for this row.
    const other = new Client({ connectionString: url });
    await other.connect();
    t.after(() => other.end());
    await other.query('begin');
    await other.query('select * from journals for update');
    const second = spend(5);
    const waiting = "select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
    await until(async () => (await run(url, waiting)).length === 1);
    let isDrawn = false;
    const draw = drawing.budgets.draw(account, 'node', 1, 1).finally(() => {
      isDrawn = true;
    });
    await until(async () => isDrawn || (await run(url, waiting)).length === 2);
    await other.query('commit');
    await Promise.all([second, draw]);
    assert.equal((await drawing.budgets.state('a'))?.spentNanos, 35);
  });

  test('gateways started together on a new database all become ready, and each migration runs once', async (t) => {
    const url = await server().createDatabase();
    assert.deepEqual(await readMissingMigrations(url, { cwd }), names);
    const ran = await Promise.all(Array.from({ length: 4 }, () => migrateStore(url, { cwd })));
    assert.deepEqual(ran.flat(), names);
    const stores = await Promise.all([open(t, url), open(t, url)]);
    const made = await Promise.all(stores.map(({ keys }) => keys.createFirst(newKey())));
    assert.equal(made.filter((key) => key !== undefined).length, 1);
    assert.deepEqual([await migrateStore(url, { cwd }), await readMissingMigrations(url, { cwd })], [[], []]);
  });

  test('a database of a newer version is refused and unchanged', async () => {
    const url = await server().createDatabase();
    await migrateStore(url, { cwd });
    await run(url, "insert into kysely_migration values ('0099-later', '2030-01-01T00:00:00.000Z')");
    const before = await run(url, 'select * from kysely_migration order by name');
    assert.match(await faultOf(openStore(url, { cwd })), /made by a newer version of Postern \(it has "0099-later"\)/);
    assert.deepEqual(await run(url, 'select * from kysely_migration order by name'), before);
  });

  test('a failed set-up of the database leaves nothing behind', async () => {
    const url = await server().createDatabase();
    await run(url, 'create table usage_hours (door text)');
    assert.match(
      await faultOf(openStore(url, { cwd })),
      /could not be set up \(relation "usage_hours" already exists\)/,
    );
    const tables = await run(url, "select tablename from pg_tables where schemaname = 'public'");
    assert.deepEqual(tables, [{ tablename: 'usage_hours' }]);
  });

  test('a change in one store is notified to the others, and a rolled-back one is not', async (t) => {
    const url = await server().createDatabase();
    const [one, two] = [await open(t, url), await open(t, url)];
    let heard = 0;
    const listener = two.changes.listen(() => {
      heard += 1;
    });
    // It reports when it listens.
    await until(() => heard === 1);
    await one.resources.put('model', 'm', { id: 'm' }, { actor: 'a' });
    await until(() => heard === 2);
    assert.equal(await one.resources.put('model', 'm', {}, { actor: 'a', expected: 7 }), 'conflict');
    await one.keys.create(newKey());
    await until(() => heard === 3);
    await listener.close();
    await one.keys.create(newKey());
    await wait(200);
    assert.equal(heard, 3);
  });

  test('change numbers become visible in order with any number of writers', async (t) => {
    const url = await server().createDatabase();
    const stores = await Promise.all([open(t, url), open(t, url), open(t, url)]);
    const [reader] = stores;
    const writes = Promise.all(
      stores.flatMap(({ settings }, node) =>
        Array.from({ length: 20 }, (_, turn) => settings.set(`s${node}-${turn}`, turn, 'a')),
      ),
    );
    let seen: Change | undefined;
    let isDone = false;
    void writes.finally(() => {
      isDone = true;
    });
    while (!isDone || seen?.sequence !== 60) {
      for (const change of (await reader?.changes.since(seen)) ?? []) {
        assert.equal(change.sequence, (seen?.sequence ?? 0) + 1);
        seen = change;
      }
    }
    await writes;
  });

  test('a server or network fault is reported in one sentence', async (t) => {
    const good = new URL(await server().createDatabase());
    const change = (edit: (url: URL) => void): string => {
      const url = new URL(good);
      edit(url);
      return url.href;
    };
    const wrongPassword = change((url) => {
      url.password = 'wrong-one';
    });
    assert.match(await faultOf(openStore(wrongPassword, { cwd })), /refuses the user or the password/);
    const noPassword = change((url) => {
      url.password = '';
    });
    assert.match(await faultOf(openStore(noPassword, { cwd })), /password/);
    const noDatabase = change((url) => {
      url.pathname = '/nothing_here';
    });
    assert.match(await faultOf(openStore(noDatabase, { cwd })), /\(database "nothing_here"\) is not there; make it/);
    const noServer = change((url) => {
      url.port = '1';
    });
    assert.match(await faultOf(openStore(noServer, { cwd })), /at 127\.0\.0\.1:1 .*cannot be reached/);
    const overTls = change((url) => {
      url.search = '?sslmode=require';
    });
    assert.match(await faultOf(openStore(overTls, { cwd })), /offers no TLS; .*sslmode=disable/);
    const ascii = `postern_ascii_${process.pid}`;
    await run(good.href, `create database ${ascii} encoding 'SQL_ASCII' template template0 locale 'C'`);
    t.after(() => run(good.href, `drop database ${ascii} with (force)`));
    const inAscii = change((url) => {
      url.pathname = `/${ascii}`;
    });
    assert.match(await faultOf(openStore(inAscii, { cwd })), /encoding SQL_ASCII/);
  });

  test('a user without privileges gets a list of the needed ones', async (t) => {
    const url = await server().createDatabase();
    const role = `postern_guest_${process.pid}`;
    await run(url, `create role ${role} login password 'wrong-one'`);
    t.after(async () => {
      await run(url, `drop owned by ${role}`);
      await run(url, `drop role ${role}`);
    });
    const guest = new URL(url);
    guest.username = role;
    guest.password = 'wrong-one';
    assert.match(await faultOf(openStore(guest.href, { cwd })), /rights it needs; .*grant CREATE and USAGE/);
    await migrateStore(url, { cwd });
    await run(url, `grant select, insert, update, delete on all tables in schema public to ${role}`);
    // Where there is nothing to set up, no right to do so is needed.
    const { keys } = await open(t, guest.href);
    assert.equal((await keys.create(newKey())).name, 'test');
  });

  test('a read-only database is reported, and keys are still found', async (t) => {
    const url = await server().createDatabase();
    const key = newKey();
    const first = await open(t, url);
    await first.keys.create(key);
    const installation = await first.settings.installation();
    await run(url, `alter database ${new URL(url).pathname.slice(1)} set default_transaction_read_only = on`);
    const { keys, settings } = await open(t, url);
    assert.equal((await keys.find(key.digest))?.managedBy, 'store');
    assert.equal(await settings.installation(), installation, 'it is only read');
    assert.match(await faultOf(keys.create(newKey())), /takes no writes .*point "store" at the primary/);
  });
});

describe('a PostgreSQL that fails', { skip: whyNoOwnPostgres }, () => {
  test('while the server is down, requests fail with "cannot be reached"; afterwards they and notifications work again', async (t) => {
    const server = await startPostgres(t, { isOwn: true });
    const { keys, changes } = await open(t, await server.createDatabase());
    const key = newKey();
    await keys.create(key);
    let heard = 0;
    const listener = changes.listen(() => {
      heard += 1;
    });
    t.after(() => listener.close());
    await until(() => heard === 1);
    await server.kill();
    assert.match(await faultOf(keys.find(key.digest)), /cannot be reached/);
    assert.match(await faultOf(keys.create(newKey())), /cannot be reached/);
    await server.start();
    await until(async () => (await keys.find(key.digest).catch(() => undefined)) !== undefined);
    // The connection listens again, and reads what it missed.
    await until(() => heard === 2);
    await keys.create(newKey());
    await until(() => heard === 3);
  });

  test('requests to a hanging server fail by timeout, and its hung connections are not reused', async (t) => {
    const server = await startPostgres(t, { isOwn: true });
    const { keys } = await open(t, await server.createDatabase());
    const key = newKey();
    await keys.create(key);
    await keys.find(key.digest);
    server.pause();
    const faults = await Promise.all(Array.from({ length: 10 }, () => faultOf(keys.find(key.digest))));
    for (const fault of faults) assert.match(fault, /cannot be reached/);
    server.resume();
    await until(async () => (await keys.find(key.digest).catch(() => undefined)) !== undefined);
    for (let turn = 0; turn < 20; turn += 1) assert.equal((await keys.find(key.digest))?.managedBy, 'store');
  });

  test('a store on a hanging server can be closed', async (t) => {
    const server = await startPostgres(t, { isOwn: true });
    const store = await openStore(await server.createDatabase(), { cwd });
    const key = newKey();
    await store.keys.create(key);
    store.changes.listen(() => undefined);
    server.pause();
    t.after(() => server.resume());
    const looking = faultOf(store.keys.find(key.digest));
    await store.close();
    assert.notEqual(await looking, '');
    await assert.rejects(store.keys.find(key.digest));
  });

  test('a server without a free connection is an error that says so', async (t) => {
    const settings = { max_connections: '5', superuser_reserved_connections: '0' };
    const server = await startPostgres(t, { isOwn: true, settings });
    const url = await server.createDatabase();
    await migrateStore(url, { cwd });
    const held = Array.from({ length: 5 }, () => new Client({ connectionString: url }));
    for (const client of held) {
      client.on('error', () => undefined);
      await client.connect();
    }
    assert.match(await faultOf(openStore(url, { cwd })), /no connection left; raise its max_connections/);
    // It is awaited if the test needs it.
    const notified: string[] = [];
    const opening = openStore(url, { cwd, patienceMs: 20_000, onRetry: (sentence) => notified.push(sentence) });
    await until(() => notified.length > 0);
    for (const client of held) await client.end();
    await (await opening).close();
    assert.match(notified[0] ?? '', /no connection left; .* Trying again for \d+ s\.$/);
  });

  test('a server that starts late is waited for, one that refuses is not', async (t) => {
    const server = await startPostgres(t, { isOwn: true });
    const url = await server.createDatabase();
    await server.stop();
    const notified: string[] = [];
    const patient = { cwd, patienceMs: 30_000, onRetry: (sentence: string) => notified.push(sentence) };
    const opening = openStore(url, patient);
    await until(() => notified.length > 0);
    await server.start();
    await (await opening).close();
    const wrong = url.replace(/:[^:@]*@/, ':wrong-one@');
    notified.length = 0;
    assert.match(await faultOf(openStore(wrong, patient)), /refuses the user or the password/);
    assert.deepEqual(notified, []);
  });

  test('over TLS, sslmode determines how the certificate is verified', async (t) => {
    const server = await startPostgres(t, {
      isOwn: true,
      settings: { ssl: 'on', ssl_cert_file: 'server.crt', ssl_key_file: 'server.key' },
      files: { 'server.crt': localhostCertificate, 'server.key': localhostKey },
    });
    const url = await server.createDatabase();
    const isOverTls = async (): Promise<unknown> =>
      (
        await run(
          url,
          "select bool_and(ssl) as ssl from pg_stat_ssl join pg_stat_activity using (pid) where application_name = 'postern'",
        )
      )[0];
    const required = await openStore(`${url}?sslmode=require`, { cwd });
    await required.keys.list();
    assert.deepEqual(await isOverTls(), { ssl: true });
    await required.close();
    assert.match(await faultOf(openStore(`${url}?sslmode=verify-full`, { cwd })), /certificate that is not trusted/);
    const file = join(tmpdir(), `postern-ca-${process.pid}.pem`);
    await writeFile(file, localhostCertificate);
    t.after(() => rm(file));
    await open(t, `${url}?sslmode=verify-full&sslrootcert=${file}`);
    assert.match(await faultOf(openStore(`${url}?sslmode=verify-ca`, { cwd })), /verify-ca needs sslrootcert/);
    assert.match(await faultOf(openStore(`${url}?sslmode=allow`, { cwd })), /sslmode is one of/);
    assert.match(await faultOf(openStore(`${url}?sslmode=verify-full&sslrootcert=/no/file`, { cwd })), /is not there/);
  });
});
