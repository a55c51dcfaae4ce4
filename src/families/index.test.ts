import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { test } from 'node:test';
import { families } from './index.ts';

test('lists every family that has a file, each under the name of its file', async () => {
  const entries = await readdir(import.meta.dirname, { withFileTypes: true });
  const files = entries.filter(
    (entry) => entry.isFile() && entry.name.endsWith('.ts') && !entry.name.endsWith('.test.ts'),
  );
  const names = files.map(({ name }) => name.slice(0, -'.ts'.length)).filter((name) => name !== 'index');
  assert.deepEqual(families.map(({ id }) => id).sort(), names.sort());
});

test('gives every family with an address a way to send its credential, and the others a maker for every offer', () => {
  for (const { id, baseUrl, auth, offers } of families) {
    if (baseUrl !== undefined) {
      assert.ok(auth !== undefined, id);
      assert.ok(URL.canParse(baseUrl) && !baseUrl.endsWith('/'), id);
      continue;
    }
    for (const offer of Object.values(offers).flatMap((byOperation) => Object.values(byOperation))) {
      assert.equal(typeof offer.make, 'function', `${id} ${offer.path}`);
    }
  }
});
