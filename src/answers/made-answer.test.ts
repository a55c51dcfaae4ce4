import assert from 'node:assert/strict';
import { Buffer } from 'node:buffer';
import { test } from 'node:test';
import { WholeMadeAnswer } from './made-answer.ts';

test('a cached content type that contains a line break becomes application/json', () => {
  const contentTypeOf = (contentType: string): string | undefined => {
    const { headers } = new WholeMadeAnswer(undefined, { body: Buffer.from('{}'), contentType });
    return headers[headers.indexOf('content-type') + 1];
  };
  assert.equal(contentTypeOf('application/json; charset=utf-8'), 'application/json; charset=utf-8');
  assert.equal(contentTypeOf('application/json\r\nset-cookie: a=b'), 'application/json');
});
