/** What is repeated and what is not if a request is more than one call, and if an upstream reports in a body what others report in a header. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { assertError } from '../support/clients/error-answer.ts';
import { startSeveral } from '../support/gateways/several.ts';
import { openaiEmbeds, startTranslated, vectorsIn } from '../support/gateways/translated.ts';
import type { Handler, UpstreamRequest } from '../support/upstreams/fake-upstream.ts';

const spoken = (text: string) => ({
  id: 'c',
  object: 'chat.completion',
  created: 1,
  model: 'x',
  choices: [{ index: 0, message: { role: 'assistant', content: text }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
});

const asks = ({ body }: UpstreamRequest, prompt: string): boolean => body.includes(`"${prompt}"`);
const speaks: Handler = (_request, reply) => reply.json(200, spoken('hello'));
const talks = { operations: ['completions'] };
const bridged = [{ bridge: 'chat' }, { bridge: 'chat' }];

for (const status of [401, 429, 503]) {
  test(`if one of two prompts was answered and the other gets ${status}, neither is sent to another target`, async (t) => {
    const half: Handler = async (request, reply) => {
      if (asks(request, 'one')) return reply.json(200, spoken('1'));
      return reply.json(status, { error: { message: 'not the second', type: 't', param: null, code: null } });
    };
    const setup = await startSeveral(t, [half, speaks], { target: bridged, model: talks });
    const answer = await setup.rig.post('/v1/completions', { model: 'm', prompt: ['one', 'two'] });
    assert.equal(answer.status, status);
    assert.match(answer.body.toString(), /not the second/);
    assert.equal(setup.upstreams[1]?.requests.length, 0);
  });
}

test('with retry: always, both prompts are sent to another target after one was answered and one got 429', async (t) => {
  const half: Handler = (request, reply) => {
    return asks(request, 'one') ? reply.json(200, spoken('1')) : reply.json(429, { error: 'busy' });
  };
  const setup = await startSeveral(t, [half, speaks], { target: bridged, model: { ...talks, retry: 'always' } });
  const answer = await setup.rig.post('/v1/completions', { model: 'm', prompt: ['one', 'two'] });
  assert.equal(answer.status, 200);
  assert.equal(setup.upstreams[1]?.requests.length, 2);
});

test('a single prompt refused with 429 goes to the next target', async (t) => {
  const busy: Handler = (_request, reply) => reply.json(429, { error: { message: 'busy' } });
  const setup = await startSeveral(t, [busy, speaks], { target: bridged, model: talks });
  const answer = await setup.rig.post('/v1/completions', { model: 'm', prompt: 'one' });
  assert.deepEqual([answer.status, setup.seen()], [200, [1, 1]]);
});

test('after a 429 for some inputs, embeddings are repeated at another target', async (t) => {
  let count = 0;
  const half: Handler = (request, reply) => {
    count += 1;
    return count === 1 ? openaiEmbeds(request, reply) : reply.json(429, { error: 'busy' });
  };
  const setup = await startSeveral(t, [half, openaiEmbeds], {
    model: { operations: ['embeddings'] },
    upstream: [{ family: 'tei', options: { max_items: 1 } }, {}],
  });
  const answer = await setup.rig.post('/v1/embeddings', { model: 'm', input: ['1', '2'] });
  assert.deepEqual(vectorsIn(answer), [
    [1, 0.5],
    [2, 0.5],
  ]);
});

test('a retry delay in a body is obeyed like one in a header', async (t) => {
  const busy: Handler = (_request, reply) =>
    reply.json(429, {
      error: {
        code: 429,
        message: 'quota',
        status: 'RESOURCE_EXHAUSTED',
        details: [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '30s' }],
      },
    });
  const { embed, upstream } = await startTranslated(t, busy, { family: 'gemini', target: { model: 'text' } });
  const first = await embed({ model: 'm', input: 'x' });
  assert.deepEqual([first.status, first.header('retry-after')], [429, '30']);
  assertError(await embed({ model: 'm', input: 'x' }), 'rate_limit_exceeded', {
    message: /too many calls and asked for a pause/,
  });
  assert.equal(upstream.requests.length, 1);
});

test('an error with status 200 instead of a stream gets its status, and the next target is called', async (t) => {
  const wrapped: Handler = (_request, reply) => reply.json(200, { error: { message: 'too many', code: 429 } });
  const streams: Handler = (_request, reply) => {
    const choice = { index: 0, delta: { content: 'hi' }, finish_reason: 'stop' };
    return reply.sse([{ id: 'c', created: 1, model: 'x', choices: [choice] }, '[DONE]']);
  };
  const setup = await startSeveral(t, [wrapped, streams], { target: bridged, model: talks });
  const answer = await setup.rig.post('/v1/completions', { model: 'm', prompt: 'one', stream: true });
  assert.equal(answer.status, 200);
  assert.match(answer.body.toString(), /"text":"hi"/);
  assert.deepEqual(setup.seen(), [1, 1]);
});

test('an upstream that was not called is not named in the response', async (t) => {
  const { embed } = await startTranslated(t, openaiEmbeds, { family: 'mistral' });
  const answer = await embed({ model: 'm', input: 'x', frobnicate: 1 });
  assertError(answer, 'unsupported_parameter', { param: 'frobnicate' });
  assert.equal(answer.header('x-postern-upstream'), undefined);
});

test('if one target cannot serve the request and the other is in cooldown, the error says so', async (t) => {
  const busy: Handler = (_request, reply) => reply.json(429, {}, [['retry-after', '20']]);
  const setup = await startSeveral(t, [openaiEmbeds, busy], {
    model: { operations: ['embeddings'] },
    upstream: [{ family: 'mistral' }, {}],
  });
  const strange = { model: 'm', input: '7', frobnicate: 1 };
  await setup.rig.post('/v1/embeddings', strange);
  const answer = await setup.rig.post('/v1/embeddings', strange);
  assertError(answer, 'rate_limit_exceeded', {
    message: /that can serve this has had too many calls and asked for a pause/,
  });
});

test('an error with status 200 on an untranslated call moves on to the next target', async (t) => {
  const text = '{"error":{"message":"no room","code":503}}';
  const json: [string, string] = ['Content-Type', 'application/json'];
  const gzip: [string, string] = ['Content-Encoding', 'gzip'];
  const inBytes = (bytes: Buffer): Buffer[] => Array.from(bytes, (byte) => Buffer.from([byte]));
  const wrapped: Handler[] = [
    (_request, reply) => reply.json(200, JSON.parse(text)),
    (_request, reply) => reply.bytes(200, [json], text, { chunked: true }),
    (_request, reply) =>
      reply.bytes(200, [json], [text.slice(0, 5), text.slice(5, 20), text.slice(20)], { chunked: true }),
    (_request, reply) => reply.bytes(200, [json, gzip], gzipSync(text)),
    (_request, reply) => reply.bytes(200, [json, gzip], inBytes(gzipSync(text)), { chunked: true }),
  ];
  for (const wraps of wrapped) {
    const setup = await startSeveral(t, [wraps, openaiEmbeds], {
      model: { operations: ['embeddings'] },
      upstream: [{ family: 'vllm' }, {}],
    });
    const answer = await setup.rig.post('/v1/embeddings', { model: 'm', input: '7' });
    assert.deepEqual(vectorsIn(answer), [[7, 0.5]]);
    assert.deepEqual(setup.seen(), [1, 1]);
  }
});
