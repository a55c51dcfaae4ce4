import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { createSecret, createSecretWith, digestOf, hasValidChecksum, hintOf, isSecretWith } from './key-secret.ts';

test('a secret is pst_ and 49 base62 characters, including a checksum', () => {
  for (let round = 0; round < 1_000; round++) {
    const secret = createSecret();
    assert.match(secret, /^pst_[0-9A-Za-z]{49}$/);
    assert.equal(hasValidChecksum(secret), true);
  }
});

test('no two secrets are equal', () => {
  const secrets = new Set(Array.from({ length: 1_000 }, createSecret));
  assert.equal(secrets.size, 1_000);
});

test('changing any one character breaks the checksum', () => {
  const secret = createSecret();
  for (let index = 0; index < secret.length; index++) {
    const other = secret.charAt(index) === 'A' ? 'B' : 'A';
    const mistyped = secret.slice(0, index) + other + secret.slice(index + 1);
    assert.equal(hasValidChecksum(mistyped), false, mistyped);
  }
});

test('texts of another form have no valid checksum', () => {
  const secret = createSecret();
  for (const text of ['', 'pst_', secret.slice(1), `${secret}0`, `${secret}\n`, ` ${secret}`, secret.slice(0, -1)]) {
    assert.equal(hasValidChecksum(text), false, JSON.stringify(text));
  }
});

test('the checksum is the CRC-32 of everything before it', () => {
  // Computed bit by bit, independent of the implementation.
  const body = `pst_${'0'.repeat(43)}`;
  let crc = 0xffffffff;
  for (const byte of Buffer.from(body)) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
  }
  let rest = (crc ^ 0xffffffff) >>> 0;
  let checksum = '';
  const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
  for (let index = 0; index < 6; index++) {
    checksum = alphabet.charAt(rest % 62) + checksum;
    rest = Math.floor(rest / 62);
  }
  assert.equal(hasValidChecksum(body + checksum), true);
});

test("a secret of one type is invalid as another type, even with the other type's prefix", () => {
  const token = createSecretWith('psa_');
  assert.match(token, /^psa_[0-9A-Za-z]{49}$/);
  assert.deepEqual([isSecretWith('psa_', token), hasValidChecksum(token)], [true, false]);
  // The checksum covers the prefix.
  assert.equal(hasValidChecksum(token.replace('psa_', 'pst_')), false);
  assert.equal(isSecretWith('psa_', createSecret()), false);
});

test('the digest is the SHA-256 of the UTF-8 bytes in lower-case hex', () => {
  for (const secret of [createSecret(), 'schlüssel-mit-umlaut-und-länge', '']) {
    assert.equal(digestOf(secret), createHash('sha256').update(Buffer.from(secret, 'utf8')).digest('hex'));
  }
});

test('the hint shows eight characters and no more', () => {
  assert.equal(hintOf('pst_0123456789'), 'pst_0123…');
});
