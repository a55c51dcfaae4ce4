/** LlamaIndex with its package for OpenAI. */

import { OpenAIEmbedding } from '@llamaindex/openai';
import { Document, IngestionPipeline } from 'llamaindex';
import { defineClient } from '../matrix/client.ts';

export default defineClient({
  package: 'llamaindex',
  beside: ['@llamaindex/openai'],
  setUp: "new OpenAIEmbedding({ model, apiKey, baseURL: 'https://postern/v1' })",
  ways: {
    embeddings: {
      call: '`OpenAIEmbedding` in an `IngestionPipeline`',
      async run({ url, key, model }, texts) {
        const embedding = new OpenAIEmbedding({ model, apiKey: key, baseURL: `${url}/v1`, maxRetries: 0 });
        const documents = texts.map((text) => new Document({ text }));
        const nodes = await new IngestionPipeline({ transformations: [embedding], documents }).run();
        return nodes.map((node) => node.getEmbedding());
      },
    },
  },
});
