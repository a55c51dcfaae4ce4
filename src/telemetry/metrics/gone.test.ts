import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Gone } from './metrics.ts';

test('keeps up to a limit of recently deleted names, and reports each older one that has not returned', () => {
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
