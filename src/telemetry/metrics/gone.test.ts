import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Gone } from './gone.ts';

test('who is gone is remembered, until so many others went later; who comes back is not gone', () => {
  const gone = new Gone(2);
  assert.deepEqual(gone.notice(['a', 'b', 'c', 'd']), []);
  assert.deepEqual(gone.notice(['b', 'c', 'd']), []);
  assert.deepEqual(gone.notice(['c', 'd']), []);
  assert.deepEqual(gone.notice(['a', 'c', 'd']), []); // a is back
  assert.deepEqual(gone.notice(['a', 'd']), []); // b and c are gone
  assert.deepEqual(gone.notice(['d']), ['b']);
  assert.deepEqual(gone.notice([]), ['c']);
  assert.deepEqual(gone.notice([]), []);
});
