import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { families } from '../../src/families/index.ts';
import { loadText } from '../support/gateways/configuration.ts';

const env = {
  OPENAI_API_KEY: 'sk-0123456789',
  SEARCH_TEAM_KEY: 'a-secret-of-24-characters',
  DB_PASSWORD: 'password',
  COHERE_API_KEY: 'cohere-key',
};

test('each configuration block in the README is complete and gives no warning', async (t) => {
  const readme = await readFile(new URL('../../README.md', import.meta.url), 'utf8');
  const blocks = [...readme.matchAll(/^```yaml\n(.*?)^```$/gms)].map(([, block = '']) => block);
  assert.ok(blocks.length >= 2);
  const keys: (string | undefined)[] = [];
  for (const text of blocks) {
    const result = await loadText(t, text, { env, families });
    assert.ok(result.ok, JSON.stringify('faults' in result ? result.faults : []));
    assert.deepEqual(result.warnings, []);
    for (const { id, project } of result.snapshot.keys.values()) keys.push(id, project);
  }
  assert.deepEqual(keys, ['search-team', 'search']);
});
