import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Tiktoken } from 'js-tiktoken/lite';
import cl100k from 'js-tiktoken/ranks/cl100k_base';
import { anyGrapheme } from '../../test/support/any-character.ts';
import { countTokens, tokensOf } from './token-count.ts';

const reference = new Tiktoken(cl100k);

test('counts tokens as the reference library does', async () => {
  for (const text of [
    '',
    'Hello, world!',
    'The quick brown fox jumps over the lazy dog. '.repeat(50),
    '检索增强生成是一种将信息检索与文本生成相结合的技术。',
    'const x = { a: 1, b: [2, 3] };\n\n\n  return x;',
    'Zażółć gęślą jaźń 🚀🚀 1234567890',
    ' '.repeat(100),
  ]) {
    assert.equal(await countTokens('cl100k_base', text), reference.encode(text, [], []).length, text);
  }
});

test('counts tokens of arbitrary texts as the reference library does', async () => {
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: anyGrapheme, maxLength: 60 }), async (text) => {
      const expected = reference.encode(text, [], []);
      assert.equal(await countTokens('cl100k_base', text), expected.length);
      const tokens = await tokensOf('cl100k_base', text);
      assert.deepEqual(
        tokens?.map(({ id }) => id),
        expected,
      );
    }),
    { numRuns: 200 },
  );
});

test('splits long words as the reference library does, up to a maximum length', async () => {
  const word = '検索拡張生成'.repeat(200);
  const tokens = await tokensOf('cl100k_base', word);
  assert.deepEqual(
    tokens?.map(({ id }) => id),
    reference.encode(word, [], []),
  );
  assert.equal(await tokensOf('cl100k_base', 'ab'.repeat(50_000)), undefined);
});

test('estimates the tokens of an extremely long word', async () => {
  assert.equal(await countTokens('cl100k_base', 'ab'.repeat(50_000)), 25_000);
});
