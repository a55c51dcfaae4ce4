import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseTexts, toShownText } from './texts.ts';

test('typed texts are read as lines, as blocks between empty lines, or as a JSON array', () => {
  assert.deepEqual(parseTexts(' one \n two\n'), { items: ['one', 'two'], how: 'lines' });
  assert.deepEqual(parseTexts('one\nstill one\n\n \ntwo'), { items: ['one\nstill one', 'two'], how: 'blocks' });
  assert.deepEqual(parseTexts('["a\\nb", {"text":"c"}]'), { items: ['a\nb', { text: 'c' }], how: 'json' });
  assert.deepEqual(parseTexts('[not json\nat all'), { items: ['[not json', 'at all'], how: 'lines' });
  assert.deepEqual(parseTexts('  '), { items: [], how: 'lines' });
});

test('an item of a JSON array is displayed by its text, or as JSON', () => {
  assert.equal(toShownText('a'), 'a');
  assert.equal(toShownText({ text: 'b', id: 1 }), 'b');
  assert.equal(toShownText({ title: 'c' }), '{"title":"c"}');
  assert.equal(toShownText(null), 'null');
});
