import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Suspicion } from './suspicion.ts';

test('one body counts for nothing, however often it comes; the second brings the first along, and then each counts', () => {
  const suspicion = new Suspicion();
  assert.deepEqual(
    ['a', 'a', 'a', 'b', 'b', 'a', 'c'].map((body) => suspicion.weigh(body)),
    [0, 0, 0, 2, 1, 1, 1],
  );
});

test('whoever is served clears it', () => {
  const suspicion = new Suspicion();
  suspicion.weigh('a');
  suspicion.clear();
  assert.equal(suspicion.weigh('b'), 0);
  assert.equal(suspicion.weigh('c'), 2);
  suspicion.clear();
  assert.equal(suspicion.weigh('c'), 0);
});

test('a body that was to blame is as if it had not come', () => {
  const suspicion = new Suspicion();
  suspicion.excuse('a', suspicion.weigh('a'));
  assert.equal(suspicion.weigh('b'), 0, 'alone again');
  suspicion.excuse('c', suspicion.weigh('c'));
  assert.equal(suspicion.weigh('d'), 2, 'the one before it still stands');
});
