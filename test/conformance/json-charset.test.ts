/** The charset that an upstream names stays with its vectors, whether their bytes pass or are written anew. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startTranslated } from '../support/gateways/translated.ts';
import type { Handler } from '../support/upstreams/fake-upstream.ts';

const question = { model: 'm', input: ['a'], encoding_format: 'base64' };

/** One vector of one number, in whichever form. */
const vector = (embedding: unknown): string =>
  JSON.stringify({ object: 'list', data: [{ object: 'embedding', index: 0, embedding }], model: 'x', usage: null });

const saying =
  (type: string | undefined, body: string): Handler =>
  (_request, reply) =>
    reply.bytes(200, type === undefined ? [] : [['Content-Type', type]], body);

test('a base64 response passed on unchanged keeps its content type', async (t) => {
  const { embed, upstream } = await startTranslated(t, undefined, { family: 'vllm' });
  for (const [type, wanted] of [
    ['application/json; charset=utf-8', 'application/json; charset=utf-8'],
    ['application/json;charset=UTF-8', 'application/json;charset=UTF-8'],
    ['application/json', 'application/json'],
    [undefined, 'application/json'],
  ] as const) {
    const body = ` ${vector('AACAPw==')}`;
    upstream.respondWith(saying(type, body));
    const answer = await embed(question);
    assert.equal(answer.body.toString(), body);
    assert.equal(answer.header('content-type'), wanted);
  }
});

test("rewritten vectors keep the upstream's charset if it is valid for JSON", async (t) => {
  const { embed, upstream } = await startTranslated(t, undefined, {
    family: 'openai',
    upstream: { base64: 'convert' },
  });
  for (const [type, wanted] of [
    ['application/json; charset=utf-8', 'application/json; charset=utf-8'],
    ['application/json;boundary=x;charset="UTF-8"', 'application/json; charset="UTF-8"'],
    ['application/json; charset=latin1', 'application/json'],
    ['application/json; charset=utf-8-or-so', 'application/json'],
    ['application/json', 'application/json'],
    [undefined, 'application/json'],
  ] as const) {
    upstream.respondWith(saying(type, vector([1])));
    const answer = await embed(question);
    assert.equal(JSON.parse(answer.body.toString()).data[0].embedding, 'AACAPw==');
    assert.equal(answer.header('content-type'), wanted);
  }
});
