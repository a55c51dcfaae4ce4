import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { setUpCommand, userFault } from '../../test/support/gateways/command.ts';
import { writeJournal } from '../../test/support/ledger/orphan-journal.ts';
import { lockFile } from '../store/sqlite/sqlite-file.ts';
import { keys } from './keys/keys.ts';
import { usage } from './ledger/usage.ts';
import { migrate } from './migrate.ts';
import { models } from './models.ts';

test('migrate runs the missing steps, names them, and does nothing when run again', async (t) => {
  const { run } = await setUpCommand(t, migrate);
  const first = await run();
  assert.equal(first.code, 0);
  assert.equal(first.lines[0], 'ran  0001-keys');
  assert.ok(first.lines.length >= 6);
  assert.deepEqual(await run(), { code: 0, lines: ['The store is up to date.'], errors: [] });
});

test('migrate --check changes nothing, and exits with 1 while steps are missing', async (t) => {
  const { run, cwd } = await setUpCommand(t, migrate);
  const before = await run('--check');
  assert.equal(before.code, 1);
  assert.equal(before.lines[0], 'missing  0001-keys');
  assert.deepEqual(await readdir(cwd), ['postern.yaml']);
  const { lines } = await run();
  assert.deepEqual(
    before.lines.map((line) => line.replace('missing', 'ran')),
    lines,
  );
  assert.deepEqual(await run('--check'), { code: 0, lines: ['The store is up to date.'], errors: [] });
});

test('migrate reports an unreachable store in one line', async (t) => {
  const { run } = await setUpCommand(t, migrate, { store: 'postgres://me:hunter22@127.0.0.1:1/db' });
  for (const args of [[], ['--check']]) {
    await assert.rejects(
      run(...args),
      userFault(/^The store in PostgreSQL at 127\.0\.0\.1:1 \(database "db"\) cannot be reached/),
    );
  }
  await assert.rejects(run('now'), userFault(/migrate takes no argument "now"/));
});

test('after migrate --back-to an older version opens the store, and the next migrate adds the steps again', async (t) => {
  const { run } = await setUpCommand(t, migrate);
  await run();
  const back = await run('--back-to', '0.1.0');
  assert.equal(back.lines[0], 'set aside  0014-kept-objects');
  assert.match(back.lines.at(-1) ?? '', /^0\.1\.0 runs on this store\./);
  const missing = await run('--check');
  assert.deepEqual(
    missing.lines.slice(0, -1),
    back.lines.slice(0, -1).map((line) => line.replace('set aside', 'missing')),
  );
  assert.match(missing.lines.at(-1) ?? '', /can still run on this store/);
  await run();
  assert.deepEqual(await run('--check'), { code: 0, lines: ['The store is up to date.'], errors: [] });
  await assert.rejects(run('--back-to', '0.0.9'), userFault(/0\.0\.9 is no version .* one of: 0\.1\.0/));
  await assert.rejects(run('--back-to', '0.1.0', '--check'), userFault(/exclude each other/));
});

test('migrate --back-to creates no store', async (t) => {
  const { run, cwd } = await setUpCommand(t, migrate);
  await assert.rejects(run('--back-to', '0.1.0'), userFault(/there is no store to go back from/));
  assert.deepEqual(await readdir(cwd), ['postern.yaml']);
});

test('after migrate --back-to, other commands refuse the store and do not migrate it themselves', async (t) => {
  const { run, runAs } = await setUpCommand(t, migrate);
  await run();
  await run('--back-to', '0.1.0');
  for (const [command, ...args] of [[usage], [keys, 'list'], [keys, 'create'], [models]] as const) {
    await assert.rejects(
      runAs(command, {}, ...args),
      userFault(/^The store lacks the step "0014-kept-objects" of this version; run "postern migrate", or use/),
    );
  }
  assert.equal((await run('--check')).code, 1);
  await run();
  assert.equal((await runAs(keys, {}, 'list')).code, 0);
});

test('migrate --back-to refuses while rows wait in a journal that the older version cannot read', async (t) => {
  const { run, cwd, withStore } = await setUpCommand(t, migrate);
  await run();
  const directory = join(cwd, 'store', 'journal');
  const identity = await withStore((store) => store.settings.installation());
  await writeJournal(directory, ['019abcdef01200000000000000000001'], identity);
  await assert.rejects(
    run('--back-to', '0.1.0'),
    userFault(/directory 1000 of the journal, 1 rows .+ are not in the store yet/),
  );
  assert.deepEqual((await run('--check')).lines, ['The store is up to date.']);
  // A journal of a running process, which imports it at its end.
  const lock = lockFile(join(directory, '1000', 'lock'));
  t.after(() => lock?.release());
  assert.equal((await run('--back-to', '0.1.0')).code, 0);
});
