/** What the gateway notes of an answer as it passes: the usage that the upstream wrote, and the bytes. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { brotliCompressSync, gzipSync, zstdCompressSync } from 'node:zlib';
import type { HeaderField } from '../support/clients/http-message.ts';
import { ask, newestExchange, question, startPair } from '../support/gateways/pair.ts';

const json: HeaderField = ['Content-Type', 'application/json'];

test("the recorded usage is the upstream's, anywhere in the response and in any encoding", async (t) => {
  const pair = await startPair(t);
  const vector = `[${Array.from({ length: 3000 }, (_, i) => Math.sin(i)).join(',')}]`;
  const tail = `{"object":"list","data":[{"embedding":${vector},"index":0}],"model":"x","usage":{"prompt_tokens":11,"total_tokens":13}}`;
  const head = `{"usage":{"total_tokens":13,"prompt_tokens":11},"object":"list","data":[{"embedding":${vector}}]}`;
  const both = { promptTokens: 11, completionTokens: null, totalTokens: 13, searchUnits: null, cachedTokens: null };
  const event = (fields: object): string => `data: ${JSON.stringify({ id: 'c', ...fields })}\n\n`;
  const stream = [
    event({ choices: [{ text: 'a "usage":{"prompt_tokens":99}' }], usage: null }),
    event({ choices: [], usage: { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 } }),
    'data: [DONE]\n\n',
  ];
  const streamed = { promptTokens: 3, completionTokens: 4, totalTokens: 7, searchUnits: null, cachedTokens: null };
  const plain = 'application/json';
  const cases: [what: string, type: string, encoding: string, body: Buffer | string[], expected: unknown][] = [
    ['at the tail', plain, '', Buffer.from(tail), both],
    ['at the head', plain, '', Buffer.from(head), both],
    ['in gzip', plain, 'gzip', gzipSync(tail), both],
    ['in br', plain, 'br', brotliCompressSync(head), both],
    ['in zstd', plain, 'zstd', zstdCompressSync(tail), both],
    ['in a stream', 'text/event-stream', '', stream, streamed],
    ['in a compressed stream', 'text/event-stream; charset=utf-8', 'gzip', gzipped(stream), streamed],
    ['nowhere', plain, '', Buffer.from('{"object":"list","data":[{}]}'), null],
    ['nowhere in a stream', 'text/event-stream', '', ['data: {"choices":[]}\n\n', 'data: [DONE]\n\n'], null],
    ['in plain text, as Go says of JSON', 'text/plain; charset=utf-8', '', Buffer.from(tail), both],
    ['in what has no type', '', '', Buffer.from(head), both],
    ['in what says it is no JSON', 'text/html', '', Buffer.from('{"usage":{"prompt_tokens":1}}'), null],
    ['in an unknown encoding', plain, 'dcb', Buffer.from(tail), null],
    ['null', plain, '', Buffer.from('{"data":[{}],"usage":null}'), null],
  ];
  for (const [what, type, encoding, body, expected] of cases) {
    const typed: HeaderField[] = type === '' ? [] : [['Content-Type', type]];
    const headers: HeaderField[] = [...typed, ...(encoding === '' ? [] : [contentEncoding(encoding)])];
    for (const chunked of [false, true]) {
      pair.upstream.respondWith((_request, reply) => reply.bytes(200, headers, body, { chunked }));
      const answer = await ask(pair);
      assert.ok(answer.body.equals(Buffer.isBuffer(body) ? body : Buffer.from(body.join(''))), what);
      assert.deepEqual((await newestExchange(pair)).usage, expected, what);
    }
  }

  const searched = '{"id":"r","results":[{"index":0}],"meta":{"billed_units":{"search_units":2}}}';
  pair.upstream.respondWith((_request, reply) => reply.bytes(200, [json], searched));
  await pair.rig.post('/v1/rerank', { model: 'm', query: 'q', documents: ['d'] });
  assert.equal((await newestExchange(pair)).usage?.searchUnits, 2);
});

function contentEncoding(name: string): HeaderField {
  return ['Content-Encoding', name];
}

function gzipped(parts: readonly string[]): Buffer {
  return gzipSync(parts.join(''));
}

test('a truncated response records its usage only if the usage arrived completely', async (t) => {
  const pair = await startPair(t);
  const counted = 'data: {"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":4,"total_tokens":7}}\n\n';
  const cases: [type: string, sent: string, expected: number | undefined][] = [
    ['text/event-stream', `${counted}data: {"choi`, 7],
    ['text/event-stream', counted.slice(0, -20), undefined],
    ['application/json', '{"usage":{"prompt_tokens":3,"total_tok', undefined],
  ];
  for (const [type, sent, expected] of cases) {
    pair.upstream.respondWith(async (_request, reply) => {
      await reply.head(200, [
        ['Content-Type', type],
        ['Transfer-Encoding', 'chunked'],
      ]);
      await reply.chunk(sent);
      reply.cut();
    });
    assert.equal((await ask(pair)).complete, false);
    const exchange = await newestExchange(pair);
    assert.equal(exchange.usage?.totalTokens, expected, sent);
    assert.equal(exchange.cut, true);
  }
});

test('bytes are counted as sent over the network', async (t) => {
  const pair = await startPair(t, (_request, reply) => reply.bytes(200, [json], ['111', '222'], { chunked: true }));
  await ask(pair);
  const exchange = await pair.rig.exchange();
  assert.equal(exchange.responseBytes, 6);
  assert.equal(exchange.requestBytes, question.length);
  assert.equal(exchange.status, 200);
  assert.equal(exchange.errorCode, undefined);
  assert.equal(exchange.cut, false);
  assert.equal(exchange.client.gone, false);
});
