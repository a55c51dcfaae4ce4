import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mostDifferences, toDifferences } from './differences.ts';

const lines = (before: unknown, after: unknown): string[] =>
  toDifferences(before, after).map(({ path, kind, before: was, after: is }) => `${kind} ${path}: ${was} > ${is}`);

test('lists only differences, by path in the document', () => {
  const before = { name: 'a', limits: { rpm: 60, tpm: 1 }, targets: [{ upstream: 'near', weight: 1 }], models: ['x'] };
  const after = {
    name: 'a',
    limits: { rpm: 120, tpm: 1 },
    targets: [{ upstream: 'far', weight: 1 }],
    models: ['x', 'y'],
  };
  assert.deepEqual(lines(before, after), [
    'changed limits.rpm: 60 > 120',
    'changed targets[0].upstream: near > far',
    'changed models: ["x"] > ["x","y"]',
  ]);
});

test('a created or deleted document shows all its fields', () => {
  assert.deepEqual(lines(null, { a: 1, b: { c: true } }), ['added a: undefined > 1', 'added b.c: undefined > true']);
  assert.deepEqual(lines({ a: 1 }, null), ['removed a: 1 > undefined']);
  assert.deepEqual(lines({ a: null }, { a: 2 }), ['added a: undefined > 2']);
});

test('values that are no objects, or of different types, are shown whole as one difference', () => {
  assert.deepEqual(lines('30d', '7d'), ['changed : 30d > 7d']);
  assert.deepEqual(lines({ a: [1] }, { a: { b: 1 } }), ['changed a: [1] > {"b":1}']);
  assert.deepEqual(lines(null, null), []);
  assert.deepEqual(lines({ a: 1 }, { a: 1 }), []);
});

test('lists fields with names such as __proto__, and at most a maximum of differences', () => {
  const hostile = JSON.parse('{"__proto__": {"polluted": 1}, "constructor": 2, "<img src=x>": 3}');
  assert.deepEqual(lines(null, hostile), [
    'added __proto__.polluted: undefined > 1',
    'added constructor: undefined > 2',
    'added <img src=x>: undefined > 3',
  ]);
  const large = Object.fromEntries(Array.from({ length: 1_000 }, (_, index) => [`f${index}`, index]));
  assert.equal(toDifferences(null, large).length, mostDifferences);
});
