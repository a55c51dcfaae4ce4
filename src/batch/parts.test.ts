import assert from 'node:assert/strict';
import { Buffer } from 'node:buffer';
import { test } from 'node:test';
import type { ListLimits } from '../core/translation.ts';
import { fits, inParts } from './parts.ts';

const sizes = (texts: readonly unknown[], limits: ListLimits, besideTokens?: number): number[] => {
  const items = texts.map((text) => Buffer.from(JSON.stringify(text)));
  const parts = [...inParts(items, (item) => item, limits, besideTokens)];
  assert.ok(parts.every((part) => fits(part, limits, besideTokens)));
  assert.deepEqual(parts.flat(), items);
  return parts.map((part) => part.length);
};

const six = 'x'.repeat(6);

test('the parts of a split list stay within the token limit by estimate, including tokens read with each item', () => {
  assert.deepEqual(sizes([six, six, six, six, six, six], { tokens: 10 }), [5, 1]);
  assert.deepEqual(sizes([six, six, six, six], { tokens: 10 }, 1), [3, 1]);
  assert.deepEqual(sizes([[1, 2, 3], [4, 5], [6]], { tokens: 5 }), [2, 1]);
});

test('a list item above the token limit becomes a part of its own', () => {
  assert.deepEqual(sizes(['x'.repeat(99), 'a', 'x'.repeat(99)], { tokens: 10 }), [1, 1, 1]);
  assert.deepEqual(sizes(['x'.repeat(99), 'a', 'b'], { bytes: 20 }), [1, 2]);
});

test('the parts of a split list stay within the item and byte limits', () => {
  assert.deepEqual(sizes(['a', 'b', 'c', 'd', 'e'], { items: 2 }), [2, 2, 1]);
  assert.deepEqual(sizes(['a', 'b', 'c', 'd', 'e'], { bytes: 12 }), [3, 2]);
  assert.deepEqual(sizes(['a', 'b', 'c'], {}), [3]);
});
