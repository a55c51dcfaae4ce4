import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fromBytes, fromMilliseconds, toBytes, toInstantMs, toMilliseconds } from './quantities.ts';

test('parses durations in every unit', () => {
  const read = ['500ms', '30s', '1.5s', '5m', '2h', '1d', '0s'].map(toMilliseconds);
  assert.deepEqual(read, [500, 30_000, 1500, 300_000, 7_200_000, 86_400_000, 0]);
});

test('parses sizes in every unit', () => {
  assert.deepEqual(['1B', '8KiB', '32MiB', '1GiB', '0.5KiB'].map(toBytes), [1, 8192, 33_554_432, 1_073_741_824, 512]);
});

test('refuses a missing or unknown unit, and trailing text', () => {
  for (const text of ['', '30', '30 s', '-1s', '30sec', '1e3s', 's', ' 30s', '30s\n', '0x10s', '1.s', '.5s']) {
    assert.equal(toMilliseconds(text), undefined, JSON.stringify(text));
  }
  for (const text of ['32', '32MB', '32 MiB', '32mib', 'MiB', '-1B', '1.5B']) {
    assert.equal(toBytes(text), undefined, JSON.stringify(text));
  }
});

test('refuses values that a number cannot hold exactly', () => {
  assert.equal(toMilliseconds('0.5ms'), undefined);
  assert.equal(toMilliseconds(`${'9'.repeat(30)}d`), undefined);
});

test('formats a quantity in the largest whole unit, and parses it back', () => {
  assert.deepEqual([600_000, 90_000, 1500, 0].map(fromMilliseconds), ['10m', '90s', '1500ms', '0s']);
  assert.deepEqual([33_554_432, 1000, 0].map(fromBytes), ['32MiB', '1000B', '0B']);
  for (const ms of [1, 999, 61_000, 86_400_000]) assert.equal(toMilliseconds(fromMilliseconds(ms)), ms);
});

test('parses days and times, and refuses those that do not exist or have no zone', () => {
  const day = Date.UTC(2028, 1, 29);
  const written = ['2028-02-29', '2028-02-29T01:00Z', '2028-02-29T01:00:00+01:00', '2028-02-29T00:00:00.123456789Z'];
  assert.deepEqual(written.map(toInstantMs), [day, day + 3_600_000, day, day + 123]);
  for (const text of ['', '2027-02-30', '2027-13-01', '2027-02-01T01:00', '2027-02-01T25:00Z', '2027-2-1', '1d']) {
    assert.equal(toInstantMs(text), undefined, text);
  }
});
