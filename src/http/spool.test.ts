import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { createSpool } from './spool.ts';

function directoryFor(t: TestContext): string {
  const directory = mkdtempSync(join(tmpdir(), 'postern-spool-'));
  t.after(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

test('an upload is spooled to a file without a name, and can be read repeatedly from any position', async (t) => {
  const directory = join(directoryFor(t), 'of-its-own', 'uploads');
  const file = await createSpool(directory).open();
  await file.append([Buffer.from('one '), Buffer.from('two ')]);
  await file.append([Buffer.from('three')]);
  assert.deepEqual(readdirSync(directory), []);
  assert.equal(statSync(directory).mode & 0o777, 0o700);
  const whole = file.whole();
  assert.equal(whole.length, 13);
  assert.equal((await whole.read(4, 3)).toString(), 'two');
  assert.equal((await whole.read(4, 3)).toString(), 'two');
  const part = whole.subarray(4, Number.POSITIVE_INFINITY);
  assert.deepEqual([part.length, (await part.read(4, 100)).toString()], [9, 'three']);
  file.close();
  file.close();
  await assert.rejects(whole.read(0, 1));
});

test("removes abandoned spool files and links, but not a link's target", (t) => {
  const directory = directoryFor(t);
  const elsewhere = directoryFor(t);
  writeFileSync(join(elsewhere, 'precious'), 'x');
  writeFileSync(join(directory, 'left.upload'), 'x');
  symlinkSync(join(elsewhere, 'precious'), join(directory, 'link.upload'));
  mkdirSync(join(directory, 'a-folder.upload'));
  createSpool(directory);
  assert.deepEqual(readdirSync(directory), ['a-folder.upload']);
  assert.deepEqual(readdirSync(elsewhere), ['precious']);
});
