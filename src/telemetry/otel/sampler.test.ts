import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Sampler } from './tracer.ts';

const keys = new Set(['debugging']);

/** How many of a number of requests are traced. */
function traced(
  sampler: Sampler,
  count: number,
  wanted: (index: number) => boolean | undefined,
  sample: number,
  keyId?: string,
) {
  let sum = 0;
  for (let i = 0; i < count; i += 1) if (sampler.isTraced({ wanted: wanted(i), keyId }, { sample, keys })) sum += 1;
  return sum;
}

test('the configured share of requests without a client trace is sampled', () => {
  let next = 0;
  const evenly = () => (next++ % 1_000) / 1_000;
  assert.equal(
    traced(new Sampler(evenly), 10_000, () => undefined, 0.01),
    100,
  );
  assert.equal(
    traced(new Sampler(evenly), 1_000, () => undefined, 0),
    0,
  );
  assert.equal(
    traced(new Sampler(evenly), 1_000, () => undefined, 1),
    1_000,
  );
});

test('if clients sample at most the configured share, all traces they sample are recorded', () => {
  assert.equal(
    traced(new Sampler(Math.random), 10_000, (index) => index % 100 === 0, 0.01),
    100,
  );
});

test('if clients sample every request, only the configured share is recorded', () => {
  const count = traced(new Sampler(Math.random), 10_000, () => true, 0.01);
  assert.ok(count >= 100 && count <= 101, String(count));
  assert.equal(
    traced(new Sampler(Math.random), 1_000, () => true, 1),
    1_000,
  );
  assert.equal(
    traced(new Sampler(Math.random), 1_000, () => true, 0),
    0,
  );
});

test('a trace that a client does not sample is not recorded', () => {
  assert.equal(
    traced(new Sampler(Math.random), 1_000, () => false, 1),
    0,
  );
});

test("every sampled request of the operator's listed keys is recorded", () => {
  assert.equal(
    traced(new Sampler(Math.random), 1_000, () => true, 0, 'debugging'),
    1_000,
  );
  assert.equal(
    traced(new Sampler(Math.random), 1_000, () => false, 0, 'debugging'),
    0,
  );
  assert.equal(
    traced(new Sampler(Math.random), 1_000, () => true, 0, 'other'),
    0,
  );
});
