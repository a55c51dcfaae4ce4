import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readRequestHead } from '../wire/request-head.ts';
import { readCredential as readFrom } from './credentials.ts';

type Headers = Partial<Record<'authorization' | 'x-api-key' | 'api-key' | 'x-goog-api-key', string>>;

function readCredential(headers: Headers): string | undefined {
  const byName = new Map(Object.entries(headers));
  return readFrom({ get: (name) => byName.get(name), has: (name) => byName.has(name) });
}

test('the key is read from authorization, x-api-key, api-key or x-goog-api-key', () => {
  assert.equal(readCredential({ authorization: 'Bearer secret' }), 'secret');
  assert.equal(readCredential({ 'x-api-key': 'secret' }), 'secret');
  assert.equal(readCredential({ 'api-key': 'secret' }), 'secret');
  assert.equal(readCredential({ 'x-goog-api-key': 'secret' }), 'secret');
});

test('of several key headers, the first in the order authorization, x-api-key, api-key, x-goog-api-key is used', () => {
  const headers: Headers = {
    'x-goog-api-key': 'fourth',
    'api-key': 'third',
    'x-api-key': 'second',
    authorization: 'Bearer first',
  };
  for (const [name, secret] of [
    ['authorization', 'first'],
    ['x-api-key', 'second'],
    ['api-key', 'third'],
    ['x-goog-api-key', 'fourth'],
  ] as const) {
    assert.equal(readCredential(headers), secret);
    delete headers[name];
  }
  assert.equal(readCredential(headers), undefined);
});

test('the scheme of the Authorization header matches in any case, and blanks around the key are ignored', () => {
  for (const authorization of [
    'bearer secret',
    'BEARER secret',
    'Bearer   secret',
    ' Bearer \t secret \t',
    'bEaReR\tsecret',
  ]) {
    assert.equal(readCredential({ authorization }), 'secret', JSON.stringify(authorization));
  }
  assert.equal(readCredential({ 'x-api-key': ' \tsecret ' }), 'secret');
});

test('an Authorization header that is empty or of another scheme counts as absent', () => {
  for (const authorization of [
    '',
    ' ',
    'Bearer',
    'Bearer ',
    'Basic c2VjcmV0',
    'Bearersecret',
    'secret',
    'Token secret',
  ]) {
    assert.equal(readCredential({ authorization }), undefined, JSON.stringify(authorization));
    assert.equal(readCredential({ authorization, 'x-api-key': 'other' }), 'other', JSON.stringify(authorization));
  }
  assert.equal(readCredential({ 'x-api-key': '  ', 'api-key': 'other' }), 'other');
});

test('a key of 512 characters is read, and a longer one is refused as invalid_api_key', () => {
  const longest = 'k'.repeat(512);
  assert.equal(readCredential({ authorization: `Bearer ${longest}` }), longest);
  for (const headers of [{ authorization: `Bearer ${longest}k` }, { 'x-goog-api-key': `${longest}k` }]) {
    assert.throws(() => readCredential(headers), {
      code: 'invalid_api_key',
      status: 401,
      headers: ['WWW-Authenticate', 'Bearer'],
    });
  }
});

test('several keys in one header are refused as invalid_api_key', () => {
  assert.equal(readCredential({ 'x-api-key': 'one, two' }), 'one, two');
});

test('a key with non-ASCII characters is read as UTF-8', () => {
  const limits = { fields: 10, fieldBytes: 1024 };
  // The last one is not UTF-8 and stays Latin-1.
  for (const [key, read] of [
    [Buffer.from('schlüssel-à'), 'schlüssel-à'],
    [Buffer.from([0x6b, 0xfc]), 'k\u00fc'],
  ] as const) {
    const head = Buffer.concat([
      Buffer.from('GET / HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer '),
      key,
      Buffer.from('\r\n\r\n'),
    ]);
    const request = readRequestHead(head, head.length, limits);
    assert.ok('method' in request);
    assert.equal(readFrom(request.fields), read);
  }
});
