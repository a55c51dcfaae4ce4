/** A gateway on a SQLite file, and other programs that read that file, delete its log or are killed beside it. */

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import { isMapping } from '../../src/lib/is-mapping.ts';
import { codeOf } from '../../src/lib/thrown.ts';
import { createAccounts } from '../support/console/console-accounts.ts';
import { consoleUrl, readMetrics } from '../support/gateways/admin-listener.ts';
import { createDirectory } from '../support/gateways/configuration.ts';
import { type GatewayProcess, standardStore, startGatewayProcess } from '../support/gateways/gateway-process.ts';
import { runPostern } from '../support/gateways/postern-command.ts';
import { until } from '../support/time/until.ts';

const config = {
  upstreams: [{ id: 'local', family: 'local' }],
  models: [{ id: 'echo', operations: ['embeddings'], targets: [{ upstream: 'local', model: 'hash-embed' }] }],
};

async function start(t: TestContext, directory: string): Promise<GatewayProcess> {
  const gateway = await startGatewayProcess({ config, directory, readyTimeoutMs: 60_000 });
  t.after(() => gateway.stop());
  // All of the process that opens the file has opened it once a row came from the journal.
  assert.equal(await embed(gateway, gateway.key), 200);
  await until(async () => ((await readMetrics(gateway)).sum('postern_journal_rows_total') ?? 0) !== 0);
  return gateway;
}

async function kill(gateway: GatewayProcess): Promise<void> {
  gateway.signal('SIGKILL');
  await gateway.exited;
}

async function embed({ url }: GatewayProcess, key: string): Promise<number> {
  const response = await fetch(`${url}/v1/embeddings`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', connection: 'close' },
    body: JSON.stringify({ model: 'echo', input: 'x' }),
  });
  await response.arrayBuffer();
  return response.status;
}

const ownerOf = (gateway: GatewayProcess) =>
  createAccounts({ url: consoleUrl(gateway), store: standardStore, cwd: gateway.directory }).get('owner');

const run = promisify(execFile);

/** With a SQLite of its own where the machine has one: ours takes more care of logs that others use. */
async function lookFromOutside(cwd: string): Promise<void> {
  const question = 'select count(*) from ledger';
  const byNode = `const database = new (require('node:sqlite').DatabaseSync)('postern.db');
    console.log(database.prepare('${question}').get());
    database.close();`;
  const { stdout } = await run('sqlite3', ['postern.db', question], { cwd }).catch((error: unknown) => {
    if (codeOf(error) !== 'ENOENT') throw error;
    return run(process.execPath, ['--eval', byNode], { cwd });
  });
  assert.match(stdout, /\d/);
}

const inodeOf = async (directory: string, file: string): Promise<number> => (await stat(join(directory, file))).ino;

/** Of the process, on the database file. */
async function locksOf({ pid, directory }: GatewayProcess): Promise<number> {
  const inode = await inodeOf(directory, 'postern.db');
  const lines = (await readFile('/proc/locks', 'utf8')).split('\n');
  return lines.filter((line) => new RegExp(` ${pid} [0-9a-f]+:[0-9a-f]+:${inode} `).test(line)).length;
}

describe('a gateway on a SQLite file', { concurrency: 2 }, () => {
  test('writes after another program opened the file survive kill -9', async (t) => {
    const directory = await createDirectory(t);
    const first = await start(t, directory);
    const log = await inodeOf(directory, 'postern.db-wal');
    await lookFromOutside(directory);
    assert.equal(await inodeOf(directory, 'postern.db-wal'), log);
    const owner = await ownerOf(first);
    const { secret } = await owner.ask('POST', '/api/keys', { name: 'made after the look' });
    assert.equal(await embed(first, secret), 200);
    await kill(first);

    const second = await start(t, directory);
    assert.equal(await embed(second, secret), 200);
    const { stdout } = await runPostern(['members', 'list', '--config', second.configFile], { cwd: directory });
    assert.match(stdout, /owner@example\.com/);
  });

  test('the lock on the file outlives the start, a backup, commands, requests and metrics', async (t) => {
    if (process.platform !== 'linux') return t.skip('needs /proc/locks');
    const directory = await createDirectory(t);
    const gateway = await start(t, directory);
    const file = ['--config', gateway.configFile];
    const locks = await locksOf(gateway);
    assert.ok(locks > 0, 'after the start');
    const owner = await ownerOf(gateway);
    const deeds: Readonly<Record<string, () => Promise<unknown>>> = {
      backup: () => runPostern(['backup', 'copy.db', ...file], { cwd: directory }),
      'keys list': () => runPostern(['keys', 'list', ...file], { cwd: directory }),
      'ledger verify': () => runPostern(['ledger', 'verify', ...file], { cwd: directory }),
      check: () => runPostern(['check', ...file], { cwd: directory }),
      'keys in the console': () => owner.ask('GET', '/api/keys'),
      'settings in the console': () => owner.ask('GET', '/api/about'),
      metrics: () => readMetrics(gateway),
      request: () => embed(gateway, gateway.key),
    };
    for (const [name, deed] of Object.entries(deeds)) {
      await deed();
      assert.ok((await locksOf(gateway)) >= locks, `after ${name}`);
    }
  });

  test("a deleted log file stops writes, and the store's data is saved beside it", async (t) => {
    const directory = await createDirectory(t);
    const first = await start(t, directory);
    const owner = await ownerOf(first);
    const { secret } = await owner.ask('POST', '/api/keys', { name: 'made before the loss' });
    for (const suffix of ['-wal', '-shm']) await rm(join(directory, `postern.db${suffix}`));
    await assert.rejects(owner.ask('POST', '/api/keys', { name: 'made after the loss' }), /: 503 /);
    const saved = (): unknown => first.log().find(({ msg }) => msg === 'store rescue copy written')?.file;
    await until(() => saved() !== undefined);
    const file = String(saved());
    assert.match(file, /\/postern\.db-saved-\w+$/);
    assert.equal((await stat(file)).mode & 0o777, 0o600);
    const lines = first.log().map(({ msg }) => msg);
    assert.ok(lines.indexOf('store files lost') < lines.indexOf('store rescue copy written'));
    // Requests are served as before, and their rows wait.
    assert.equal(await embed(first, secret), 200);
    // From the next round of the import on.
    const ledger = async (): Promise<unknown> => {
      const ready: unknown = await (await fetch(`${first.url}/readyz`)).json();
      assert.ok(isMapping(ready));
      return ready.ledger;
    };
    let before = await ledger();
    for (; before === undefined; before = await ledger()) await wait(50);
    assert.ok(isMapping(before));
    assert.equal(before.import, 'failing');
    await kill(first);

    for (const suffix of ['', '-wal', '-shm']) await rm(join(directory, `postern.db${suffix}`), { force: true });
    await rename(file, join(directory, 'postern.db'));
    const second = await start(t, directory);
    assert.equal(await embed(second, secret), 200);
    const configFile = ['--config', second.configFile];
    assert.match(
      (await runPostern(['members', 'list', ...configFile], { cwd: directory })).stdout,
      /owner@example\.com/,
    );
    // Two of each process, among them the one after the loss.
    const rows = async () => (await runPostern(['ledger', 'tail', '--json', ...configFile], { cwd: directory })).stdout;
    await until(async () => (await rows()).trim().split('\n').length >= 4, { everyMs: 100 });
  });
});
