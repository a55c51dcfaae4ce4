import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseTexts, toShownText } from './texts.ts';

test('distinguishes lines, blocks and JSON arrays', () => {
  assert.deepEqual(parseTexts(' one \n two\n'), { items: ['one', 'two'], how: 'lines' });
  assert.deepEqual(parseTexts('one\nstill one\n\n \ntwo'), { items: ['one\nstill one', 'two'], how: 'blocks' });
  assert.deepEqual(parseTexts('["a\\nb", {"text":"c"}]'), { items: ['a\nb', { text: 'c' }], how: 'json' });
  assert.deepEqual(parseTexts('[not json\nat all'), { items: ['[not json', 'at all'], how: 'lines' });
  assert.deepEqual(parseTexts('  '), { items: [], how: 'lines' });
});

test('an item is displayed by its text', () => {
  assert.equal(toShownText('a'), 'a');
  assert.equal(toShownText({ text: 'b', id: 1 }), 'b');
  assert.equal(toShownText({ title: 'c' }), '{"title":"c"}');
  assert.equal(toShownText(null), 'null');
});
