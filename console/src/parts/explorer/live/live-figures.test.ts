import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LiveSample } from '../../../../../src/admin/contract.ts';
import { minuteFor, rateAt, resultOf, savings, stepMs, toPoints } from './live-figures.ts';

const startMs = Date.UTC(2026, 10, 21, 12);

function sample(second: number, more: Partial<LiveSample> = {}): LiveSample {
  const requests = more.requests ?? 0;
  return {
    at: new Date(startMs + second * 1000).toISOString(),
    spanMs: 1000,
    requests,
    byOutcome: { ok: requests },
    byStatus: {},
    byOperation: {},
    latency: null,
    firstByte: null,
    inputTokens: 0,
    outputTokens: 0,
    cost: '0',
    items: 0,
    savedItems: 0,
    saved: '0',
    unpriced: 0,
    attempts: {},
    retries: 0,
    limitHits: 0,
    budgetHits: 0,
    inFlight: 0,
    loopDelayMs: null,
    cpuShare: null,
    memoryBytes: null,
    journalBytes: null,
    journalOldestMs: null,
    ...more,
  };
}

test('the share of items from the cache is that of the last minute, and unknown without items', () => {
  assert.equal(savings([sample(0, { items: 5 })]), undefined);
  assert.equal(savings([sample(0, { items: 5, savedItems: 5 }), sample(61, { items: 2 })]), undefined);
  const samples = [sample(0, { items: 50 }), sample(70, { items: 4, savedItems: 9, saved: '0.02' })];
  assert.deepEqual(savings([...samples, sample(71, { items: 2, savedItems: 1, saved: '0.01' })]), {
    share: 0.625,
    dollars: 0.03,
  });
});

test('broken-off and lost requests count as failed, and those that the client left as cancelled', () => {
  const one = sample(0, { requests: 7, byOutcome: { ok: 1, error: 1, cut: 1, lost: 1, refused: 2, aborted: 1 } });
  assert.deepEqual(
    ['succeeded', 'failed', 'refused', 'cancelled'].map((result) => resultOf(one, result)),
    [1, 3, 2, 1],
  );
});

test('points of the live chart are at fixed times, and unknown without a sample', () => {
  const samples = [sample(0, { requests: 10 }), sample(13, { requests: 2 })];
  const points = toPoints(samples);
  assert.equal(points.length, 60);
  assert.equal(points.at(-1)?.atMs, startMs + 10_000);
  for (const { atMs } of points) assert.equal(atMs % stepMs, 0);
  assert.deepEqual(
    points.slice(-3).map((point) => rateAt(point, ({ requests }) => requests)),
    [10, null, 2],
  );
  assert.deepEqual(toPoints([]), []);
});

test('a live chart point without samples gets the value of its minute, also between points with samples', () => {
  const points = toPoints([sample(0), sample(125)]);
  const times = [0, 60, 120].map((second) => new Date(startMs + second * 1000).toISOString());
  const minuteAt = (second: number) => {
    const point = points.find(({ atMs }) => atMs === startMs + second * 1000);
    return point && minuteFor(point, times);
  };
  assert.deepEqual([-5, 0, 5, 70, 120, 125].map(minuteAt), [-1, -1, 0, 1, 2, -1]);
});
