/** Cohere's own client, in both of its versions. */

import assert from 'node:assert/strict';
import { CohereClient, CohereClientV2 } from 'cohere-ai';
import { defineClient, type Gateway } from '../client.ts';

const options = ({ url, key }: Gateway) => ({ environment: url, token: key, maxRetries: 0 });
const calm = { maxRetries: 0 };

export default defineClient({
  package: 'cohere-ai',
  setUp: "new CohereClientV2({ environment: 'https://postern', token })",
  remark: '`chat` and `chatStream` of both versions work only with upstreams of family `cohere`',
  ways: {
    rerank: {
      call: '`rerank` of `CohereClientV2` and of `CohereClient`',
      async run(gateway, { query, documents, topN }) {
        const asked = { model: gateway.model, query, documents: [...documents], topN };
        const { results } = await new CohereClientV2(options(gateway)).rerank(asked, calm);
        const first = await new CohereClient(options(gateway)).rerank(asked, calm);
        const scored = results.map(({ index, relevanceScore: score }) => ({ index, score }));
        assert.deepEqual(
          first.results.map(({ index, relevanceScore: score }) => ({ index, score })),
          scored,
        );
        return scored;
      },
    },
    embeddings: {
      call: '`embed` of `CohereClientV2` and of `CohereClient`',
      async run(gateway, texts) {
        const asked = { model: gateway.model, texts: [...texts] };
        const { embeddings } = await new CohereClientV2(options(gateway)).embed(
          { ...asked, inputType: 'search_document', embeddingTypes: ['float'] },
          calm,
        );
        const first = await new CohereClient(options(gateway)).embed(asked, calm);
        assert.ok(first.responseType === 'embeddings_floats');
        assert.deepEqual(first.embeddings, embeddings.float);
        return embeddings.float ?? [];
      },
    },
  },
});
