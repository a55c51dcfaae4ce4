import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  addedTo,
  type Measurement,
  median,
  ratioOf,
  requestsPerCpuSecond,
  type Series,
  spread,
  toMeasurement,
  voidReason,
} from './measurement.ts';

const rate = ({ rps }: Measurement): number => rps;

function series(rates: readonly number[], more: Partial<Series> = {}): Series {
  const rounds = rates.map(
    (rps): Measurement => ({
      rps,
      bytesPerSecond: 0,
      p50Us: 0,
      p99Us: 0,
      p999Us: 0,
      errors: {},
      cpuUs: undefined,
      kernelUs: undefined,
      rssBytes: undefined,
    }),
  );
  return { subject: 'any', rounds, warmUpUs: [], void: undefined, ...more };
}

test('the median of an even number of values lies between the middle two', () => {
  assert.equal(median([9, 1, 5]), 5);
  assert.equal(median([9, 1, 5, 6]), 5.5);
  assert.equal(median([]), undefined);
});

test('a ratio compares both programs within each round, so that a slowing machine does not change it', () => {
  assert.equal(ratioOf(series([80, 40, 20]), series([100, 50, 25]), rate), 0.8);
  // The ratio of the medians would be 0.4.
  assert.equal(ratioOf(series([100, 40, 20]), series([100, 100, 20]), rate), 1);
});

test('a CPU ratio leaves out rounds without CPU time', () => {
  const seriesOf = (values: readonly (number | undefined)[]): Series => ({
    subject: 'any',
    rounds: series(values.map(() => 1)).rounds.map((one, at) => ({ ...one, cpuUs: values[at] })),
    warmUpUs: [],
    void: undefined,
  });
  assert.equal(ratioOf(seriesOf([0.5, undefined, 0.5]), seriesOf([0.25, 0.25, undefined]), requestsPerCpuSecond), 0.5);
  assert.equal(ratioOf(seriesOf([undefined]), seriesOf([undefined]), requestsPerCpuSecond), undefined);
});

test("CPU time is reported per request, with the kernel's part", () => {
  const load = { requests: 1_000, seconds: 2, bytes: 0, p50Us: 0, p99Us: 0, p999Us: 0, errors: {} };
  const { cpuUs, kernelUs, rps } = toMeasurement(load, { userSeconds: 0.25, kernelSeconds: 0.5 }, undefined);
  assert.deepEqual([cpuUs, kernelUs, rps], [750, 500, 500]);
  assert.equal(toMeasurement(load, undefined, undefined).cpuUs, undefined);
});

test('the added latency is the median of the differences within a round', () => {
  assert.equal(addedTo(series([10, 20, 90]), series([12, 25, 91]), rate), 2);
  assert.equal(addedTo(undefined, series([1]), rate), undefined);
  assert.equal(addedTo(series([1], { void: 'any' }), series([1]), rate), undefined);
});

test('a program without measurements has no ratio', () => {
  assert.equal(ratioOf(series([1], { void: '1 status errors' }), series([1]), rate), undefined);
  assert.equal(ratioOf(series([1]), series([1], { void: '1 status errors' }), rate), undefined);
  assert.equal(ratioOf(series([1]), undefined, rate), undefined);
});

test('the spread is the range as a share of the median', () => {
  assert.equal(spread(series([90, 100, 120])), 0.3);
});

test('one error makes a run void', () => {
  assert.equal(voidReason({ connect: 0, status: 0 }), undefined);
  assert.equal(voidReason({ connect: 0, status: 1, timeout: 2 }), '1 status errors, 2 timeout errors');
});
