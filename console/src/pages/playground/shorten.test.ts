import assert from 'node:assert/strict';
import { test } from 'node:test';
import { shorten } from './call-text.ts';

test('short values are plain JSON', () => {
  const value = { a: [1, 2], b: { c: 'text' }, d: [], e: {}, f: [null, true, '<b>'] };
  const { text, isShortened } = shorten(value);
  assert.deepEqual(JSON.parse(text), value);
  assert.equal(isShortened, false);
});

test('long vectors, lists and texts are shortened with a note', () => {
  const vector = Array.from({ length: 768 }, (_, index) => index);
  const { text, isShortened } = shorten({ data: [{ embedding: vector }], long: 'x'.repeat(5_000) });
  assert.ok(text.includes('[0, 1, 2, 3, 4, 5, 6, 7, … 760 more]'));
  assert.ok(text.includes('3000 more characters'));
  assert.ok(text.length < 3_000);
  assert.equal(isShortened, true);
  assert.ok(shorten(Array.from({ length: 100 }, () => 'a')).text.includes('… 40 more'));
});
