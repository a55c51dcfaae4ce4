import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { patientMs } from '../../test/support/time/patience.ts';
import { makeDirectory } from './make-directory.ts';

test('creates missing directories with the mode, keeps existing ones, and fails beneath a file', async (t) => {
  const top = await mkdtemp(join(tmpdir(), 'postern-make-'));
  t.after(() => rm(top, { recursive: true, force: true }));
  const path = join(top, 'a', 'b', 'c');
  makeDirectory(path, 0o700);
  makeDirectory(path, 0o777);
  for (const made of [join(top, 'a'), path]) assert.equal((await stat(made)).mode & 0o777, 0o700);
  await symlink(path, join(top, 'link'));
  makeDirectory(join(top, 'link', 'd'), 0o700);
  assert.ok((await stat(join(path, 'd'))).isDirectory());
  await writeFile(join(top, 'file'), '');
  assert.throws(() => makeDirectory(join(top, 'file'), 0o700), { code: 'EEXIST' });
  assert.throws(() => makeDirectory(join(top, 'file', 'd', 'e'), 0o700), { code: 'EEXIST' });
});

test('terminates if the file system allows no directories', { skip: !existsSync('/proc/self') }, () => {
  const { href } = new URL('./make-directory.ts', import.meta.url);
  const program = `const { makeDirectory } = await import(${JSON.stringify(href)});
    try { makeDirectory('/proc/none/such', 0o700); } catch ({ code }) { console.log(code); }`;
  // Killed by the timeout if it hangs.
  const { stdout } = spawnSync(process.execPath, ['--input-type=module', '--eval', program], {
    timeout: patientMs(7_500),
  });
  assert.match(stdout.toString(), /^E[A-Z]+\n$/);
});
