import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BodyFaults } from './target-health.ts';

test('failures with one request body do not count; a failure with a second body makes both count', () => {
  const bodyFaults = new BodyFaults();
  assert.deepEqual(
    ['a', 'a', 'a', 'b', 'b', 'a', 'c'].map((body) => bodyFaults.weigh(body, false)),
    [0, 0, 0, 2, 1, 1, 1],
  );
});

test('a success forgets the bodies that failed before it', () => {
  const bodyFaults = new BodyFaults();
  bodyFaults.weigh('a', false);
  bodyFaults.clear();
  assert.equal(bodyFaults.weigh('b', false), 0);
  assert.equal(bodyFaults.weigh('c', false), 2);
  bodyFaults.clear();
  assert.equal(bodyFaults.weigh('c', false), 0);
});

test('a failure attributed to its request body is treated as if it had not happened', () => {
  const bodyFaults = new BodyFaults();
  bodyFaults.excuse('a', bodyFaults.weigh('a', false));
  assert.equal(bodyFaults.weigh('b', false), 0, 'alone again');
  bodyFaults.excuse('c', bodyFaults.weigh('c', false));
  assert.equal(bodyFaults.weigh('d', false), 2, 'the one before it still stands');
});

test('with one body, the first two 503s or 529s do not count, the third counts for three, and later ones for one', () => {
  const bodyFaults = new BodyFaults();
  const weights = (count: number): number[] => Array.from({ length: count }, () => bodyFaults.weigh('a', true));
  assert.deepEqual(weights(5), [0, 0, 3, 1, 1]);
  assert.deepEqual([bodyFaults.counted, bodyFaults.isOnly('a'), bodyFaults.isOnly('b')], [5, true, false]);
  assert.equal(bodyFaults.weigh('a', false), 0, 'a 500 in between counts for nothing');
  assert.equal(bodyFaults.weigh('b', false), 1, 'those of the first body have counted');
  assert.equal(bodyFaults.isOnly('a'), false);
  bodyFaults.clear();
  assert.deepEqual(weights(3), [0, 0, 3]);
});

test('a body to which its 503s were attributed still counts as the first of two failing bodies', () => {
  const bodyFaults = new BodyFaults();
  for (let n = 0; n < 4; n += 1) bodyFaults.weigh('a', true);
  bodyFaults.excuseUnavailable();
  assert.deepEqual([bodyFaults.counted, bodyFaults.isOnly('a')], [0, false]);
  assert.equal(bodyFaults.weigh('a', true), 0);
  assert.equal(bodyFaults.weigh('b', true), 2);
});
