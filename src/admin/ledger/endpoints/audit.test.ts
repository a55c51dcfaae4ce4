import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openAdmin } from '../../../../test/support/console/admin.ts';

async function open(t: Parameters<typeof openAdmin>[0]) {
  const admin = await openAdmin(t, { role: 'admin' });
  const rows: [actor: string, action: string, subject: string][] = [
    ['console: ada@example.com', 'key.create', 'k1'],
    ['command line', 'key.revoke', 'k1'],
    ['command line', 'keyring.turn', 'all'],
    ['console: ada@example.com', 'upstream.put', 'near_1'],
  ];
  for (const [actor, action, subject] of rows) {
    await admin.store.audit.add({ actor, action, subject, before: null, after: { name: action } });
    // IDs sort by time, and randomly within a millisecond.
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  return admin;
}

const actionsIn = (json: { items: { action: string }[] }): string[] => json.items.map(({ action }) => action);

test('changes are listed newest first, page by page, with the state before and after', async (t) => {
  const { ask } = await open(t);
  const first = await ask('GET', '/api/audit?limit=3');
  assert.deepEqual(actionsIn(first.json), ['upstream.put', 'keyring.turn', 'key.revoke']);
  assert.deepEqual([first.json.items[0].before, first.json.items[0].after], [null, { name: 'upstream.put' }]);
  const last = await ask('GET', `/api/audit?limit=3&before=${first.json.next}`);
  assert.deepEqual([actionsIn(last.json), last.json.next], [['key.create'], null]);
});

test('the audit log is filtered by actor, action prefix and subject, where no character is a wildcard', async (t) => {
  const { ask } = await open(t);
  const rows: [query: string, actions: string[]][] = [
    ['actor=command%20line', ['keyring.turn', 'key.revoke']],
    ['action=key.', ['key.revoke', 'key.create']],
    ['action=k_y', []],
    ['action=%25', []],
    ['subject=near_1', ['upstream.put']],
    ['subject=nearX1', []],
    ['actor=command%20line&action=key.', ['key.revoke']],
    ['from=2020-01-01&to=2020-01-02', []],
    ["actor='%20OR%201%3D1--", []],
    ['actor=%00', []],
  ];
  for (const [query, actions] of rows) {
    const { status, json } = await ask('GET', `/api/audit?${query}`);
    assert.equal(status, 200, query);
    assert.deepEqual(actionsIn(json), actions, query);
  }
  const wrong = await ask('GET', '/api/audit?before=xyz&limit=1000');
  assert.deepEqual(
    wrong.json.fields.map(({ path }: { path: string }) => path),
    ['before', 'limit'],
  );
});

test('an audit entry shows the current name of its subject, or its last name if it is gone', async (t) => {
  const { ask, store } = await openAdmin(t, { role: 'admin' });
  const { id } = await store.keys.create(
    { name: 'search of the shop', digest: 'a'.repeat(64), hint: 'sk-…aaaa', models: ['*'] },
    'me',
  );
  await store.audit.add({ actor: 'me', action: 'key.revoke', subject: id, before: null, after: null });
  await store.audit.add({ actor: 'me', action: 'token.revoke', subject: 'tok_1', before: { name: 'ci' }, after: null });
  await store.audit.add({ actor: 'me', action: 'upstream.put', subject: 'near', before: null, after: { id: 'near' } });
  const { json } = await ask('GET', '/api/audit');
  const named = new Map(json.items.map((entry: Record<string, unknown>) => [entry.action, entry.name]));
  assert.deepEqual(
    [named.get('key.revoke'), named.get('key.create'), named.get('token.revoke'), named.get('upstream.put')],
    ['search of the shop', 'search of the shop', 'ci', null],
  );
});

test('only admins and owners may read the audit log', async (t) => {
  const { ask, become } = await open(t);
  for (const role of ['viewer', 'editor'] as const) {
    become(role);
    assert.equal((await ask('GET', '/api/audit')).status, 403);
  }
});
