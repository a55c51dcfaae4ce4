import assert from 'node:assert/strict';
import { test } from 'node:test';
import { estimateTokens, textOfTokens, vocabularyOf } from './token-ids.ts';

/** Messages to threads are counted by kind: data that is copied rather than transferred would be unpacked here. */
const threads: { readonly messages: string[][] }[] = [];
process.on('worker', (worker) => {
  const messages: string[][] = [];
  threads.push({ messages });
  worker.on('message', (message: object) => messages.push(Object.values(message).map((part) => part.constructor.name)));
});

test('loads a vocabulary once, in a thread, when it is first needed', async () => {
  assert.equal(threads.length, 0);
  const texts = [
    textOfTokens('r50k_base', [15496, 995]),
    textOfTokens('r50k_base', [1]),
    textOfTokens('r50k_base', []),
  ];
  assert.deepEqual(await Promise.all(texts), ['Hello world', '"', '']);
  assert.equal(await textOfTokens('r50k_base', [15496]), 'Hello');
  assert.deepEqual(threads, [{ messages: [['Uint8Array', 'Uint32Array', 'Uint32Array', 'String']] }]);
});

test('decodes the IDs of each vocabulary', async () => {
  assert.equal(await textOfTokens('cl100k_base', [9906, 1917]), 'Hello world');
  assert.equal(await textOfTokens('o200k_base', [13225, 2375]), 'Hello world');
  assert.equal(await textOfTokens('p50k_base', [15496, 995]), 'Hello world');
  // Runs of spaces are what this vocabulary adds.
  assert.equal(await textOfTokens('p50k_base', [50280]), ' '.repeat(25));
  assert.equal(await textOfTokens('r50k_base', [50280]), undefined);
});

test('joins characters that span several tokens, and keeps control characters and byte order marks', async () => {
  assert.equal(await textOfTokens('cl100k_base', []), '');
  assert.equal(await textOfTokens('cl100k_base', [9468, 248, 222]), '🚀');
  assert.equal(await textOfTokens('cl100k_base', [188, 9906]), '\u0000Hello');
  // A byte order mark is part of the text.
  assert.equal(await textOfTokens('cl100k_base', [3305]), '\ufeff');
  assert.equal(await textOfTokens('cl100k_base', [-0, 0]), '!!');
});

test('a list of IDs that ends inside a character decodes to a replacement character at its end', async () => {
  assert.equal(await textOfTokens('cl100k_base', [9906, 9468, 248]), 'Hello\ufffd');
});

test('decodes special tokens to their names', async () => {
  assert.equal(await textOfTokens('cl100k_base', [9906, 100_257, 100_276]), 'Hello<|endoftext|><|endofprompt|>');
  assert.equal(await textOfTokens('o200k_base', [199_999, 200_018]), '<|endoftext|><|endofprompt|>');
  assert.equal(await textOfTokens('r50k_base', [50_256]), '<|endoftext|>');
});

test('refuses IDs that are not in the vocabulary', async () => {
  const strangers = [-1, 0.5, 1e9, 2 ** 32, 2 ** 53, Number.NaN, Number.POSITIVE_INFINITY];
  // In the gaps between the pieces and the special tokens, and after the last.
  for (const id of [...strangers, 100_256, 100_261, 100_275, 100_277]) {
    assert.equal(await textOfTokens('cl100k_base', [9906, id]), undefined, String(id));
  }
  for (const id of [199_998, 200_000, 200_019]) assert.equal(await textOfTokens('o200k_base', [id]), undefined);
  assert.equal(await textOfTokens('p50k_base', [50_281]), undefined);
});

test('decodes a million IDs', async () => {
  const ids = Array.from({ length: 1_000_000 }, (_, index) => index % 100_000);
  const text = await textOfTokens('cl100k_base', ids);
  assert.ok(text !== undefined && text.length > 1_000_000);
});

test('chooses the vocabulary by the model name as client libraries do', () => {
  const names = {
    cl100k_base: [
      'text-embedding-3-small',
      'text-embedding-3-large',
      'text-embedding-ada-002',
      'gpt-4',
      'gpt-4-turbo',
      'gpt-4-0613',
      'gpt-3.5-turbo-instruct',
      'gpt-35-turbo',
      'davinci-002',
      'babbage-002',
      'ft:davinci-002:org::id',
    ],
    o200k_base: [
      'gpt-4o',
      'gpt-4o-mini-2030-01-01',
      'chatgpt-4o-latest',
      'gpt-4.1-nano',
      'gpt-4.5-preview',
      'gpt-5',
      'gpt-5-mini',
      'gpt-oss-120b',
      'o1',
      'o3-mini',
      'o4-mini-2025-04-16',
      'ft:gpt-4o:org::id',
    ],
    p50k_base: [
      'text-davinci-003',
      'text-davinci-002',
      'code-davinci-002',
      'code-cushman-001',
      'text-davinci-edit-001',
    ],
    r50k_base: [
      'davinci',
      'curie',
      'text-ada-001',
      'text-davinci-001',
      'text-search-ada-doc-001',
      'text-similarity-curie-001',
      'code-search-babbage-code-001',
      'gpt2',
      'gpt-2',
    ],
  };
  for (const [vocabulary, models] of Object.entries(names)) {
    for (const model of models) assert.equal(vocabularyOf(model), vocabulary, model);
  }
});

test('uses the common vocabulary for unknown model names', () => {
  for (const model of [
    'bge-m3',
    'openai/gpt-4o',
    'gpt-4omni',
    'o10',
    'o1x',
    'adaptive',
    '',
    '__proto__',
    'constructor',
  ]) {
    assert.equal(vocabularyOf(model), 'cl100k_base', model);
  }
});

test('estimates one token per four bytes, and one at least', () => {
  assert.equal(estimateTokens(''), 1);
  assert.equal(estimateTokens('abcd'), 1);
  assert.equal(estimateTokens('abcde'), 2);
  assert.equal(estimateTokens('東京🚀'), 3);
});
