import assert from 'node:assert/strict';
import { test } from 'node:test';
import { oneOf, toAddress } from './asking.ts';
import type { ask as Ask } from './client.ts';

test('in API addresses each path parameter is one encoded segment, and absent query parameters are left out', () => {
  assert.equal(toAddress('GET /api/models/:id', { params: { id: 'BAAI/bge m3?' } }), '/api/models/BAAI%2Fbge%20m3%3F');
  assert.equal(
    toAddress('GET /api/keys/:id/usage', { params: { id: 'k1' }, query: { days: 7 } }),
    '/api/keys/k1/usage?days=7',
  );
  assert.equal(toAddress('GET /api/keys', { query: { q: '', project: undefined } }), '/api/keys');
  assert.equal(toAddress('GET /api/ledger', { query: { key: 'a&b=c' } }), '/api/ledger?key=a%26b%3Dc');
});

test('oneOf() returns undefined for a value that is not listed', () => {
  assert.equal(oneOf(['true', 'false'], 'true'), 'true');
  for (const other of ['', 'TRUE', null, undefined]) assert.equal(oneOf(['true', 'false'], other), undefined);
});

/** These are never called: if one of them compiled, the type check would fail. */
export const neverCompiles = [
  // @ts-expect-error There is no such path.
  (ask: typeof Ask) => ask('GET /api/kees'),
  // @ts-expect-error Nor with this method.
  (ask: typeof Ask) => ask('PUT /api/keys', { body: {} }),
  // @ts-expect-error The path has a parameter.
  (ask: typeof Ask) => ask('GET /api/keys/:id'),
  // @ts-expect-error It has another name.
  (ask: typeof Ask) => ask('GET /api/keys/:id', { params: { key: 'k1' } }),
  // @ts-expect-error A setting has one of two names.
  (ask: typeof Ask) => ask('DELETE /api/settings/:id', { params: { id: 'colours' } }),
  // @ts-expect-error The query knows no such filter.
  (ask: typeof Ask) => ask('GET /api/keys', { query: { colour: 'red' } }),
  // @ts-expect-error No key is in such a state.
  (ask: typeof Ask) => ask('GET /api/keys', { query: { state: 'asleep' } }),
  // @ts-expect-error A list of projects takes no query at all.
  (ask: typeof Ask) => ask('GET /api/projects', { query: { limit: 200 } }),
  // @ts-expect-error Reading takes no body.
  (ask: typeof Ask) => ask('GET /api/keys', { body: {} }),
  // @ts-expect-error The body is not left out.
  (ask: typeof Ask) => ask('POST /api/session'),
  // @ts-expect-error Nor a part of it.
  (ask: typeof Ask) => ask('POST /api/session', { body: { email: 'ada@example.com' } }),
  // @ts-expect-error A page of keys has no such field.
  async (ask: typeof Ask) => (await ask('GET /api/keys')).keys,
  // @ts-expect-error Money is text.
  async (ask: typeof Ask) => (await ask('GET /api/usage')).total.cost * 2,
  // @ts-expect-error What is removed answers nothing.
  async (ask: typeof Ask) => (await ask('DELETE /api/members/:id', { params: { id: 'm1' } })).id,
];
