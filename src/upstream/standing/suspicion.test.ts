import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Suspicion } from './suspicion.ts';

test('one body counts for nothing, however often it comes; the second brings the first along, and then each counts', () => {
  const suspicion = new Suspicion();
  assert.deepEqual(
    ['a', 'a', 'a', 'b', 'b', 'a', 'c'].map((body) => suspicion.weigh(body, false)),
    [0, 0, 0, 2, 1, 1, 1],
  );
});

test('whoever is served clears it', () => {
  const suspicion = new Suspicion();
  suspicion.weigh('a', false);
  suspicion.clear();
  assert.equal(suspicion.weigh('b', false), 0);
  assert.equal(suspicion.weigh('c', false), 2);
  suspicion.clear();
  assert.equal(suspicion.weigh('c', false), 0);
});

test('a body that was to blame is as if it had not come', () => {
  const suspicion = new Suspicion();
  suspicion.excuse('a', suspicion.weigh('a', false));
  assert.equal(suspicion.weigh('b', false), 0, 'alone again');
  suspicion.excuse('c', suspicion.weigh('c', false));
  assert.equal(suspicion.weigh('d', false), 2, 'the one before it still stands');
});

test('503 and 529 count from the third in a row to one body, which brings the two before it along', () => {
  const suspicion = new Suspicion();
  const weights = (count: number): number[] => Array.from({ length: count }, () => suspicion.weigh('a', true));
  assert.deepEqual(weights(5), [0, 0, 3, 1, 1]);
  assert.deepEqual([suspicion.counted, suspicion.isOnly('a'), suspicion.isOnly('b')], [5, true, false]);
  assert.equal(suspicion.weigh('a', false), 0, 'a 500 in between counts for nothing');
  assert.equal(suspicion.weigh('b', false), 1, 'those of the first body have counted');
  assert.equal(suspicion.isOnly('a'), false);
  suspicion.clear();
  assert.deepEqual(weights(3), [0, 0, 3]);
});

test('one body that is to blame for its 503 still is the first of two that prove a failing target', () => {
  const suspicion = new Suspicion();
  for (let n = 0; n < 4; n += 1) suspicion.weigh('a', true);
  suspicion.excuseUnavailable();
  assert.deepEqual([suspicion.counted, suspicion.isOnly('a')], [0, false]);
  assert.equal(suspicion.weigh('a', true), 0);
  assert.equal(suspicion.weigh('b', true), 2);
});
