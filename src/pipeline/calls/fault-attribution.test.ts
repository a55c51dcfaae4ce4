import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TargetLease } from '../../core/dispatch.ts';
import type { Answer } from '../../core/outcome.ts';
import { FaultAttribution } from './fault-attribution.ts';

/** The targets excused if each of these answered with its status and none succeeded. */
function excusedOf(statuses: readonly number[], targets: readonly string[] = ['a', 'b', 'c']): number[] {
  const faults = new FaultAttribution();
  const excused: number[] = [];
  for (const [index, status] of statuses.entries()) {
    const candidate = { target: targets[index] };
    faults.add({ candidate, excused: () => void excused.push(index) } as unknown as TargetLease, { status } as Answer);
  }
  faults.excuse();
  return excused;
}

test('targets that fail with the same status are excused, as the request is at fault; a unique failure is not', () => {
  assert.deepEqual(excusedOf([500]), []);
  assert.deepEqual(excusedOf([500, 500]), [0, 1]);
  assert.deepEqual(excusedOf([500, 501]), []);
  assert.deepEqual(excusedOf([501, 500, 501]), [0, 2]);
});

test('two equal failures of one target are excused only if another target fails in the same way', () => {
  assert.deepEqual(excusedOf([500, 500], ['a', 'a']), []);
  assert.deepEqual(excusedOf([500, 500, 500], ['a', 'a', 'b']), [0, 1, 2]);
});

test('targets that answer 502 or 503 are not excused, even if two do so', () => {
  assert.deepEqual(excusedOf([503, 503]), []);
  assert.deepEqual(excusedOf([500, 502, 500]), [0, 2]);
});
