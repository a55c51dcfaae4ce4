/** AWS's own SDK, which sends bytes: here those of Cohere's models. */

import { BedrockRuntimeClient, InvokeModelCommand } from '@aws-sdk/client-bedrock-runtime';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import { z } from 'zod';
import { defineClient, type Gateway } from '../matrix/client.ts';

async function invoke({ url, key, model }: Gateway, body: object): Promise<unknown> {
  const client = new BedrockRuntimeClient({
    endpoint: `${url}/bedrock`,
    region: 'us-east-1',
    token: { token: key },
    authSchemePreference: ['httpBearerAuth'],
    requestHandler: new NodeHttpHandler(),
    maxAttempts: 1,
  });
  try {
    const answer = await client.send(new InvokeModelCommand({ modelId: model, body: JSON.stringify(body) }));
    return JSON.parse(new TextDecoder().decode(answer.body));
  } finally {
    client.destroy();
  }
}

const vectors = z.object({ embeddings: z.array(z.array(z.number())) });
const results = z.object({ results: z.array(z.object({ index: z.number(), relevance_score: z.number() })) });

export default defineClient({
  package: '@aws-sdk/client-bedrock-runtime',
  beside: ['@smithy/node-http-handler'],
  setUp:
    "new BedrockRuntimeClient({ endpoint: 'https://postern/bedrock', region, token: { token }, authSchemePreference: ['httpBearerAuth'], requestHandler: new NodeHttpHandler() })",
  remark: 'needs `NodeHttpHandler`, because its default is HTTP/2, which Postern does not serve',
  ways: {
    embeddings: {
      call: '`InvokeModelCommand` with `texts`',
      run: async (gateway, texts) =>
        vectors.parse(await invoke(gateway, { texts, input_type: 'search_document' })).embeddings,
    },
    rerank: {
      call: '`InvokeModelCommand` with `query`',
      async run(gateway, { query, documents, topN }) {
        const answer = await invoke(gateway, { api_version: 2, query, documents, top_n: topN });
        return results.parse(answer).results.map(({ index, relevance_score: score }) => ({ index, score }));
      },
    },
  },
});
