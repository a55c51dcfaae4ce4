import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readUnits, sumOfUnits } from './units.ts';

test('units of two requests are added up, and fields such as service tier are kept only where both agree', () => {
  const one = { images: 2, seconds: 0.5, toolCalls: { web_search: 1 }, serviceTier: 'flex', speed: 'fast' };
  const other = { seconds: 1, toolCalls: { web_search: 2, file_search: 1 }, serviceTier: 'flex', speed: 'standard' };
  const sum = { images: 2, seconds: 1.5, toolCalls: { web_search: 3, file_search: 1 }, serviceTier: 'flex' };
  assert.deepEqual(sumOfUnits(one, other), sum);
  assert.equal(sumOfUnits(one, undefined), one);
  assert.equal(sumOfUnits(undefined, undefined), undefined);
});

test('reads the stored units that this version knows, and ignores unknown or invalid ones', () => {
  assert.equal(readUnits({ images: -1, seconds: 'long', holograms: 4, toolCalls: { a: 0 } }), undefined);
  assert.deepEqual(readUnits({ images: 1, toolCalls: { a: 1, b: Number.NaN } }), { images: 1, toolCalls: { a: 1 } });
  assert.equal(readUnits(['images']), undefined);
});
