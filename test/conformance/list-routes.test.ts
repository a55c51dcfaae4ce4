/** Lists are taken apart and remembered by whatever path they come: aliases, the legacy /v1/engines path, client APIs, other shapes. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startSeveral } from '../support/gateways/several.ts';
import type { Handler } from '../support/upstreams/fake-upstream.ts';
import { embeddingsOf, embeds, inputsOf, json, ranks } from '../support/upstreams/list-service.ts';

const texts = ['a', 'bb', 'ccc', 'dddd', 'eeeee'];
const upstream = { limits: { concurrency: 64 } };

test('the legacy /v1/engines path splits lists, too', async (t) => {
  const setup = await startSeveral(t, [embeds], {
    model: { operations: ['embeddings'], cache: {} },
    target: [{ max_items: 2 }],
    upstream,
  });
  const answer = await setup.rig.post('/v1/engines/m/embeddings', { input: texts });
  assert.equal(answer.body.toString(), embeddingsOf(texts));
  assert.deepEqual(setup.upstreams[0]?.requests.map((request) => [request.path, inputsOf(request).length]).toSorted(), [
    ['/embeddings', 1],
    ['/embeddings', 2],
    ['/embeddings', 2],
  ]);
  assert.equal((await setup.rig.post('/v1/engines/m/embeddings', { input: 'ccc' })).header('x-postern-cache'), 'hit');
  assert.equal((await setup.rig.post('/embeddings', { model: 'm', input: 'ccc' })).header('x-postern-cache'), 'hit');
});

test('client APIs have their lists split, and get their own response shapes', async (t) => {
  const script: Handler = (request, reply) => (request.path.endsWith('rerank') ? ranks : embeds)(request, reply);
  const setup = await startSeveral(t, [script], {
    model: { operations: ['embeddings', 'rerank'], cache: {} },
    target: [{ max_items: 2 }],
    upstream,
  });
  const { rig } = setup;
  const vectors = texts.map(({ length }) => [length + 0.1, -length / 1_000, 0.12345678901234568]);
  const cohere = await rig.post('/v2/embed', {
    model: 'm',
    texts,
    input_type: 'search_document',
    embedding_types: ['float'],
  });
  assert.deepEqual((cohere.json() as { embeddings: { float: unknown } }).embeddings.float, vectors);
  assert.equal(cohere.header('x-postern-calls'), '3');
  const ollama = await rig.post('/api/embed', { model: 'm', input: texts });
  assert.deepEqual((ollama.json() as { embeddings: unknown }).embeddings, vectors);
  const tei = await rig.post('/tei/m/rerank', { query: 'q', texts });
  assert.deepEqual(
    (tei.json() as { index: number }[]).map(({ index }) => index),
    [4, 3, 2, 1, 0],
  );
});

test('moderations are split by text, but parts of one input are not', async (t) => {
  const script: Handler = (request, reply) => {
    const results = inputsOf(request).map((text) => `{"flagged":${String(text).length > 3}}`);
    return reply.bytes(200, json, `{"id":"modr","model":"m","results":[${results.join(',')}]}`);
  };
  const setup = await startSeveral(t, [script], {
    model: { operations: ['moderations'] },
    target: [{ max_items: 2 }],
    upstream,
  });
  const answer = await setup.rig.post('/v1/moderations', { model: 'm', input: texts });
  assert.match(
    answer.body.toString(),
    /"results":\[\{"flagged":false\},\{"flagged":false\},\{"flagged":false\},\{"flagged":true\},\{"flagged":true\}\]\}$/,
  );
  const parts = Array.from({ length: 3 }, () => ({ type: 'text', text: 'x' }));
  assert.equal((await setup.rig.post('/v1/moderations', { model: 'm', input: parts })).status, 200);
  assert.equal(setup.upstreams[0]?.requests.length, 4);
});

test('translated families are called in parts as well, and cached', async (t) => {
  const cohere: Handler = (request, reply) => {
    const { texts: some } = JSON.parse(request.body.toString()) as { texts: string[] };
    const float = some.map((text) => [text.length, 0.5]);
    return reply.json(200, {
      id: 'e',
      embeddings: { float },
      meta: { billed_units: { input_tokens: some.join('').length } },
    });
  };
  const setup = await startSeveral(t, [cohere], {
    model: { operations: ['embeddings'], cache: {} },
    target: [{ max_items: 2 }],
    upstream: { family: 'cohere', ...upstream },
  });
  const ask = () => setup.rig.post('/v1/embeddings', { model: 'm', input: texts });
  const first = await ask();
  assert.deepEqual([first.header('x-postern-translated'), first.header('x-postern-calls')], ['cohere', '3']);
  const { data, usage } = first.json() as { data: { embedding: number[] }[]; usage: { prompt_tokens: number } };
  assert.deepEqual(
    data.map(({ embedding }) => embedding),
    texts.map(({ length }) => [length, 0.5]),
  );
  assert.equal(usage.prompt_tokens, 15);
  const again = await ask();
  assert.deepEqual([again.header('x-postern-translated'), again.header('x-postern-cache')], ['cohere', 'hit']);
  assert.deepEqual((again.json() as { data: unknown; usage: unknown }).usage, usage);
});
