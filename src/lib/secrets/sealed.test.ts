import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { parseKeyRing, SecretKeyError, sealedUnder } from './sealed.ts';

const first = randomBytes(32);
const second = randomBytes(32);
const location = 'upstream/openai/api_key';

test('a sealed text opens with the same key and location, and reveals nothing', () => {
  const ring = parseKeyRing(first.toString('hex'));
  const sealed = ring.seal('sk-plain-text-ü', location);
  assert.match(sealed, /^sealed:v1:[0-9a-f]{8}:[A-Za-z0-9_-]{16}:[A-Za-z0-9_-]+$/);
  assert.doesNotMatch(Buffer.from(sealed.split(':').at(-1) ?? '', 'base64url').toString('latin1'), /plain/);
  assert.deepEqual(ring.unseal(sealed, location), { kind: 'opened', plain: 'sk-plain-text-ü' });
  assert.deepEqual(ring.unseal(ring.seal('', location), location), { kind: 'opened', plain: '' });
});

test('the same text is sealed differently each time', () => {
  const ring = parseKeyRing(first.toString('hex'));
  assert.notEqual(ring.seal('x', location), ring.seal('x', location));
});

test('a text sealed for one configuration field cannot be opened for another', () => {
  const ring = parseKeyRing(first.toString('hex'));
  assert.deepEqual(ring.unseal(ring.seal('x', location), 'upstream/other/api_key'), { kind: 'damaged' });
});

test('a sealed text with any character changed does not open', () => {
  const ring = parseKeyRing(first.toString('hex'));
  const sealed = ring.seal('sk-plain', location);
  const start = 'sealed:v1:'.length;
  for (let at = 0; at < sealed.length; at++) {
    if (sealed.charAt(at) === ':') continue;
    const other = at < start + 8 ? (sealed.charAt(at) === '0' ? '1' : '0') : sealed.charAt(at) === 'A' ? 'Q' : 'A';
    const changed = sealed.slice(0, at) + other + sealed.slice(at + 1);
    assert.notEqual(ring.unseal(changed, location).kind, 'opened', `character ${at}`);
  }
  for (let length = 0; length < sealed.length; length++) {
    assert.notEqual(ring.unseal(sealed.slice(0, length), location).kind, 'opened', `${length} characters`);
  }
});

test('the first of several keys seals new texts, and the others still open old ones', () => {
  const old = parseKeyRing(first.toString('hex'));
  const sealed = old.seal('x', location);
  const ring = parseKeyRing(`${second.toString('base64')}, ${first.toString('hex')}`);
  assert.deepEqual(ring.unseal(sealed, location), { kind: 'opened', plain: 'x' });
  assert.equal(ring.keyIds.length, 2);
  assert.equal(sealedUnder(sealed), old.sealingKeyId);
  assert.equal(sealedUnder(ring.seal('x', location)), ring.sealingKeyId);
  assert.deepEqual(old.unseal(ring.seal('x', location), location), { kind: 'unknown-key', keyId: ring.sealingKeyId });
});

test('a key in hex, base64 or base64url is the same key', () => {
  const spellings = [
    first.toString('hex'),
    first.toString('hex').toUpperCase(),
    first.toString('base64'),
    first.toString('base64url'),
    ` ${first.toString('hex')}\n`,
  ];
  assert.equal(new Set(spellings.map((text) => parseKeyRing(text).sealingKeyId)).size, 1);
});

test('an invalid key is refused and not repeated', () => {
  const short = 'a-password-that-someone-made-up';
  for (const text of ['', ',', short, first.toString('hex').slice(1), `${first.toString('hex')},`, 'g'.repeat(64)]) {
    assert.throws(
      () => parseKeyRing(text),
      (error: unknown) => {
        assert.ok(error instanceof SecretKeyError);
        assert.match(error.message, /openssl rand -hex 32/);
        assert.ok(text.length < 2 || !error.message.includes(text));
        return true;
      },
      JSON.stringify(text),
    );
  }
});

test('text with the sealed prefix but an invalid form is not treated as sealed', () => {
  for (const text of ['', 'sealed', 'sealed:v1:', 'sealed:v2:00000000:AAAAAAAAAAAAAAAA:AAAAAAAAAAAAAAAAAAAAAA']) {
    assert.equal(sealedUnder(text), undefined);
  }
});
