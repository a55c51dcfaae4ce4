import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { Canaries } from './canaries.ts';

const mark = 'Zq7vKx2pWt9mB4';

test('finds a canary secret in every encoding, at any position', async () => {
  const canaries = new Canaries(mark);
  const text = canaries.make('password', '/+=end');
  const disguises: readonly string[] = [
    text,
    text.toUpperCase(),
    [...text].reverse().join(''),
    Buffer.from(text).toString('hex'),
    encodeURIComponent(text),
    JSON.stringify({ a: text }),
    JSON.stringify({ a: [...text].map((one) => `\\u00${one.charCodeAt(0).toString(16)}`).join('') }),
    ...['', 'a', 'ab', 'abc'].map((before) => Buffer.from(`${before}${text}behind`).toString('base64')),
    ...['', 'a', 'ab', 'abc'].map((before) => Buffer.from(`user:${before}${text}`).toString('base64url')),
    JSON.stringify(Buffer.from(text)),
    createHash('sha256').update(text).digest('hex'),
    createHash('sha256').update(text).digest('hex').slice(0, 32),
  ];
  for (const disguise of disguises) {
    const found = await canaries.find([{ location: 'somewhere', bytes: Buffer.from(`before ${disguise} behind`) }]);
    assert.notEqual(found.length, 0, disguise);
  }
});

test('finds no canary secret in similar text', async () => {
  const canaries = new Canaries(mark);
  canaries.make('password');
  canaries.add('key', 'pst_abcdefghijklmnopqrstuvwxyz', { part: 'efghijklmnopqrstuvwxyz', digests: false });
  const others = [mark.slice(1), 'password', 'pst_abcd…', createHash('sha256').update(mark).digest('hex')];
  assert.deepEqual(await canaries.find(others.map((text) => ({ location: text, bytes: Buffer.from(text) }))), []);
});
