/** Clients of AWS Bedrock: one path for every model, with the maker's own format. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertAnswer, assertRefusal, oddVector, startClientApis } from '../support/gateways/client-apis.ts';
import { startTranslated } from '../support/gateways/translated.ts';
import type { Handler } from '../support/upstreams/fake-upstream.ts';

const invoke = (model: string): string => `/model/${encodeURIComponent(model)}/invoke`;

const ranker: Handler = (_request, reply) =>
  reply.json(200, {
    results: [
      { index: 1, relevance_score: 0.75, document: 'b' },
      { index: 0, relevance_score: 0.25 },
    ],
  });

test("each vendor's response shape has the upstream's digits and usage", async (t) => {
  const { rig, asked } = await startClientApis(t);
  for (const [model, tokens] of [
    ['direct', 5],
    ['translated', 7],
  ] as const) {
    for (const [body, texts, answered] of [
      [{ inputText: 'a', query: null }, ['a'], `{"embedding":${oddVector},"inputTextTokenCount":${tokens}}`],
      [
        { inputText: '', embeddingTypes: ['float'], normalize: true },
        [''],
        `{"embedding":${oddVector},"embeddingsByType":{"float":${oddVector}},"inputTextTokenCount":${tokens}}`,
      ],
      [
        { taskType: 'SINGLE_EMBEDDING', singleEmbeddingParams: { text: { truncationMode: 'END', value: 'a' } } },
        ['a'],
        `{"embeddings":[{"embeddingType":"TEXT","embedding":${oddVector}}],"inputTokenCount":${tokens}}`,
      ],
    ] as const) {
      const answer = await rig.post(invoke(model), body);
      assertAnswer(answer, answered);
      assert.equal(answer.header('x-amzn-bedrock-input-token-count'), String(tokens));
      const { body: sent } = await asked();
      assert.deepEqual(sent.input ?? sent.texts, texts);
    }
    const plain = await rig.post(`/bedrock${invoke(model)}`, { texts: ['a', 'b'], input_type: 'search_query' });
    assertAnswer(plain, /"texts":\["a","b"\],"embeddings":\[\[0\.10,/);
    assert.equal(plain.header('x-amzn-bedrock-input-token-count'), String(tokens));
    await asked();
    const typed = await rig.post(invoke(model), { texts: ['a'], embedding_types: ['float'], truncate: 'RIGHT' });
    assertAnswer(typed, /"embeddings":\{"float":\[\[0\.10,.*"response_type":"embeddings_by_type"/);
    await asked();
  }
});

test("dimensions and input type are sent under the upstream's field names", async (t) => {
  const { rig, asked } = await startClientApis(t);
  const nova = { embeddingDimension: 4, embeddingPurpose: 'TEXT_RETRIEVAL', text: { value: 'a' } };
  for (const [body, inputType, width] of [
    [{ inputText: 'a', dimensions: 4 }, 'search_document', 4],
    [{ inputText: 'a', embeddingConfig: { outputEmbeddingLength: 4 } }, 'search_document', 4],
    [{ singleEmbeddingParams: nova }, 'search_query', 4],
    [{ texts: ['a'], input_type: 'clustering', output_dimension: 4 }, 'clustering', 4],
  ] as const) {
    const answer = await rig.post(invoke('translated'), body);
    assert.equal(answer.status, 200, answer.body.toString());
    const { input_type: type, output_dimension: dimension } = (await asked()).body;
    assert.deepEqual([type, dimension], [inputType, width]);
  }
});

test("a Bedrock upstream is called in its own model's format", async (t) => {
  const titan: Handler = (_request, reply) => reply.json(200, { embedding: [0.5], inputTextTokenCount: 3 });
  const upstream = { options: { region: 'us-east-1' } };
  const setup = { family: 'bedrock', upstream, model: { operations: ['embeddings'] } };
  const target = { model: 'amazon.titan-embed-text-v2:0' };
  const at = await startTranslated(t, titan, { ...setup, target });
  assertAnswer(
    await at.rig.post(invoke('m'), { inputText: 'a', dimensions: 1, normalize: false }),
    '{"embedding":[0.5],"inputTextTokenCount":3}',
  );
  const { body, path } = await at.upstream.nextRequest();
  assert.equal(path, invoke(target.model));
  assert.deepEqual(JSON.parse(body.toString()), { inputText: 'a', dimensions: 1, normalize: false });
  assertAnswer(await at.rig.post(invoke('m'), { texts: ['a'] }), /"embeddings":\[\[0\.5\]\]/);
});

test("rerank works at a model's invoke path and at Bedrock's agent rerank path", async (t) => {
  const { rig, asked } = await startClientApis(t, ranker);
  const body = { api_version: 2, query: 'q', documents: ['a', { text: 'b' }], top_n: 2 };
  const scores = '[{"index":1,"relevance_score":0.75},{"index":0,"relevance_score":0.25}]';
  assertAnswer(await rig.post(invoke('ranker'), body), `{"results":${scores}}`);
  assert.deepEqual((await asked()).body, { model: 'real', query: 'q', documents: ['a', 'b'], top_n: 2 });
  const source = (document: object) => ({ type: 'INLINE', inlineDocumentSource: document });
  const agent = {
    queries: [{ type: 'TEXT', textQuery: { text: 'q' } }],
    sources: [
      source({ type: 'TEXT', textDocument: { text: 'a' } }),
      source({ type: 'JSON', jsonDocument: { name: 'b' } }),
    ],
    rerankingConfiguration: {
      type: 'BEDROCK_RERANKING_MODEL',
      bedrockRerankingConfiguration: {
        numberOfResults: 2,
        modelConfiguration: { modelArn: 'arn:aws:bedrock:us-west-2::foundation-model/ranker' },
      },
    },
  };
  const camel = scores.replaceAll('relevance_score', 'relevanceScore');
  assertAnswer(await rig.post('/bedrock/rerank', agent), `{"results":${camel}}`);
  assert.deepEqual((await asked()).body.documents, ['a', '{"name":"b"}']);
  for (const [wrong, expected] of [
    [{ ...agent, queries: [...agent.queries, ...agent.queries] }, /"queries".*one query/],
    [{ ...agent, nextToken: 'x' }, /"nextToken"/],
    [{ ...agent, rerankingConfiguration: {} }, /modelArn" must be a string/],
    [{ ...agent, sources: [{ type: 'INLINE' }] }, /"sources\[0\]\.inlineDocumentSource\.textDocument\.text"/],
    [{ ...agent, sources: [], queries: [{}] }, /"queries\[0\]\.textQuery\.text"/],
  ] as const) {
    const refused = await rig.post('/bedrock/rerank', wrong);
    assert.equal(refused.status, 400);
    assert.match((refused.json() as { message: string }).message, expected);
  }
});

test('a model may be given by ARN or inference profile', async (t) => {
  const models = ['cohere.embed-v4:0'].map((id) => ({
    id,
    operations: ['embeddings'],
    targets: [{ upstream: 'openai', model: 'real' }],
  }));
  const { rig } = await startClientApis(t, undefined, { models });
  for (const name of [
    'cohere.embed-v4:0',
    'us.cohere.embed-v4:0',
    'arn:aws:bedrock:us-east-1::foundation-model/cohere.embed-v4:0',
    'arn:aws:bedrock:us-east-1:123456789012:inference-profile/global.cohere.embed-v4:0',
  ]) {
    const answer = await rig.post(invoke(name), { texts: ['a'] });
    assert.equal(answer.status, 200, `${name}: ${answer.body}`);
  }
  assert.equal((await rig.post(invoke('cohere.embed-v3'), { texts: ['a'] })).status, 404);
});

test('a key on the shared path may use only its allowed operations', async (t) => {
  const keyFor = (operation: string) => ({
    id: operation,
    secret: `a-key-with-enough-characters-for-${operation}`,
    operations: [operation],
  });
  const [embedding, ranking, neither] = [keyFor('embeddings'), keyFor('rerank'), keyFor('chat')];
  const { rig } = await startClientApis(t, ranker, { keys: [embedding, ranking, neither] });
  const rerank = { query: 'q', documents: ['a', 'b'] };
  const statusOf = async (secret: string, model: string, body: object) =>
    (await rig.post(invoke(model), body, { headers: [['Authorization', `Bearer ${secret}`]] })).status;
  assert.equal(await statusOf(ranking.secret, 'ranker', rerank), 200);
  assert.equal(await statusOf(embedding.secret, 'ranker', rerank), 403);
  assert.equal(await statusOf(ranking.secret, 'direct', { inputText: 'a' }), 403);
  assert.equal(await statusOf(neither.secret, 'ranker', rerank), 403);
  assert.equal(await statusOf(neither.secret, 'direct', { inputText: 'a' }), 403);
});

test("unsupported requests are refused by name, with Bedrock's error types", async (t) => {
  const { rig, upstream } = await startClientApis(t);
  for (const [body, expected] of [
    [{}, /"inputText".*"singleEmbeddingParams".*"texts".*"query"/],
    [{ inputText: 7 }, /"inputText" must be/],
    [{ inputText: 'a', inputImage: 'x' }, /"inputImage"/],
    [{ inputText: 'a', embeddingTypes: ['binary'] }, /"embeddingTypes"/],
    [{ inputText: 'a', embeddingConfig: { outputEmbeddingLength: 'x' } }, /"embeddingConfig\.outputEmbeddingLength"/],
    [{ singleEmbeddingParams: { image: {} } }, /"singleEmbeddingParams\.image"/],
    [{ singleEmbeddingParams: { text: {} } }, /"singleEmbeddingParams\.text\.value"/],
    [{ singleEmbeddingParams: { text: { value: 'a', truncationMode: 'NONE' } } }, /truncationMode/],
    [{ taskType: 'SEGMENTED_EMBEDDING' }, /"taskType"/],
    [{ texts: ['a'], truncate: 'LEFT' }, /"truncate"/],
    [{ query: 'q' }, /"documents"/],
    [{ query: 'q', documents: [{}] }, /"documents\[0\]"/],
  ] as const) {
    const refused = await rig.post(invoke('query' in body ? 'ranker' : 'direct'), body);
    assert.equal(refused.status, 400, JSON.stringify(body));
    const { message, __type: type } = refused.json() as { message: string; __type: string };
    assert.match(message, expected);
    assert.equal(type, 'ValidationException');
  }
  assert.equal(upstream.requests.length, 0);
  const nobody = await rig.post(invoke('nobody'), { inputText: 'a' });
  assert.deepEqual([nobody.status, (nobody.json() as { __type: string }).__type], [404, 'ResourceNotFoundException']);
  const chat = await rig.post('/model/direct/converse', { messages: [] });
  assertRefusal(chat, 404, { ...(chat.json() as object), __type: 'ResourceNotFoundException' });
});
