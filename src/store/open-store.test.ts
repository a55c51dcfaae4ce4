import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, cp, mkdir, mkdtemp, readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import { newKey } from '../../test/support/gateways/keys.ts';
import { describeStore, targetState } from '../../test/support/stores/store-conformance.ts';
import { createFakeClock } from '../../test/support/time/fake-clock.ts';
import { UserFault } from '../core/user-fault.ts';
import { createSecret, digestOf, hintOf } from '../lib/secrets/key-secret.ts';
import { openStore } from './open-store.ts';

const url = 'sqlite:data/postern.db';

async function makeDirectory(t: TestContext): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'postern-store-'));
  t.after(() => rm(directory, { recursive: true, force: true }));
  return directory;
}

async function open(t: TestContext, cwd: string, clock = createFakeClock()) {
  const store = await openStore(url, { cwd, clock });
  t.after(() => store.close());
  return store;
}

/** The file of `url`, written by hand. */
async function writeDatabase(cwd: string, content: string | Uint8Array): Promise<string> {
  const file = join(cwd, 'data', 'postern.db');
  await mkdir(join(cwd, 'data'), { recursive: true });
  await writeFile(file, content);
  return file;
}

describeStore('a store in a SQLite file', async (t, clock) => {
  const store = await openStore(url, { cwd: await makeDirectory(t), clock });
  t.after(() => store.close());
  return store;
});

describeStore('a store in memory', async (t, clock) => {
  const store = await openStore('sqlite::memory:', { cwd: '/nowhere', clock });
  t.after(() => store.close());
  return store;
});

test('configuration elements are read anew if a failover lost a change and a later one has its number', async (t) => {
  const cwd = await makeDirectory(t);
  const clock = createFakeClock();
  const { resources } = await open(t, cwd, clock);
  const by = { actor: 'test' };
  await resources.put('project', 'kept', { id: 'kept' }, by);
  await resources.put('project', 'lost', { id: 'lost' }, by);
  const names = async () => (await resources.list()).map(({ id }) => id);
  assert.deepEqual(await names(), ['kept', 'lost']);
  // As a failover to a replica that lacks the last transaction.
  const database = new DatabaseSync(join(cwd, 'data', 'postern.db'));
  database.exec(`begin immediate; delete from resources where id = 'lost'; delete from changes where sequence = 2;
    update change_counter set latest = 1; commit`);
  database.close();
  clock.advance(1_000);
  await resources.put('project', 'new', { id: 'new' }, by);
  assert.deepEqual(await names(), ['kept', 'new']);
});

test('another process reads a long health report completely and in its order', async (t) => {
  const cwd = await makeDirectory(t);
  const clock = createFakeClock();
  const [{ health }, other] = [await open(t, cwd, clock), await open(t, cwd, clock)];
  const targets = Array.from({ length: 50 }, (_, at) =>
    targetState({ model: `m-${at}`, state: 'resting', why: "it's \u2028,\n[down]", restsForMs: at }),
  );
  await health.report('one', targets, undefined, ['0a1b2c3d']);
  await health.latest(10_000);
  const canary = {
    model: 'm',
    upstream: 'u',
    upstreamModel: 'm',
    checkedAtS: 0,
    agreement: Number.NaN,
    hasChanged: false,
    failure: null,
  };
  await health.report('one', targets.toReversed(), { shadows: [], canaries: [canary] });
  const [[own], [read]] = [await health.latest(10_000), await other.health.latest(10_000)];
  assert.deepEqual(read, { ...own, targets: JSON.parse(JSON.stringify(own?.targets)) });
  assert.deepEqual(read?.targets.map(({ model }) => model).slice(0, 2), ['m-49', 'm-48']);
  assert.deepEqual(await other.health.nodes(10_000), [{ node: 'one', secretKeys: undefined }]);
});

test("the store's directory and files are accessible to their owner only", async (t) => {
  const cwd = await makeDirectory(t);
  const { keys } = await open(t, cwd);
  await keys.create(newKey());
  assert.equal((await stat(join(cwd, 'data'))).mode & 0o777, 0o700);
  const files = await readdir(join(cwd, 'data'));
  assert.ok(files.includes('postern.db-wal'));
  for (const file of files) assert.equal((await stat(join(cwd, 'data', file))).mode & 0o777, 0o600, file);
});

test('written data is there after the store is reopened', async (t) => {
  const cwd = await makeDirectory(t);
  const key = newKey();
  const first = await open(t, cwd);
  const made = await first.keys.create(key);
  await first.close();
  const second = await open(t, cwd);
  assert.deepEqual(await second.keys.list(), [made]);
});

