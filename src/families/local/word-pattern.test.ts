import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPatternSearch, longestPattern } from './word-pattern.ts';

const vocabulary = { pet: 'cat dog' };

function finds(pattern: string, text: string): boolean {
  const thing = { patterns: [pattern] };
  const found = new Set<typeof thing>();
  createPatternSearch([thing], vocabulary)(text.split(' '), found);
  return found.has(thing);
}

test('a word pattern matches its words in order, anywhere in the text', () => {
  assert.equal(finds('walk the dog', 'please walk the dog now'), true);
  assert.equal(finds('walk the dog', 'the dog can walk'), false);
  assert.equal(finds('walk the dog', 'walk the'), false);
  assert.equal(finds('cat', 'concatenate'), false);
});

test('a word pattern may list alternative words, and name word lists', () => {
  for (const text of ['walk a cat', 'feed a dog', 'feed a bird'])
    assert.equal(finds('walk|feed a {pet}|bird', text), true);
  assert.equal(finds('walk|feed a {pet}|bird', 'walk a fish'), false);
});

test('a word pattern may have optional words', () => {
  assert.equal(finds('walk the|a? big? dog', 'walk dog'), true);
  assert.equal(finds('walk the|a? big? dog', 'walk a big dog'), true);
  assert.equal(finds('walk the|a? big? dog', 'walk a big bad dog'), false);
});

test('a word pattern may skip up to a given number of arbitrary words', () => {
  assert.equal(finds('walk ..2 dog', 'walk dog'), true);
  assert.equal(finds('walk ..2 dog', 'walk my old dog'), true);
  assert.equal(finds('walk ..2 dog', 'walk my very old dog'), false);
});

test('a word pattern does not match if an excluded word follows', () => {
  assert.equal(finds('walk dog !food|toys', 'walk dog'), true);
  assert.equal(finds('walk dog !food|toys', 'walk dog today'), true);
  assert.equal(finds('walk dog !food|toys', 'walk dog food'), false);
});

test('the maximum number of words that a word pattern can span is known', () => {
  assert.equal(longestPattern([{ patterns: ['a ..3 b? c', 'a'] }], vocabulary), 6);
});

test('word patterns with invalid syntax, unknown lists or unreachable words are refused', () => {
  for (const pattern of ['', '..2 dog', 'the? dog', '!a dog', 'walk {bird}', 'walk Dog', 'walk  dog', "don't"]) {
    assert.throws(() => createPatternSearch([{ patterns: [pattern] }], vocabulary), TypeError, pattern);
  }
});

test('matching word patterns takes time proportional to the text, for any text', () => {
  const thing = { patterns: ['a ..9 a ..9 b'] };
  const tried = { count: 0 };
  const words = new Proxy(
    Array.from({ length: 2_000 }, () => 'a'),
    {
      get(target, name, receiver) {
        tried.count += 1;
        return Reflect.get(target, name, receiver);
      },
    },
  );
  createPatternSearch([thing], {})(words, new Set());
  // Each word starts at most 10 x 10 attempts.
  assert.ok(tried.count < 2_000 * 300, `looked at ${tried.count} words`);
});
