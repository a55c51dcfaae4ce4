import assert from 'node:assert/strict';
import { test } from 'node:test';
import { offeredIn } from '../../test/families/offered.ts';
import type { ListedModel } from '../core/family.ts';
import { isMadeHere, offersOf, standardOptions } from '../core/family.ts';
import { families } from './index.ts';

interface Row {
  readonly path: string;
  readonly body: unknown;
  readonly models: readonly ListedModel[];
}

const openaiBody = {
  object: 'list',
  data: [{ id: 'a', object: 'model' }, { id: 'b/c', owned_by: 'x' }, { no: 'name' }, 7],
};
const openaiModels: readonly ListedModel[] = [{ id: 'a' }, { id: 'b/c' }];
const asOpenai = (path: string): Row => ({ path, body: openaiBody, models: openaiModels });

/** Families without a row have no documented list, or answer in this process. */
const rows: Readonly<Record<string, Row>> = {
  openai: asOpenai('/models'),
  vllm: asOpenai('/v1/models'),
  llamacpp: asOpenai('/v1/models'),
  ollama: asOpenai('/v1/models'),
  fireworks: asOpenai('/inference/v1/models'),
  siliconflow: asOpenai('/v1/models'),
  nvidia: asOpenai('/v1/models'),
  deepseek: asOpenai('/models'),
  cohere: {
    path: '/v1/models?page_size=1000',
    body: {
      models: [
        { name: 'embed-v4.0', endpoints: ['embed', 'classify'] },
        { name: 'rerank-v3.5', endpoints: ['rerank'] },
        { name: 'command-a', endpoints: ['chat'] },
      ],
    },
    models: [
      { id: 'embed-v4.0', operations: ['embeddings'] },
      { id: 'rerank-v3.5', operations: ['rerank'] },
      { id: 'command-a', operations: [] },
    ],
  },
  gemini: {
    path: '/v1beta/models?pageSize=1000',
    body: {
      models: [
        { name: 'models/gemini-embedding-001', supportedGenerationMethods: ['embedContent', 'batchEmbedContents'] },
        { name: 'models/gemini-3-pro', supportedGenerationMethods: ['generateContent'] },
        { name: 'models/unsaid' },
      ],
    },
    models: [
      { id: 'gemini-embedding-001', operations: ['embeddings'] },
      { id: 'gemini-3-pro', operations: [] },
      { id: 'unsaid' },
    ],
  },
  anthropic: {
    path: '/v1/models',
    body: { data: [{ type: 'model', id: 'claude-sonnet-4-5', display_name: 'Claude Sonnet 4.5' }], has_more: false },
    models: [{ id: 'claude-sonnet-4-5', operations: ['messages', 'count_tokens', 'chat'] }],
  },
  mistral: {
    path: '/v1/models',
    body: {
      data: [
        { id: 'codestral', capabilities: { completion_chat: true, completion_fim: true } },
        { id: 'mistral-moderation', capabilities: { completion_chat: false, moderation: true } },
        { id: 'mistral-small', capabilities: { completion_chat: true } },
        { id: 'mistral-embed', capabilities: { completion_chat: false } },
      ],
    },
    models: [
      { id: 'codestral', operations: ['completions', 'chat'] },
      { id: 'mistral-moderation', operations: ['moderations'] },
      { id: 'mistral-small', operations: ['chat'] },
      { id: 'mistral-embed' },
    ],
  },
  together: {
    path: '/v1/models',
    body: [
      { id: 'a/embed', type: 'embedding' },
      { id: 'a/rerank', type: 'rerank' },
      { id: 'a/base', type: 'language' },
      { id: 'a/chat', type: 'chat' },
      { id: 'a/image', type: 'image' },
    ],
    models: [
      { id: 'a/embed', operations: ['embeddings'] },
      { id: 'a/rerank', operations: ['rerank'] },
      { id: 'a/base', operations: ['completions'] },
      { id: 'a/chat' },
      { id: 'a/image', operations: [] },
    ],
  },
  pinecone: {
    path: '/models',
    body: {
      models: [
        { model: 'bge-reranker-v2-m3', type: 'rerank' },
        { model: 'multilingual-e5-large', type: 'embed' },
      ],
    },
    models: [
      { id: 'bge-reranker-v2-m3', operations: ['rerank'] },
      { id: 'multilingual-e5-large', operations: [] },
    ],
  },
  infinity: {
    path: '/models',
    body: {
      data: [
        { id: 'bge-m3', capabilities: ['embed'] },
        { id: 'bge-reranker', capabilities: ['rerank'] },
        { id: 'old' },
      ],
    },
    models: [
      { id: 'bge-m3', operations: ['embeddings'] },
      { id: 'bge-reranker', operations: ['rerank'] },
      { id: 'old' },
    ],
  },
  tei: {
    path: '/info',
    body: {
      model_id: 'BAAI/bge-reranker-large',
      model_type: { reranker: { id2label: {} } },
      max_client_batch_size: 32,
    },
    models: [{ id: 'BAAI/bge-reranker-large', operations: ['rerank'] }],
  },
};

test("this test's table has an example of the model list of every family with one", () => {
  const listing = families.filter(({ modelList }) => modelList !== undefined).map(({ id }) => id);
  assert.deepEqual(listing.sort(), Object.keys(rows).sort());
});

for (const [id, { path, body, models }] of Object.entries(rows)) {
  test(`${id}: reads model names from the upstream's list, and their operations if the list has them`, () => {
    const family = families.find((one) => one.id === id);
    assert.ok(family?.modelList);
    assert.equal(family.modelList.path, path);
    assert.deepEqual(family.modelList.read(body), models);
  });
}

test("an upstream's response that is no model list gives no models", () => {
  for (const { id, modelList } of families) {
    for (const body of [null, undefined, 7, 'models', {}, { data: null, models: 'x' }, { error: { message: 'no' } }])
      assert.equal(modelList?.read(body), undefined, `${id} ${JSON.stringify(body)}`);
  }
});

test('no model list gives a model an operation that its family does not offer', () => {
  for (const family of families) {
    const row = rows[family.id];
    if (row === undefined) continue;
    const offered = new Set<string>(offeredIn(offersOf(family, standardOptions(family))));
    for (const { id, operations = [] } of family.modelList?.read(row.body) ?? []) {
      for (const operation of operations) assert.ok(offered.has(operation), `${family.id} ${id} ${operation}`);
    }
  }
});

test('families answered locally have built-in models and request no model list', () => {
  for (const family of families) {
    if (!isMadeHere(offersOf(family, standardOptions(family)))) continue;
    assert.equal(family.modelList, undefined, family.id);
    assert.ok((family.builtIn ?? []).length > 0, family.id);
  }
});
