import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openAdmin } from '../../../../test/support/console/admin.ts';

const env = { POSTERN_SECRET_KEY: 'a'.repeat(64) };
const create = { 'if-none-match': '*' };

test('retention and withheld fields can be changed through the API, and take effect after a reload', async (t) => {
  const { ask, follow } = await openAdmin(t, { env });
  const before = (await ask('GET', '/api/settings')).json.items;
  assert.deepEqual(
    before.map((one: { id: string; version: number; managedBy: string }) => [one.id, one.version, one.managedBy]),
    [
      ['alerts', 0, 'store'],
      ['ledger', 0, 'store'],
    ],
  );
  const put = await ask('PUT', '/api/settings/ledger', { retention: '30d', redact: ['user'] }, create);
  assert.equal(put.status, 200, JSON.stringify(put.json));
  await follow();
  const [, ledger] = (await ask('GET', '/api/settings')).json.items;
  assert.deepEqual(ledger.document, { retention: '30d', redact: ['user'] });
  assert.deepEqual(ledger.effective, { webhooks: null, retentionDays: 30, redact: ['user'] });
  const removed = await ask('DELETE', '/api/settings/ledger', undefined, { 'if-match': `"${ledger.version}"` });
  assert.equal(removed.status, 204);
  await follow();
  assert.equal((await ask('GET', '/api/settings')).json.items[1].effective.retentionDays, 90);
});

test('webhook secrets are encrypted, never shown, and kept when the masked value is sent back', async (t) => {
  const { ask, store } = await openAdmin(t, { env });
  const webhooks = [{ url: 'https://hooks.example/a?token=s3cret-of-the-hook', secret: 'a-secret-of-sixteen' }];
  assert.equal((await ask('PUT', '/api/settings/alerts', { webhooks }, create)).status, 200);
  const shown = (await ask('GET', '/api/settings')).json.items[0];
  assert.doesNotMatch(
    JSON.stringify([shown, await store.resources.list(), await store.audit.page({ limit: 9 })]),
    /s3cret|a-secret/,
  );
  const [kept] = shown.document.webhooks;
  const again = await ask(
    'PUT',
    '/api/settings/alerts',
    { webhooks: [{ url: 'https://hooks.example/services/T0/B0/s3cret-in-the-path' }, kept] },
    { 'if-match': '"1"' },
  );
  assert.equal(again.status, 200, JSON.stringify(again.json));
  // Webhook addresses of chat services are secrets.
  const everything = [
    (await ask('GET', '/api/settings')).json,
    await store.resources.list(),
    await store.audit.page({ limit: 9 }),
  ];
  assert.doesNotMatch(JSON.stringify(everything), /s3cret/);
});

test('an invalid setting is refused by field, and settings of the configuration file cannot be changed', async (t) => {
  const { ask } = await openAdmin(t, { env, configuration: { ledger: { retention: '7d' } } });
  const bad = await ask(
    'PUT',
    '/api/settings/alerts',
    { webhooks: [{ url: 'ftp://x' }, { url: 'http://u:p@h/' }] },
    create,
  );
  assert.equal(bad.status, 422);
  assert.deepEqual(
    bad.json.fields.map(({ path }: { path: string }) => path),
    ['webhooks[0].url', 'webhooks[1].url'],
  );
  const foreign = await ask('PUT', '/api/settings/alerts', { retention: '30d' }, create);
  assert.deepEqual([foreign.status, foreign.json.fields[0].path], [422, 'retention']);
  const declared = await ask('PUT', '/api/settings/ledger', { retention: '30d' }, create);
  assert.equal(declared.status, 409, JSON.stringify(declared.json));
  assert.equal((await ask('GET', '/api/settings')).json.items[1].managedBy, 'file');
  assert.equal((await ask('PUT', '/api/settings/nothing', {}, create)).status, 422);
  assert.equal((await ask('PUT', '/api/settings/alerts', {})).status, 428);
});
