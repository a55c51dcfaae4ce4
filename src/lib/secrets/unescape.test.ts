import assert from 'node:assert/strict';
import { test } from 'node:test';
import { layersOf } from './unescape.ts';

const layers = (text: string): string[] => [...layersOf(Buffer.from(text))].map(String);

for (const [text, plain] of [
  [String.raw`a\u002Bb\u002fc`, 'a+b/c'],
  [String.raw`a\/b\"c\\d\'e`, String.raw`a/b"c\d'e`],
  [String.raw`\x73\x6B`, 'sk'],
  ['a%2Bb%2fc%25', 'a+b/c%'],
  ['a&amp;b&quot;c&plus;d&sol;e', 'a&b"c+d/e'],
  ['&#43;&#043;&#x2b;&#X2B;', '++++'],
] as const) {
  test(`${text} unescapes to ${plain}`, () => {
    assert.equal(layers(text)[1], plain);
  });
}

test('repeated escaping is undone layer by layer', () => {
  let text = 'a"b/c+d';
  for (let depth = 0; depth < 3; depth += 1) text = JSON.stringify(text).slice(1, -1);
  assert.equal(layers(text).at(-1), 'a"b/c+d');
  assert.deepEqual(layers('a%25252Bb'), ['a%25252Bb', 'a%252Bb', 'a%2Bb', 'a+b']);
  assert.equal(layers('&amp;#x2b;').at(-1), '+');
});

test('text without valid escapes is unchanged, and is the only layer', () => {
  for (const text of [
    'plain',
    '100 % of it',
    '%zz',
    '%4',
    'a & b; c',
    '&nothing;',
    // Names of members that every object has.
    '&valueOf; &toString;',
    '&#0;&#999;&#;',
    String.raw`\n\u4e2d\u00`,
    '\\',
  ]) {
    assert.deepEqual(layers(text), [text], text);
  }
});

test('stops at a maximum number of layers', () => {
  assert.equal(layers(`%${'25'.repeat(50)}41`).length, 5);
});
