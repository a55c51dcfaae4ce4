import assert from 'node:assert/strict';
import { test } from 'node:test';
import { markWords } from './ranking.ts';

const marked = (text: string, query: string): string[] =>
  markWords(text, query).flatMap((piece) => (piece.isMarked ? [piece.text] : []));

test('words of the query are found in any case and inflection', () => {
  assert.deepEqual(marked('Gates, a GATE and agate', 'the small gate'), ['Gates', 'GATE']);
  assert.deepEqual(marked('Die Größe zählt', 'größe'), ['Größe']);
});

test('short and common words are not marked', () => {
  assert.deepEqual(marked('what is the use of it', 'what is the point of it'), []);
});

test('the marked and unmarked pieces joined are the whole text', () => {
  const text = '<b>gate</b> to the gate';
  assert.equal(
    markWords(text, 'gate')
      .map((piece) => piece.text)
      .join(''),
    text,
  );
  assert.deepEqual(markWords('', 'gate'), []);
});