test('writes are durable: write-ahead log with full sync', async (t) => {
  const cwd = await makeDirectory(t);
  const seen = new Map<DatabaseSync, Record<string, unknown>>();
  const exec = DatabaseSync.prototype.exec;
  t.mock.method(DatabaseSync.prototype, 'exec', function (this: DatabaseSync, sql: string) {
    exec.call(this, sql);
    const names = ['journal_mode', 'synchronous', 'foreign_keys', 'busy_timeout', 'temp_store'];
    const values = names.map((name) => [name, Object.values(this.prepare(`PRAGMA ${name}`).get() ?? {})[0]]);
    seen.set(this, Object.fromEntries(values));
  });
  await open(t, cwd);
  const [main] = [...seen.values()];
  // Temporary data stay in memory: no directory on the disk may be writable.
  assert.deepEqual(main, { journal_mode: 'wal', synchronous: 2, foreign_keys: 1, busy_timeout: 5000, temp_store: 2 });
});

test('a revocation in one store is seen by another on the same file', async (t) => {
  const cwd = await makeDirectory(t);
  const key = newKey();
  const one = await open(t, cwd);
  const two = await open(t, cwd);
  const { id } = await one.keys.create(key);
  assert.equal((await two.keys.find(key.digest))?.revokedAtMs, undefined);
  await two.keys.revoke(id);
  assert.notEqual((await one.keys.find(key.digest))?.revokedAtMs, undefined);
});

test('stores opened simultaneously on one new file all become ready', async (t) => {
  const cwd = await makeDirectory(t);
  const stores = await Promise.all(Array.from({ length: 5 }, () => open(t, cwd)));
  const key = newKey();
  await stores[0]?.keys.create(key);
  for (const { keys } of stores) assert.equal((await keys.list()).length, 1);
});

test('processes started simultaneously on one new file all become ready, and one creates a key', async (t) => {
  const cwd = await makeDirectory(t);
  const answers = (await Promise.all(Array.from({ length: 4 }, () => runFirstKey(cwd)))).map(({ stdout }) =>
    JSON.parse(stdout),
  );
  const created = answers.filter(({ kind }) => kind === 'created');
  assert.equal(created.length, 1);
  assert.equal(answers.filter(({ kind }) => kind === 'none').length, 3);
  const { keys } = await open(t, cwd);
  assert.equal((await keys.find(digestOf(created[0].secret)))?.id, (await keys.list())[0]?.id);
  assert.equal((await keys.list()).length, 1);
});

test('processes started simultaneously with the same key in the environment add it once', async (t) => {
  const cwd = await makeDirectory(t);
  const env = { POSTERN_KEY: 'a-key-from-the-environment' };
  const answers = (await Promise.all(Array.from({ length: 3 }, () => runFirstKey(cwd, env)))).map(({ stdout }) =>
    JSON.parse(stdout),
  );
  assert.equal(answers.filter(({ created }) => created === true).length, 1);
  const { keys } = await open(t, cwd);
  assert.equal((await keys.list()).length, 1);
});

test('no file of the store contains a secret', async (t) => {
  const cwd = await makeDirectory(t);
  const { keys } = await open(t, cwd);
  const secrets = Array.from({ length: 20 }, createSecret);
  for (const secret of secrets) {
    const { id } = await keys.create(newKey({ digest: digestOf(secret), hint: hintOf(secret) }));
    await keys.find(digestOf(secret));
    await keys.find(secret);
    await keys.revoke(id);
  }
  let bytes = 0;
  for (const file of await readdir(join(cwd, 'data'))) {
    const content = await readFile(join(cwd, 'data', file), 'latin1');
    bytes += content.length;
    // The text after the hint is what a thief would need.
    for (const secret of secrets) assert.equal(content.includes(secret.slice(8, 24)), false, file);
  }
  assert.ok(bytes > 10_000);
});

test('a database of a newer version is refused and unchanged', async (t) => {
  const cwd = await makeDirectory(t);
  const first = await open(t, cwd);
  const made = await first.keys.create(newKey());
  await first.close();
  const file = join(cwd, 'data', 'postern.db');
  edit(file, "INSERT INTO kysely_migration VALUES ('0099-later', '2030-01-01T00:00:00.000Z')");
  await assert.rejects(openStore(url, { cwd }), {
    name: 'StoreError',
    message: `The store "${file}" was made by a newer version of Postern (it has "0099-later"); run that version, or point "store" elsewhere.`,
  });
  edit(file, "DELETE FROM kysely_migration WHERE name = '0099-later'");
  const second = await open(t, cwd);
  assert.deepEqual(await second.keys.list(), [made]);
});

test('if setting up the store fails, none of its tables remain in the database', async (t) => {
  const cwd = await makeDirectory(t);
  const file = await writeDatabase(cwd, '');
  edit(file, 'CREATE TABLE keys (door text)');
  await assert.rejects(openStore(url, { cwd }), {
    name: 'StoreError',
    message: /could not be set up \(table "keys" already exists\); point "store" at a database of its own\.$/,
  });
  const database = new DatabaseSync(file);
  t.after(() => database.close());
  assert.deepEqual(
    database
      .prepare("SELECT name FROM sqlite_schema WHERE name NOT LIKE 'sqlite_%'")
      .all()
      .map(({ name }) => name),
    ['keys'],
  );
});

