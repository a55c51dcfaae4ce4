/** LangChain with Cohere's models. */

import { Cohere, CohereEmbeddings, CohereRerank } from '@langchain/cohere';
import { CohereClient } from 'cohere-ai';
import { defineClient, type Gateway } from '../matrix/client.ts';

const connect = ({ url, key }: Gateway): CohereClient => new CohereClient({ environment: url, token: key });

export default defineClient({
  package: '@langchain/cohere',
  beside: ['@langchain/core', 'cohere-ai'],
  setUp: "new CohereRerank({ model, client: new CohereClient({ environment: 'https://postern', token }) })",
  remark: 'sends `max_chunks_per_doc: null` with every call, which passes if nothing is translated',
  ways: {
    rerank: {
      call: '`CohereRerank.rerank`',
      async run(gateway, { query, documents, topN }) {
        const reranker = new CohereRerank({ model: gateway.model, client: connect(gateway), topN });
        const results = await reranker.rerank([...documents], query);
        return results.map(({ index, relevanceScore: score }) => ({ index, score }));
      },
    },
    embeddings: {
      call: '`CohereEmbeddings`',
      run: (gateway, texts) =>
        new CohereEmbeddings({ model: gateway.model, client: connect(gateway), maxRetries: 0 }).embedDocuments([
          ...texts,
        ]),
    },
  },
  deadEnds: [
    {
      call: '`Cohere`',
      path: '/v1/generate',
      code: 'route_not_found',
      why: 'only Cohere had this route: use `OpenAI` for completions, with `bridge: chat` for the same models',
      run: (gateway) => new Cohere({ model: gateway.model, client: connect(gateway), maxRetries: 0 }).invoke('x'),
    },
  ],
});
