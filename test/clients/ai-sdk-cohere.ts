/** The AI SDK with its provider for Cohere. */

import { createCohere } from '@ai-sdk/cohere';
import { embedMany, rerank } from 'ai';
import { defineClient, type Gateway } from '../matrix/client.ts';

/** It insists on the `meta` of Cohere's answers, which this path is sure to give. */
const connect = ({ url, key }: Gateway) => createCohere({ baseURL: `${url}/cohere/v2`, apiKey: key });

export default defineClient({
  package: '@ai-sdk/cohere',
  beside: ['ai'],
  setUp: "createCohere({ baseURL: 'https://postern/cohere/v2', apiKey })",
  remark: 'needs `meta` in responses, so use this base URL',
  ways: {
    rerank: {
      call: '`rerank` with `reranking(model)`',
      async run(gateway, { query, documents, topN }) {
        const model = connect(gateway).reranking(gateway.model);
        const { ranking } = await rerank({ model, query, documents: [...documents], topN, maxRetries: 0 });
        return ranking.map(({ originalIndex: index, score }) => ({ index, score }));
      },
    },
    embeddings: {
      call: '`embedMany` with `embeddingModel(model)`',
      async run(gateway, texts) {
        const model = connect(gateway).embeddingModel(gateway.model);
        return (await embedMany({ model, values: [...texts], maxRetries: 0 })).embeddings;
      },
    },
  },
});
