import assert from 'node:assert/strict';
import { copyFile, mkdtemp, readdir, rename, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import { newKey } from '../../../test/support/gateways/keys.ts';
import { imported } from '../../../test/support/ledger/ledger-rows.ts';
import { until } from '../../../test/support/time/until.ts';
import { openStore } from '../open-store.ts';
import type { StoreLoss } from './sqlite-guard.ts';

async function directoryOf(t: TestContext): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'postern-guard-'));
  t.after(() => rm(directory, { recursive: true, force: true }));
  return directory;
}

async function open(t: TestContext, cwd: string, inThread = false) {
  const losses: StoreLoss[] = [];
  const store = await openStore('sqlite:postern.db', { cwd, inThread, onLoss: (loss) => losses.push(loss) });
  t.after(() => store.close());
  return { store, losses };
}

const kindsOf = (losses: readonly StoreLoss[]): string[] => losses.map(({ kind }) => kind);
const isRefused = { name: 'StoreError', message: /takes no more writes: "postern\.db/ };

for (const suffix of ['', '-wal', '-shm']) {
  test(`once "postern.db${suffix}" is deleted, writes are refused and committed data is saved to a copy`, async (t) => {
    const cwd = await directoryOf(t);
    const { store, losses } = await open(t, cwd);
    const threaded = (await open(t, cwd, true)).store;
    const before = newKey();
    await threaded.keys.create(before);
    await store.ledger.import('j', [imported()], { segment: 1, offset: 7 });
    await rm(join(cwd, `postern.db${suffix}`));

    const attempts = [
      () => threaded.keys.create(newKey()),
      () => threaded.health.report('node', []),
      () => store.keys.create(newKey()),
      () => store.health.report('node', []),
      () => store.ledger.import('j', [imported()], { segment: 1, offset: 8 }),
      () => store.ledger.secure(),
    ];
    for (const attempt of attempts) await assert.rejects(attempt(), isRefused);
    assert.notEqual(await threaded.keys.find(before.digest), undefined);
    await until(() => losses.length === 2);
    assert.deepEqual(kindsOf(losses), ['lost', 'saved']);
    const [saved = ''] = (await readdir(cwd)).filter((name) => name.startsWith('postern.db-saved-'));
    assert.equal((await stat(join(cwd, saved))).mode & 0o777, 0o600);
    await assert.rejects(store.keys.create(newKey()), new RegExp(`is saved in ".*${saved}"`));

    const copy = await openStore(`sqlite:${saved}`, { cwd });
    t.after(() => copy.close());
    assert.equal((await copy.keys.list()).length, 1);
    assert.deepEqual(await copy.ledger.position('j'), { segment: 1, offset: 7 });
  });
}

test('writes are refused once the database is replaced by another file', async (t) => {
  const cwd = await directoryOf(t);
  const { store, losses } = await open(t, cwd);
  await copyFile(join(cwd, 'postern.db'), join(cwd, 'other.db'));
  await rename(join(cwd, 'other.db'), join(cwd, 'postern.db'));
  await assert.rejects(store.keys.create(newKey()), isRefused);
  await until(() => losses.length === 2);
});

test('of several processes whose write-ahead log is deleted one saves it, and the next start names the copy', async (t) => {
  const cwd = await directoryOf(t);
  const all = [await open(t, cwd), await open(t, cwd), await open(t, cwd)];
  await rm(join(cwd, 'postern.db-wal'));
  await until(() => all.every(({ losses }) => losses.length === 2));
  const saved = (await readdir(cwd)).filter((name) => name.startsWith('postern.db-saved-'));
  assert.equal(saved.length, 1);
  const file = join(cwd, saved[0] ?? '');
  for (const { losses } of all) assert.deepEqual(losses[1], { kind: 'saved', file });
  for (const { store } of all) await store.close();
  assert.deepEqual((await open(t, cwd)).losses, [{ kind: 'found', file }]);
});

test('if the data of a deleted file cannot be saved, the reason is reported and no partial copy remains', async (t) => {
  const cwd = await directoryOf(t);
  const { store, losses } = await open(t, cwd);
  await store.keys.create(newKey());
  const { prepare } = DatabaseSync.prototype;
  t.mock.method(DatabaseSync.prototype, 'prepare', function (this: DatabaseSync, sql: string) {
    if (sql.startsWith('VACUUM')) throw new Error('the disk is full');
    return prepare.call(this, sql);
  });
  await rm(join(cwd, 'postern.db-wal'));
  await until(() => losses.length === 2);
  assert.deepEqual(losses[1], { kind: 'unsaved', reason: 'the disk is full' });
  assert.deepEqual(
    (await readdir(cwd)).filter((name) => name.includes('saved')),
    [],
  );
});
