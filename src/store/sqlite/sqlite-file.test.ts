import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import { imported } from '../../../test/support/ledger/ledger-rows.ts';
import { openStore } from '../open-store.ts';
import { toStoreError } from './sqlite-faults.ts';

async function directoryOf(t: TestContext): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'postern-sqlite-'));
  t.after(() => rm(directory, { recursive: true, force: true }));
  return directory;
}

const sizeOf = async (path: string): Promise<number> => (await stat(path)).size;

test('the message of a store that cannot be opened or written names a read-only mount', () => {
  const errors = [{ errcode: 14 }, { errcode: 8 }, { syscall: 'open', code: 'EROFS' }];
  for (const error of errors) {
    assert.match(String(toStoreError(Object.assign(new Error('x'), error), 'The store')), /mounted read-only\.$/);
  }
});

for (const inThread of [false, true]) {
  test(`secure() writes the whole write-ahead log to the file${inThread ? ', from a thread too' : ''}`, async (t) => {
    const cwd = await directoryOf(t);
    const path = join(cwd, 'postern.db');
    const store = await openStore('sqlite:postern.db', { cwd, inThread });
    t.after(() => store.close());
    await store.ledger.import('j', [imported()], { segment: 1, offset: 7 });
    assert.ok((await sizeOf(`${path}-wal`)) > 0);

    // A reader of the old state is in the way.
    const reader = new DatabaseSync(path);
    reader.exec('begin');
    reader.prepare('select count(*) from ledger').get();
    await store.ledger.import('j', [imported()], { segment: 1, offset: 8 });
    assert.equal(await store.ledger.secure(), false);
    reader.exec('commit');
    reader.close();

    assert.equal(await store.ledger.secure(), true);
    assert.equal(await sizeOf(`${path}-wal`), 0);
    await store.ledger.import('j', [imported()], { segment: 1, offset: 9 });
    assert.deepEqual(await store.ledger.position('j'), { segment: 1, offset: 9 });
  });
}

test('a database file truncated to zero is refused while its write-ahead log exists', async (t) => {
  const cwd = await directoryOf(t);
  const path = join(cwd, 'postern.db');
  const running = await openStore('sqlite:postern.db', { cwd });
  await running.ledger.import('j', [imported()], { segment: 1, offset: 7 });
  const log = await readFile(`${path}-wal`);
  await running.close();
  await writeFile(`${path}-wal`, log);
  await truncate(path);
  await assert.rejects(openStore('sqlite:postern.db', { cwd }), /is empty, and the log beside it/);
  assert.deepEqual(await readFile(`${path}-wal`), log);
  await rm(`${path}-wal`);
  await (await openStore('sqlite:postern.db', { cwd })).close();
});
