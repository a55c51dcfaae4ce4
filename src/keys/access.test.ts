import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toKeyRecord } from '../../test/support/gateways/keys.ts';
import { checkAddress, checkKey, checkRoute, mayUseModel, unauthorized } from './access.ts';

const challenge = ['WWW-Authenticate', 'Bearer'];

test('every error with status 401 has a WWW-Authenticate challenge', () => {
  for (const code of ['missing_api_key', 'invalid_api_key', 'expired_api_key', 'revoked_api_key'] as const) {
    const error = unauthorized(code);
    assert.equal(error.code, code);
    assert.equal(error.status, 401);
    assert.deepEqual(error.headers, challenge);
  }
});

test('a key works until its expiry time and is refused from then on', () => {
  const key = toKeyRecord({ expiresAtMs: 5_000 });
  checkKey(key, 4_999);
  for (const nowMs of [5_000, 5_001]) {
    assert.throws(() => checkKey(key, nowMs), { code: 'expired_api_key', headers: challenge });
  }
});

test('a revoked key is refused as revoked, whether it has expired or not', () => {
  for (const expiresAtMs of [undefined, 1]) {
    assert.throws(() => checkKey(toKeyRecord({ revokedAtMs: 1_000, expiresAtMs }), 2_000), {
      code: 'revoked_api_key',
      headers: challenge,
    });
  }
});

test('a key limited to some operations is refused for others', () => {
  checkRoute(toKeyRecord({}), 'edits');
  checkRoute(toKeyRecord({ operations: ['rerank', 'edits'] }), 'edits');
  assert.throws(() => checkRoute(toKeyRecord({ operations: ['rerank'] }), 'edits'), { code: 'route_not_allowed' });
  assert.throws(() => checkRoute(toKeyRecord({ operations: [] }), 'edits'), { code: 'route_not_allowed' });
});

test('a key limited to addresses works only from those, in any notation of the address', () => {
  const key = toKeyRecord({ addresses: ['10.0.0.0/8', '192.0.2.7', '2001:db8::/32', 'fe80::/10'] });
  for (const address of [
    '10.255.0.1',
    '::ffff:10.1.2.3',
    '::ffff:0a01:0203',
    '192.0.2.7',
    '2001:db8:1::1',
    '2001:0DB8:0:0::1',
    'fe80::1%eth0',
  ]) {
    checkAddress(key, address);
  }
  for (const address of [
    '11.0.0.1',
    '::ffff:11.0.0.1',
    '::10.1.2.3',
    '192.0.2.8',
    '2001:db9::1',
    '',
    'localhost',
    undefined,
  ]) {
    assert.throws(() => checkAddress(key, address), { code: 'ip_not_allowed', status: 403 }, String(address));
  }
});

test('an address range in IPv4-mapped IPv6 notation covers the IPv4 addresses', () => {
  const key = toKeyRecord({ addresses: ['::ffff:10.0.0.0/104'] });
  checkAddress(key, '10.1.2.3');
  assert.throws(() => checkAddress(key, '11.1.2.3'), { code: 'ip_not_allowed' });
});

test('a key without an address list works from any address, and with an empty list from none', () => {
  checkAddress(toKeyRecord({}), '203.0.113.9');
  checkAddress(toKeyRecord({}), undefined);
  assert.throws(() => checkAddress(toKeyRecord({ addresses: [] }), '203.0.113.9'), { code: 'ip_not_allowed' });
});

test("a key's model pattern matches the whole model name, with at most one star at any position", () => {
  const rows: readonly (readonly [pattern: string, allowed: readonly string[], refused: readonly string[]])[] = [
    ['*', ['a', '', 'org/model:tag'], []],
    ['gpt-4', ['gpt-4'], ['gpt-4o', 'GPT-4', 'xgpt-4', '']],
    ['gpt-*', ['gpt-4', 'gpt-'], ['gpt', 'xgpt-4']],
    ['*-small', ['embed-small', '-small'], ['embed-small-2']],
    ['BAAI/*-v2', ['BAAI/bge-v2', 'BAAI/-v2'], ['BAAI/v2', 'BAAI/bge-v3']],
    ['ab*ba', ['abba', 'ab-ba'], ['aba']],
    ['a.c', ['a.c'], ['abc']],
    ['a**', ['a*', 'ab*'], ['ab']],
  ];
  for (const [pattern, allowed, refused] of rows) {
    const key = toKeyRecord({ models: [pattern] });
    for (const id of allowed) assert.equal(mayUseModel(key, id), true, `${pattern} allows ${id}`);
    for (const id of refused) assert.equal(mayUseModel(key, id), false, `${pattern} refuses ${id}`);
  }
});

test('a key with several model patterns may use a model that matches one of them', () => {
  const key = toKeyRecord({ models: ['bge-m3', 'gpt-*'] });
  assert.deepEqual(
    ['bge-m3', 'gpt-4', 'bge-m4'].map((id) => mayUseModel(key, id)),
    [true, true, false],
  );
  assert.equal(mayUseModel(toKeyRecord({ models: [] }), 'bge-m3'), false);
});