test('a file that is no database is refused and unchanged', async (t) => {
  const cwd = await makeDirectory(t);
  const text = 'server:\n  port: 4000\n'.repeat(100);
  const file = await writeDatabase(cwd, text);
  await assert.rejects(openStore(url, { cwd }), {
    name: 'StoreError',
    message: /is no SQLite database; point "store"/,
  });
  assert.equal(await readFile(file, 'utf8'), text);
});

test('a damaged database is refused with advice', async (t) => {
  const cwd = await makeDirectory(t);
  await (await open(t, cwd)).close();
  const file = join(cwd, 'data', 'postern.db');
  const content = await readFile(file);
  content.fill(0x5a, 100); // the header stays, so that it still looks like a database
  await writeFile(file, content);
  await assert.rejects(openStore(url, { cwd }), {
    name: 'StoreError',
    message: /is damaged; stop Postern and restore/,
  });
});

test('damage found only after opening the store is reported with advice to restore it', async (t) => {
  const cwd = await makeDirectory(t);
  const file = join(cwd, 'data', 'postern.db');
  const store = await open(t, cwd);
  const database = new DatabaseSync(file);
  database.exec('CREATE TABLE padding (bytes BLOB); INSERT INTO padding VALUES (zeroblob(1000000))');
  database.close();
  assert.equal(await store.ledger.secure(), true);
  await store.keys.create(newKey(), 'somebody');

  // Cuts the end of the file, which only the checkpoint reads.
  const copy = join(cwd, 'copy', 'data');
  await cp(join(cwd, 'data'), copy, { recursive: true });
  await truncate(join(copy, 'postern.db'), (await stat(file)).size - 500_000);
  const damaged = await open(t, join(cwd, 'copy'));
  await assert.rejects(damaged.ledger.secure(), (error: Error) => {
    assert.match(error.message, /is damaged; stop Postern and restore/);
    return error instanceof UserFault;
  });
});

test('a read-only file is refused with advice', async (t) => {
  const cwd = await makeDirectory(t);
  await (await open(t, cwd)).close();
  await chmod(join(cwd, 'data', 'postern.db'), 0o444);
  await chmod(join(cwd, 'data'), 0o555);
  await chmod(cwd, 0o755);
  try {
    const attempt = runFirstKey(cwd, {}, 'powerless');
    await assert.rejects(attempt, /cannot be written; give the user Postern runs as write access/);
  } finally {
    await chmod(join(cwd, 'data'), 0o755);
  }
});

test('a path that cannot hold a file is refused with advice', async (t) => {
  const cwd = await makeDirectory(t);
  await writeFile(join(cwd, 'file'), '');
  await assert.rejects(openStore(`sqlite:${cwd}`, { cwd }), { name: 'StoreError', message: /is a directory; point/ });
  await assert.rejects(openStore('sqlite:file/x/postern.db', { cwd }), { name: 'StoreError', message: /no directory/ });
  await assert.rejects(openStore('sqlite:file/postern.db', { cwd }), { name: 'StoreError', message: /no directory/ });
});

test('a store on a file system that allows no files is refused', { skip: !existsSync('/proc/self') }, async () => {
  await assert.rejects(openStore('sqlite:/proc/x.db', { cwd: '/' }), { name: 'StoreError', message: /takes no files/ });
});

test('an invalid store URL is refused, and its password is not shown', async () => {
  for (const bad of [
    'mysql://user:hunter22@host/db',
    'data/postern.db',
    '',
    'sqlite:',
    'sqlite://data/x.db',
    'mysql:x',
  ]) {
    await assert.rejects(openStore(bad, { cwd: '/nowhere' }), (error: Error) => {
      assert.equal(error.name, 'StoreError');
      assert.match(error.message, /sqlite:data\/postern\.db/);
      assert.doesNotMatch(error.message, /hunter22/);
      return true;
    });
  }
});

function edit(file: string, sql: string): void {
  const database = new DatabaseSync(file);
  database.exec(sql);
  database.close();
}

/** Opens the store and ensures a first key, in a process of its own; prints the result. */
const firstKeyProgram = `
  import { ensureFirstKey } from '${import.meta.resolve('../keys/first-key.ts')}';
  import { openStore } from '${import.meta.resolve('./open-store.ts')}';
  const store = await openStore('${url}', { cwd: process.cwd() });
  const posternKey = process.env.POSTERN_KEY;
  const firstKey = await ensureFirstKey({ store: store.keys, fileKeyCount: 0, posternKey });
  await store.close();
  process.stdout.write(JSON.stringify(firstKey));
`;

/** An unprivileged process, so that file modes apply even where the tests run as root. */
async function runFirstKey(cwd: string, env: Record<string, string> = {}, power: 'same' | 'powerless' = 'same') {
  const asNobody = power === 'powerless' && process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
  const args = ['--input-type=module', '--eval', firstKeyProgram];
  return await promisify(execFile)(process.execPath, args, { cwd, env, ...asNobody });
}
