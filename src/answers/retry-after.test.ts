import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { parseRetryAfterMs } from './verdict.ts';

const nowMs = Date.UTC(2027, 0, 31, 23, 59, 30);

test('parses seconds, with decimals too', () => {
  const read = ['0', '7', '120', '0.5', '1.25', ' 3 '].map((value) => parseRetryAfterMs(value, nowMs));
  assert.deepEqual(read, [0, 7_000, 120_000, 500, 1_250, 3_000]);
});

test('parses a date in each of the three formats of HTTP', () => {
  for (const date of ['Mon, 01 Feb 2027 00:00:00 GMT', 'Monday, 01-Feb-27 00:00:00 GMT', 'Mon Feb  1 00:00:00 2027']) {
    assert.equal(parseRetryAfterMs(date, nowMs), 30_000, date);
  }
  assert.equal(parseRetryAfterMs('Wed Feb 10 00:00:00 2027', nowMs), 9 * 86_400_000 + 30_000);
});

test('a past date means now', () => {
  for (const date of ['Sun, 06 Nov 1994 08:49:37 GMT', 'Sunday, 06-Nov-94 08:49:37 GMT', 'Sun Nov  6 08:49:37 1994']) {
    assert.equal(parseRetryAfterMs(date, nowMs), 0, date);
  }
});

test('a two-digit year is at most fifty years ahead', () => {
  const yearsAhead = (digits: string) =>
    Math.round(
      (parseRetryAfterMs(`Friday, 31-Jan-${digits} 23:59:30 GMT`, nowMs) ?? Number.NaN) / (365.25 * 86_400_000),
    );
  assert.equal(yearsAhead('28'), 1);
  assert.equal(yearsAhead('77'), 50);
  assert.equal(yearsAhead('78'), 0);
});

test('a leap second is the first second of the next minute', () => {
  assert.equal(parseRetryAfterMs('Sun, 31 Jan 2027 23:59:60 GMT', nowMs), 30_000);
});

test('ignores absent, negative and invalid values', () => {
  assert.equal(parseRetryAfterMs(undefined, nowMs), undefined);
  const nonsense = [
    '',
    ' ',
    '-1',
    '+1',
    '1e3',
    '0x10',
    '1,5',
    '.5',
    '5.',
    '30s',
    '1 2',
    'soon',
    'NaN',
    'Infinity',
    '9'.repeat(400),
    '2027-02-01T00:00:00Z',
    'Mon, 01 Feb 2027 00:00:00',
    'Mon, 01 Feb 2027 00:00:00 +0100',
    'Mon, 1 Feb 2027 00:00:00 GMT',
    'Mon, 00 Feb 2027 00:00:00 GMT',
    'Mon, 30 Feb 2027 00:00:00 GMT',
    'Mon, 01 Fev 2027 00:00:00 GMT',
    'Mon, 01 Feb 2027 24:00:00 GMT',
    'Mon, 01 Feb 2027 00:60:00 GMT',
    'Mon, 01 Feb 2027 00:00:00 GMT, 5',
  ];
  for (const value of nonsense) assert.equal(parseRetryAfterMs(value, nowMs), undefined, JSON.stringify(value));
});

test('parses the date that toUTCString() writes for any second of the next centuries', () => {
  const anySecond = fc.integer({ min: nowMs / 1000, max: Date.UTC(2400, 0) / 1000 });
  fc.assert(
    fc.property(anySecond, (second) => {
      assert.equal(parseRetryAfterMs(new Date(second * 1000).toUTCString(), nowMs), second * 1000 - nowMs);
    }),
  );
});

test('never throws, and returns only finite delays', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.stringMatching(/^[\d. -]*$/)), (value) => {
      const waitMs = parseRetryAfterMs(value, nowMs);
      assert.ok(waitMs === undefined || (waitMs >= 0 && Number.isFinite(waitMs)));
    }),
  );
});
