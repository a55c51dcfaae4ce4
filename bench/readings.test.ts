import assert from 'node:assert/strict';
import { test } from 'node:test';
import { allocationPerRequest, type Reading } from './readings.ts';

const reading = (atUs: number, allocatedBytes: number): Reading => ({
  atUs,
  allocatedBytes,
  outsideBytes: allocatedBytes / 2,
  collections: atUs / 10,
  collectionUs: 0,
  heldBytes: 0,
  rssBytes: 0,
});

test('allocations outside the measured interval do not count', () => {
  const readings = [reading(0, 0), reading(110, 1_000), reading(160, 6_000), reading(300, 1_000_000)];
  // 50 of the span's 100 microseconds, and so half of its requests.
  assert.deepEqual(allocationPerRequest(readings, { fromUs: 100, toUs: 200 }, 20), {
    allocatedBytes: 500,
    outsideBytes: 250,
    collections: 0.5,
    collectionUs: 0,
  });
});

test('fewer than two memory readings give no result', () => {
  assert.equal(allocationPerRequest([reading(110, 1)], { fromUs: 100, toUs: 200 }, 20), undefined);
  assert.equal(allocationPerRequest([], { fromUs: 100, toUs: 200 }, 20), undefined);
});
