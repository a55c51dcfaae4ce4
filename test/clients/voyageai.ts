/** Voyage's own client. */

import { VoyageAIClient } from 'voyageai';
import { defineClient, type Gateway } from '../matrix/client.ts';

const connect = ({ url, key }: Gateway): VoyageAIClient =>
  new VoyageAIClient({ apiKey: key, baseUrl: `${url}/voyage/v1`, maxRetries: 0 });

export default defineClient({
  package: 'voyageai',
  setUp: "new VoyageAIClient({ apiKey, baseUrl: 'https://postern/voyage/v1' })",
  ways: {
    embeddings: {
      call: '`embed`',
      async run(gateway, texts) {
        const { data = [] } = await connect(gateway).embed({ model: gateway.model, input: [...texts] });
        return data.map(({ embedding = [] }) => embedding);
      },
    },
    rerank: {
      call: '`rerank`',
      async run(gateway, { query, documents, topN }) {
        const asked = { model: gateway.model, query, documents: [...documents], topK: topN };
        const { data = [] } = await connect(gateway).rerank(asked);
        return data.map(({ index = -1, relevanceScore: score = -1 }) => ({ index, score }));
      },
    },
  },
});
