/** Cohere's own client, in both of its versions. */

import assert from 'node:assert/strict';
import { CohereClient, CohereClientV2 } from 'cohere-ai';
import { defineClient, type Gateway } from '../client.ts';

const options = ({ url, key }: Gateway) => ({ environment: url, token: key, maxRetries: 0 });
const calm = { maxRetries: 0 };

export default defineClient({
  package: 'cohere-ai',
  setUp: "new CohereClientV2({ environment: 'https://postern', token })",
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
  },
  deadEnds: [
    {
      call: '`CohereClientV2.embed`',
      path: '/v2/embed',
      code: 'route_not_found',
      why: 'Cohere alone has this route: an OpenAI client embeds with the same models',
      run: (gateway) =>
        new CohereClientV2(options(gateway)).embed(
          { model: gateway.model, texts: ['x'], inputType: 'search_document', embeddingTypes: ['float'] },
          calm,
        ),
    },
    {
      call: '`CohereClient.embed`',
      path: '/v1/embed',
      code: 'route_not_found',
      why: 'as above',
      run: (gateway) => new CohereClient(options(gateway)).embed({ model: gateway.model, texts: ['x'] }, calm),
    },
  ],
});
