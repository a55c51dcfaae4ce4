import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fromBytes, fromMilliseconds, toBytes, toMilliseconds } from './quantities.ts';

test('reads times in every unit', () => {
  const read = ['500ms', '30s', '1.5s', '5m', '2h', '1d', '0s'].map(toMilliseconds);
  assert.deepEqual(read, [500, 30_000, 1500, 300_000, 7_200_000, 86_400_000, 0]);
});

test('reads sizes in every unit', () => {
  assert.deepEqual(['1B', '8KiB', '32MiB', '1GiB', '0.5KiB'].map(toBytes), [1, 8192, 33_554_432, 1_073_741_824, 512]);
});

test('reads nothing into a text without a unit, with a foreign one, or with something beside it', () => {
  for (const text of ['', '30', '30 s', '-1s', '30sec', '1e3s', 's', ' 30s', '30s\n', '0x10s', '1.s', '.5s']) {
    assert.equal(toMilliseconds(text), undefined, JSON.stringify(text));
  }
  for (const text of ['32', '32MB', '32 MiB', '32mib', 'MiB', '-1B', '1.5B']) {
    assert.equal(toBytes(text), undefined, JSON.stringify(text));
  }
});

test('refuses what a number cannot hold exactly', () => {
  assert.equal(toMilliseconds('0.5ms'), undefined);
  assert.equal(toMilliseconds(`${'9'.repeat(30)}d`), undefined);
});

test('writes a quantity in the largest unit that leaves a whole number, and reads it back', () => {
  assert.deepEqual([600_000, 90_000, 1500, 0].map(fromMilliseconds), ['10m', '90s', '1500ms', '0s']);
  assert.deepEqual([33_554_432, 1000, 0].map(fromBytes), ['32MiB', '1000B', '0B']);
  for (const ms of [1, 999, 61_000, 86_400_000]) assert.equal(toMilliseconds(fromMilliseconds(ms)), ms);
});
