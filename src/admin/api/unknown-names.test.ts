import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openAdmin } from '../../../test/support/console/admin.ts';
import { endpoints } from '../endpoints.ts';

test('every endpoint with a body refuses a field called __proto__ as unknown', async (t) => {
  const { ask } = await openAdmin(t, { role: 'owner' });
  const body = JSON.parse('{"id":"x","name":"x","list":[{"__proto__":{"admin":true}}],"__proto__":{"role":"owner"}}');
  const taking = endpoints.filter((endpoint) => endpoint.body !== undefined);
  assert.ok(taking.length > 15);
  for (const { method, path } of taking) {
    const place = path.replace('/settings/:id', '/settings/ledger').replaceAll(/:\w+/g, 'x');
    const { status, json } = await ask(method, place, body, { 'if-match': '*' });
    const paths: string[] = (json.fields ?? []).map((field: { path: string }) => field.path);
    assert.equal(status, 422, `${method} ${path}: ${JSON.stringify(json)}`);
    assert.ok(paths.includes('__proto__') && paths.includes('list[0].__proto__'), `${method} ${path}: ${paths}`);
  }
});

test('every endpoint refuses an unknown query parameter, except the callback of the identity provider', async (t) => {
  const { ask } = await openAdmin(t, { role: 'owner' });
  const callback = '/api/session/oidc/callback';
  const asked = endpoints.filter(({ path }) => !path.includes(':') && path !== callback);
  assert.ok(asked.length > 40);
  for (const { method, path } of asked) {
    const { status, json } = await ask(method, `${path}?lmit=5`, undefined, { 'if-match': '*' });
    assert.equal(status, 422, `${method} ${path}: ${JSON.stringify(json)}`);
    assert.deepEqual(json.fields.map((field: { path: string }) => field.path).slice(0, 1), ['lmit'], path);
  }
});
