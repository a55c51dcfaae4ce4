import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { test } from 'node:test';
import { setUpCommand, userFault } from '../../test/support/gateways/command.ts';
import { migrate } from './migrate.ts';

test('migrate runs what is missing, says which, and has nothing to do the second time', async (t) => {
  const { run } = await setUpCommand(t, migrate);
  const first = await run();
  assert.equal(first.code, 0);
  assert.equal(first.lines[0], 'ran  0001-keys');
  assert.ok(first.lines.length >= 6);
  assert.deepEqual(await run(), { code: 0, lines: ['The store is up to date.'], errors: [] });
});

test('with --check it changes nothing, and exits with 1 while something is missing', async (t) => {
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

test('a store that cannot be reached is said in one line', async (t) => {
  const { run } = await setUpCommand(t, migrate, { store: 'postgres://me:hunter22@127.0.0.1:1/db' });
  for (const args of [[], ['--check']]) {
    await assert.rejects(
      run(...args),
      userFault(/^The store in PostgreSQL at 127\.0\.0\.1:1 \(database "db"\) cannot be reached/),
    );
  }
  await assert.rejects(run('now'), userFault(/write it as "postern migrate/));
});
