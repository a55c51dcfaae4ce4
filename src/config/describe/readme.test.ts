import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { loadText } from '../../../test/support/gateways/configuration.ts';
import { families } from '../../families/index.ts';

const env = {
  OPENAI_API_KEY: 'sk-0123456789',
  SEARCH_TEAM_KEY: 'a-secret-of-24-characters',
  DB_PASSWORD: 'password',
};

test('the blocks of configuration in the README hold alone, and joined in their order', async (t) => {
  const readme = await readFile(new URL('../../../README.md', import.meta.url), 'utf8');
  const blocks = [...readme.matchAll(/^```yaml\n(.*?)^```$/gms)].map(([, block = '']) => block);
  assert.ok(blocks.length >= 2);
  const [first = '', ...others] = blocks;
  // What stands further down names what stands above.
  for (const text of [first, blocks.join('\n'), ...others.map((block) => first + block)]) {
    const result = await loadText(t, text, { env, families });
    assert.ok(result.ok, JSON.stringify('faults' in result ? result.faults : []));
    assert.deepEqual(result.warnings, []);
  }
  const joined = await loadText(t, blocks.join('\n'), { env, families });
  assert.ok(joined.ok);
  const [key] = joined.snapshot.keys.values();
  assert.deepEqual([key?.id, key?.project], ['search-team', 'search']);
});
