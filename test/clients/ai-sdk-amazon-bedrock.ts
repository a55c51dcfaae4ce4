/** The AI SDK with its provider for AWS Bedrock: its requests are Titan's unless the model's name shows another maker. */

import { createAmazonBedrock } from '@ai-sdk/amazon-bedrock';
import { rerank } from 'ai';
import { defineClient, type Gateway } from '../matrix/client.ts';
import { embeddingsOf } from './support/ai-sdk.ts';

const connect = ({ url, key }: Gateway) =>
  createAmazonBedrock({ baseURL: `${url}/bedrock`, apiKey: key, region: 'us-east-1' });

export default defineClient({
  package: '@ai-sdk/amazon-bedrock',
  beside: ['ai'],
  setUp: "createAmazonBedrock({ baseURL: 'https://postern/bedrock', apiKey, region })",
  ways: {
    embeddings: {
      call: '`embedMany` with `embeddingModel(model)`',
      run: (gateway, texts) => embeddingsOf(connect(gateway).embeddingModel(gateway.model), texts),
    },
    rerank: {
      call: '`rerank` with `rerankingModel(model)`',
      async run(gateway, { query, documents, topN }) {
        const model = connect(gateway).rerankingModel(gateway.model);
        const { ranking } = await rerank({ model, query, documents: [...documents], topN, maxRetries: 0 });
        return ranking.map(({ originalIndex: index, score }) => ({ index, score }));
      },
    },
  },
});
