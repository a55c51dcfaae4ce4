import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openAdmin } from '../../../test/support/console/admin.ts';
import { maskOf } from '../../lib/secrets/secret-shapes.ts';

const random = 'aB3dE5fG7hJ9kL2mN4pQ6rS8tU0vW1xY';
const secret = `sk-proj-${random}`;
const note = `hf_${random}`;
const create = { 'if-none-match': '*' };
const base = { family: 'openai', base_url: 'http://127.0.0.1:9/v1' };

test('an ID or note of an upstream that looks like a secret causes a warning and is masked in all responses', async (t) => {
  const { ask, follow, store } = await openAdmin(t, { role: 'owner' });
  const put = await ask('PUT', `/api/upstreams/${secret}`, { ...base, metadata: { owner: `key ${note}` } }, create);
  assert.equal(put.status, 201, JSON.stringify(put.json));
  const warnings = put.json.warnings.filter((warning: string) => warning.includes('looks like a secret'));
  assert.deepEqual(
    warnings.map((warning: string) => warning.split(':')[0]).toSorted(),
    ['id', 'metadata.owner'],
    JSON.stringify(put.json.warnings),
  );
  await follow();

  const shown = await ask('GET', `/api/upstreams/${maskOf(secret)}`);
  assert.equal(shown.status, 200, JSON.stringify(shown.json));
  assert.equal(shown.json.id, maskOf(secret));
  assert.deepEqual(shown.json.document.metadata, { owner: `key ${maskOf(note)}` });
  const others = ['/api/upstreams', '/api/models', '/api/state', '/api/audit', `/api/audit?subject=${maskOf(secret)}`];
  const answers = [put, shown, ...(await Promise.all(others.map((path) => ask('GET', path))))];
  for (const [index, answer] of answers.entries()) {
    const text = JSON.stringify(answer.json) + JSON.stringify([...answer.headers]);
    assert.equal(text.includes(random), false, `${index}: ${text}`);
  }
  assert.equal(answers.at(-1)?.json.items.length, 1);

  // A masked text that is sent back unchanged keeps its value.
  const changed = { ...shown.json.document, limits: { concurrency: 3 } };
  const again = await ask('PUT', `/api/upstreams/${maskOf(secret)}`, changed, { 'if-match': '"1"' });
  assert.equal(again.json.outcome, 'changed', JSON.stringify(again.json));
  const { document } = (await store.resources.get('upstream', secret)) ?? {};
  assert.deepEqual(document, { ...base, id: secret, metadata: { owner: `key ${note}` }, limits: { concurrency: 3 } });
  await follow();
  const gone = await ask('DELETE', `/api/upstreams/${maskOf(secret)}`, undefined, { 'if-match': '"2"' });
  assert.equal(gone.status, 204, JSON.stringify(gone.json));
});

test("a gateway key whose name looks like a service's secret is shown masked, with a warning", async (t) => {
  const { ask, store } = await openAdmin(t, { role: 'owner' });
  const made = await ask('POST', '/api/keys', { name: `for ${secret}`, models: ['*'], metadata: { owner: note } });
  assert.equal(made.status, 201, JSON.stringify(made.json));
  assert.equal(made.json.document.name, `for ${maskOf(secret)}`);
  assert.match(made.json.secret, /^pst_/);
  assert.equal(made.json.warnings.filter((warning: string) => warning.includes('looks like a secret')).length, 2);
  assert.equal(JSON.stringify(made.json).includes(random), false);
  assert.equal((await store.keys.list())[0]?.name, `for ${secret}`);
  const faulty = await ask('POST', '/api/keys', { name: 'a', models: ['*'], project: secret });
  assert.equal(faulty.status, 422, JSON.stringify(faulty.json));
  assert.equal(JSON.stringify(faulty.json).includes(random), false);
});
