import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

const run = (...args: readonly string[]) =>
  spawnSync(process.execPath, ['tools/new-family.ts', ...args], { encoding: 'utf8' });

test('writes a family and its fixture once, and refuses an invalid name', (t) => {
  const root = mkdtempSync(join(tmpdir(), 'postern-family-'));
  t.after(() => rmSync(root, { recursive: true }));
  for (const folder of ['src/families', 'test/families']) mkdirSync(join(root, folder), { recursive: true });

  const made = run('acme-search', '--root', root);
  assert.equal(made.status, 0, made.stderr);
  assert.match(readFileSync(join(root, 'src/families/acme-search.ts'), 'utf8'), /title: 'Acme Search'/);
  assert.match(readFileSync(join(root, 'test/families/acme-search.ts'), 'utf8'), /family: 'acme-search'/);

  assert.match(run('acme-search', '--root', root).stderr, /acme-search\.ts is there already/);
  for (const name of [[], ['Acme'], ['../acme'], ['a', 'b']]) {
    assert.equal(run(...name, '--root', root).status, 1, name.join(' '));
  }
});
