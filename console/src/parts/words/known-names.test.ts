import assert from 'node:assert/strict';
import { test } from 'node:test';
import { operationsByName } from './operations.ts';

test("a model's purpose is guessed from its name only if it is unambiguous", () => {
  const rows = [
    ['text-embedding-3-small', 'embeddings'],
    ['BAAI/bge-m3', 'embeddings'],
    ['BAAI/bge-reranker-v2-m3', 'rerank'],
    ['intfloat/multilingual-e5-large', 'embeddings'],
    ['voyage-3.5', 'embeddings'],
    ['rerank-v3.5', 'rerank'],
    ['jina-reranker-v2-base-multilingual', 'rerank'],
    ['sentence-transformers/all-MiniLM-L6-v2', 'embeddings'],
    ['omni-moderation-latest', 'moderations'],
    ['meta-llama/Llama-Guard-3-8B', 'moderations'],
    ['gpt-3.5-turbo-instruct', 'completions'],
    ['davinci-002', 'completions'],
    ['gpt-4o', 'chat'],
    ['claude-sonnet-4-5', 'messages'],
    ['mistral-small-latest', undefined],
    ['qwen2.5-7b-instruct', undefined],
    ['big-e5k', undefined],
  ] as const;
  for (const [name, operation] of rows) {
    assert.deepEqual(operationsByName(name), operation === undefined ? [] : [operation], name);
  }
});
