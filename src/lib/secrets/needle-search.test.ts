import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { NeedleSearch } from './needle-search.ts';

/** Few letters, so that texts overlap, restart and nearly match. */
const letters = (minLength: number, maxLength: number) =>
  fc.string({ unit: fc.constantFrom('a', 'b', 'c'), minLength, maxLength });

function firstOf(needles: readonly string[], text: string): number {
  const starts = needles.map((needle) => text.indexOf(needle)).filter((start) => start !== -1);
  return starts.length === 0 ? -1 : Math.min(...starts);
}

function beginningAtEnd(needles: readonly string[], text: string): number {
  for (let start = 0; start < text.length; start += 1) {
    const end = text.slice(start);
    if (needles.some((needle) => needle.length > end.length && needle.startsWith(end))) return end.length;
  }
  return 0;
}

test('finds the first of many needles at any offset', () => {
  fc.assert(
    fc.property(fc.array(letters(4, 12), { maxLength: 5 }), letters(0, 60), (needles, text) => {
      assert.equal(new NeedleSearch(needles).find(Buffer.from(text)), firstOf(needles, text));
    }),
    { numRuns: 2_000 },
  );
});

test('finds the longest partial needle at the end', () => {
  fc.assert(
    fc.property(fc.array(letters(4, 12), { maxLength: 5 }), letters(0, 30), (needles, text) => {
      assert.equal(new NeedleSearch(needles).beginningAtEnd(Buffer.from(text)), beginningAtEnd(needles, text));
    }),
    { numRuns: 2_000 },
  );
});

test('finds a needle at every position among any bytes', () => {
  const needle = 'sk-Qz7xVw3kJp9mHt2cRb6n';
  const search = new NeedleSearch([needle, 'another-needle-that-is-longer-than-it']);
  for (let before = 0; before < 100; before += 1) {
    const bytes = Buffer.concat([Buffer.alloc(before, 0xff), Buffer.from(needle), Buffer.alloc(before % 7, 0x73)]);
    assert.equal(search.find(bytes), before);
    assert.equal(search.find(bytes.subarray(0, before + needle.length - 1)), -1);
    assert.equal(search.find(bytes.subarray(before + 1)), -1);
  }
});

test('finds nothing without needles', () => {
  const search = new NeedleSearch([]);
  assert.equal(search.isEmpty, true);
  assert.equal(search.find(Buffer.from('anything at all')), -1);
  assert.equal(search.beginningAtEnd(Buffer.from('anything at all')), 0);
});

test('refuses a needle shorter than the search step', () => {
  assert.throws(() => new NeedleSearch(['abc']), RangeError);
});
