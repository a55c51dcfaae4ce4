import assert from 'node:assert/strict';
import { test } from 'node:test';
import openai from './openai.ts';

const judge = (text: string, isWhole: boolean) => openai.failureIn?.(Buffer.from(text), isWhole);

test('a response body with an error object is an error once complete, and undecided before', () => {
  const text = ' {"error" : {"message":"no","code":429}}';
  for (let length = 0; length < text.length; length += 1) assert.equal(judge(text.slice(0, length), false), 'unclear');
  assert.equal(judge(text, true), 429);
  assert.equal(judge('{"error":{"message":"no","status":"503"}}', true), 503);
  assert.equal(judge('{"error":{"message":"no","code":"model_gone"}}', true), 500);
});

test('a response body counts as no error as soon as it cannot become an error object', () => {
  for (const text of [
    '{"o',
    '{"id":1',
    ' {"es',
    '{"error":null',
    '{"error":"',
    '[',
    '{}',
    '{"error":{"a":1}}'.replace('error', 'errors'),
  ]) {
    assert.equal(judge(text, false), undefined, text);
  }
  assert.equal(judge('{"err', true), undefined, 'a text that ends too early is what it is');
});
