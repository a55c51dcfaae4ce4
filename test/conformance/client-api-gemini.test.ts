/** Clients of the Gemini API at models whose upstreams speak another wire: embeddings, and the list of models. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { errorIn } from '../support/clients/google-errors.ts';
import { assertAnswer, oddVector, startClientApis } from '../support/gateways/client-apis.ts';

const at = (verb: string, model = 'direct'): string => `/v1beta/models/${model}:${verb}`;
const content = (...texts: readonly string[]) => ({ parts: texts.map((text) => ({ text })) });
const request = (text: string, more: object = {}) => ({ model: 'models/direct', content: content(text), ...more });

test("vectors keep the upstream's digits, one or many, with the model in path or body", async (t) => {
  const { rig, asked } = await startClientApis(t);
  for (const [model, tokens] of [
    ['direct', 5],
    ['translated', 7],
  ] as const) {
    for (const prefix of ['/v1beta', '/v1', '/gemini/v1beta', '/gemini/v1']) {
      const one = await rig.post(`${prefix}/models/${model}:embedContent`, { content: content('a', 'b') });
      assertAnswer(one, `{"embedding":{"values":${oddVector}}}`);
      const { body } = await asked();
      assert.deepEqual([body.model, body.input ?? body.texts], ['real', ['a\nb']]);
      const requests = ['x', 'y'].map((text) => ({ model: `models/${model}`, content: content(text) }));
      const many = await rig.post(`${prefix}/models/${model}:batchEmbedContents`, { requests });
      assertAnswer(many, `{"embeddings":[{"values":${oddVector}},{"values":${oddVector}}]}`);
      assert.equal((await rig.exchange(rig.settled.length)).usage?.promptTokens, tokens);
      await asked();
    }
  }
});

test("input type and dimensions are sent in the upstream's words", async (t) => {
  const { rig, asked } = await startClientApis(t);
  for (const wish of [
    { taskType: 'RETRIEVAL_QUERY', outputDimensionality: 4 },
    { task_type: 'RETRIEVAL_QUERY', output_dimensionality: 4 },
    { embedContentConfig: { taskType: 'RETRIEVAL_QUERY', outputDimensionality: 4 } },
  ]) {
    const answer = await rig.post(at('embedContent', 'translated'), { content: content('a'), ...wish });
    assert.equal(answer.status, 200, answer.body.toString());
    const { body } = await asked();
    assert.deepEqual([body.input_type, body.output_dimension], ['search_query', 4]);
  }
  const unknown = await rig.post(at('embedContent', 'translated'), {
    content: content('a'),
    taskType: 'FACT_VERIFICATION',
    title: 't',
  });
  assert.equal(unknown.header('x-postern-ignored'), 'title, taskType');
});

test('a Gemini upstream gets the bytes unchanged, and other targets are not called', async (t) => {
  const { rig, upstream, asked } = await startClientApis(t, (_request, reply) =>
    reply.json(200, { embeddings: [{ values: [1] }], extra: true }),
  );
  const common = { base_url: upstream.url, api_key: 'sk-upstream-secret-0123456789' };
  const snapshot = await rig.compile({
    upstreams: [
      { id: 'openai', family: 'openai', ...common },
      { id: 'gemini', family: 'gemini', ...common },
      {
        id: 'vertex',
        family: 'vertex',
        ...common,
        options: { project: 'p', location: 'europe-west4' },
      },
    ],
    models: [
      {
        id: 'both',
        operations: ['embeddings'],
        targets: ['openai', 'gemini'].map((one) => ({ upstream: one, model: 'real' })),
      },
      { id: 'vertex', operations: ['embeddings'], targets: [{ upstream: 'vertex', model: 'gemini-embedding-001' }] },
    ],
  });
  assert.deepEqual(rig.app.swap(snapshot), []);
  const body = '{ "requests":[{"model":"models/both", "content":{"parts":[{"text":"\\u00e9"}]},"taskType":"X"}] }';
  for (let i = 0; i < 4; i += 1) {
    const answer = await rig.post(at('batchEmbedContents', 'both'), body);
    assertAnswer(answer, '{"embeddings":[{"values":[1]}],"extra":true}');
    const { path } = await asked();
    assert.equal(path, '/v1beta/models/real:batchEmbedContents');
  }
  // Vertex has no such method: there it is a question like any other.
  upstream.respondWith((_request, reply) =>
    reply.json(200, { predictions: [{ embeddings: { values: [0.5], statistics: { token_count: 3 } } }] }),
  );
  assertAnswer(
    await rig.post(at('batchEmbedContents', 'vertex'), { requests: [{ content: content('a') }] }),
    '{"embeddings":[{"values":[0.5]}]}',
  );
  assert.match((await asked()).path, /gemini-embedding-001:predict$/);
});

test("unsupported requests are refused by name in Google's shape, without a call", async (t) => {
  const { rig, upstream } = await startClientApis(t);
  const picture = { inlineData: { mimeType: 'image/png', data: 'AAAA' } };
  for (const [verb, body, param] of [
    ['embedContent', {}, 'content'],
    ['embedContent', { content: 'a' }, 'content'],
    ['embedContent', { content: {} }, 'content.parts'],
    ['embedContent', { content: { parts: [] } }, 'content.parts'],
    ['embedContent', { content: { parts: [{ text: 'a' }, picture] } }, 'content.parts[1]'],
    ['embedContent', request('a', { outputDimensionality: 'x' }), 'outputDimensionality'],
    ['embedContent', request('a', { embedContentConfig: { autoTruncate: false } }), 'autoTruncate'],
    ['embedContent', { ...request('a'), model: 'models/translated' }, 'model'],
    ['batchEmbedContents', {}, 'requests'],
    ['batchEmbedContents', { requests: ['a'] }, 'requests'],
    ['batchEmbedContents', { requests: [request('a'), { content: {} }] }, 'requests[1].content.parts'],
    ['batchEmbedContents', { requests: [request('a'), request('b', { taskType: 'X' })] }, 'requests[1].taskType'],
    ['batchEmbedContents', { requests: [request('a'), { ...request('b'), model: 'other' }] }, 'requests[1].model'],
  ] as const) {
    const refused = await rig.post(at(verb), body);
    assert.equal(refused.status, 400, JSON.stringify(body));
    const { status, message, details } = errorIn(refused);
    assert.equal(status, 'INVALID_ARGUMENT');
    assert.deepEqual(details[0]?.metadata, { param }, `${JSON.stringify(body)}: ${message}`);
  }
  for (const model of ['hidden', 'nobody']) {
    const unknown = await rig.post(at('embedContent', model), { content: content('a') });
    assert.deepEqual([unknown.status, errorIn(unknown).status], [404, 'NOT_FOUND']);
  }
  assert.equal(upstream.requests.length, 0);
  assertAnswer(await rig.post(at('batchEmbedContents'), { requests: [] }), '{"embeddings":[]}');
  assert.equal(upstream.requests.length, 0);
});

test("an upstream's error has Google's shape", async (t) => {
  const { rig } = await startClientApis(t, (_request, reply) =>
    reply.json(429, { error: { message: 'slow down', type: 'x', param: null, code: null } }, [['retry-after', '7']]),
  );
  const refused = await rig.post(at('embedContent'), { content: content('a') });
  assert.deepEqual([refused.status, errorIn(refused).status], [429, 'RESOURCE_EXHAUSTED']);
});

test('lists models by page, with the methods of each', async (t) => {
  const { rig } = await startClientApis(t);
  const embeds = ['embedContent', 'batchEmbedContents'];
  for (const path of ['/v1beta/models', '/gemini/v1beta/models', '/gemini/v1/models']) {
    const { models } = (await rig.get(path)).json() as { models: readonly object[] };
    assert.deepEqual(models, [
      { name: 'models/direct', displayName: 'direct', supportedGenerationMethods: embeds },
      { name: 'models/translated', displayName: 'translated', supportedGenerationMethods: embeds },
      { name: 'models/words', displayName: 'words', supportedGenerationMethods: [] },
      { name: 'models/ranker', displayName: 'ranker', supportedGenerationMethods: [] },
    ]);
    assert.deepEqual((await rig.get(`${path}/direct`)).json(), models[0]);
  }
  const names: string[] = [];
  let token: string | undefined = '';
  while (token !== undefined) {
    const page = await rig.get(`/v1beta/models?pageSize=3${token === '' ? '' : `&pageToken=${token}`}`);
    const { models, nextPageToken } = page.json() as { models: { name: string }[]; nextPageToken?: string };
    names.push(...models.map(({ name }) => name));
    token = nextPageToken;
  }
  assert.deepEqual(names, ['models/direct', 'models/translated', 'models/words', 'models/ranker']);
  assert.equal((await rig.get('/v1beta/models/hidden')).status, 404);
  assert.equal(errorIn(await rig.get('/v1beta/models?pageSize=0')).status, 'INVALID_ARGUMENT');
});
