import assert from 'node:assert/strict';
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { setUpCommand, userFault } from '../../test/support/gateways/command.ts';
import { newKey } from '../../test/support/gateways/keys.ts';
import { UserFault } from '../core/user-fault.ts';
import { openStore } from '../store/open-store.ts';
import { backup } from './backup.ts';

test('a backup of a store in use is complete, and only its owner may read the file', async (t) => {
  const { run, cwd, withStore } = await setUpCommand(t, backup);
  const keys = [newKey(), newKey()];
  await withStore(async (store) => {
    for (const key of keys) await store.keys.create(key);
    const { code, lines } = await run('copy.db');
    assert.equal(code, 0);
    assert.match(lines[0] ?? '', /^The store is copied to .*copy\.db \(\d+ bytes\)\.$/);
    await store.keys.create(newKey());
  });
  assert.equal((await stat(join(cwd, 'copy.db'))).mode & 0o777, 0o600);
  const copy = await openStore('sqlite:copy.db', { cwd });
  t.after(() => copy.close());
  assert.equal((await copy.keys.list()).length, 2);
  for (const { digest } of keys) assert.notEqual(await copy.keys.find(digest), undefined);
});

test('backup does not overwrite an existing file', async (t) => {
  const { run, cwd, withStore } = await setUpCommand(t, backup);
  await withStore((store) => store.keys.create(newKey()));
  await writeFile(join(cwd, 'here'), 'mine');
  await assert.rejects(run('here'), userFault(/here" is there already; name a file that is not/));
  assert.equal(await readFile(join(cwd, 'here'), 'utf8'), 'mine');
});

test('a failed backup leaves no file behind', async (t) => {
  const { run, cwd, withStore } = await setUpCommand(t, backup);
  await assert.rejects(run('copy.db'), userFault(/There is no store at .*; nothing to back up/));
  await withStore(async () => undefined);
  await writeFile(join(cwd, 'store', 'keys.db'), 'no database at all'.repeat(1_000));
  await assert.rejects(run('copy.db'), userFault(/is no SQLite database/));
  await assert.rejects(run('nowhere/copy.db'), userFault(/there is no such directory.*name a file on a local disk/));
  assert.deepEqual((await readdir(cwd)).toSorted(), ['postern.yaml', 'store']);
  for (const args of [[], [''], ['a', 'b']])
    await assert.rejects(run(...args), userFault(/write it as "postern backup FILE/));
});

test('for a PostgreSQL store, backup prints the pg_dump command without the password', async (t) => {
  const store = 'postgres://m%40e:hunter22@db.example:6432/the%20app?sslmode=require&password=hunter22';
  const { run } = await setUpCommand(t, backup, { store });
  await assert.rejects(run("it's here.dump"), (error: Error) => {
    assert.equal(
      error.message,
      "PostgreSQL has a tool of its own for this; run: pg_dump --format=custom --file='it'\\''s here.dump' --host=db.example --port=6432 --username=m@e 'the app'",
    );
    return error instanceof UserFault;
  });
});
