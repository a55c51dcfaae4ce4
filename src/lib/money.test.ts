import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { mostNanos, parseDollars, toDollars } from './money.ts';

test('parses an amount to the nano-dollar', () => {
  assert.equal(parseDollars('0'), 0);
  assert.equal(parseDollars('12.5'), 12_500_000_000);
  assert.equal(parseDollars('0.000000001'), 1);
  assert.equal(parseDollars('0.1'), 100_000_000);
  assert.equal(parseDollars('9000000'), mostNanos);
});

test('refuses invalid amounts', () => {
  const strange = ['', '-1', '+1', '1e3', '12 EUR', '$1', '1,5', '01', '.5', '5.', '0.0000000001', '9000000.1', 'NaN'];
  for (const text of strange) assert.equal(parseDollars(text), undefined, text);
});

test('formats an amount without rounding, however large', () => {
  assert.equal(toDollars(0), '0');
  assert.equal(toDollars(1), '0.000000001');
  assert.equal(toDollars(12_500_000_000), '12.5');
  assert.equal(toDollars(-1_500_000_000), '-1.5');
  assert.equal(toDollars(123_456_789_012_345_678_901n), '123456789012.345678901');
});

test('parses a formatted amount to the same value', () => {
  fc.assert(fc.property(fc.integer({ min: 0, max: mostNanos }), (nanos) => parseDollars(toDollars(nanos)) === nanos));
});
