import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { anyCharacter } from '../../test/support/any-character.ts';
import { clientParam } from './pass.ts';

const embeddings = { model: 'm', input: ['a'], dimensions: 3, encoding_format: 'float' };
const rerank = { model: 'm', query: 'q', documents: ['a'], top_n: 1, return_documents: true };
const param = (said: string, body: object): Promise<string | undefined> =>
  clientParam(said, Buffer.from(JSON.stringify(body)));

test("a field name in any upstream's notation and depth is mapped to the field that the client sent", async () => {
  const rows: readonly (readonly [said: string, body: object, field: string | undefined])[] = [
    ['input', embeddings, 'input'],
    ['input.0', embeddings, 'input'],
    ['input[3]', embeddings, 'input'],
    ['$.input', embeddings, 'input'],
    ['text.input.list[constrained-str].0', embeddings, 'input'],
    ['texts', embeddings, 'input'],
    ['requests[0].content.parts[0].text', embeddings, 'input'],
    ['output_dimension', embeddings, 'dimensions'],
    ['embedContentConfig.outputDimensionality', embeddings, 'dimensions'],
    ['embedding_types', embeddings, 'encoding_format'],
    ['passages.0.text', rerank, 'documents'],
    ['input.documents', rerank, 'documents'],
    ['input.query', rerank, 'query'],
    ['input', rerank, 'documents'],
    ['top_k', rerank, 'top_n'],
    ['texts', { model: 'm', query: 'q', texts: ['a'] }, 'texts'],
    ['messages.1.content', { model: 'm', prompt: 'p' }, 'prompt'],
  ];
  for (const [said, body, field] of rows) assert.equal(await param(said, body), field, said);
});

test("an upstream's field name is never mapped to a field that the client did not send", async () => {
  for (const said of [
    'input_type',
    'parameters.truncate',
    'output_dimension',
    'header.authorization',
    '0',
    '',
    '\u00e4',
    '.',
    '__proto__',
  ]) {
    assert.equal(await param(said, { model: 'm', input: 'a' }), undefined, said);
  }
  assert.equal(await param('dimensions', { model: 'm', input: 'a', dimensions: null }), 'dimensions');
});

test("names no field of the request where the upstream's error text names none or the body has it twice, and never throws", async () => {
  assert.equal(await clientParam('input', Buffer.from('{"input":1,"input":2}')), undefined);
  const long = Buffer.from(JSON.stringify({ pad: 'x'.repeat(600 * 1024), input: 'a' }));
  assert.equal(await clientParam('texts.0', long), 'input');
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: anyCharacter }), async (said) => {
      const field = await param(said, embeddings);
      assert.ok(field === undefined || Object.hasOwn(embeddings, field));
    }),
  );
});
