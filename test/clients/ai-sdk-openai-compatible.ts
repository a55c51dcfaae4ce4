/** The AI SDK with its provider for all who speak as OpenAI does. */

import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { defineClient, type Gateway } from '../matrix/client.ts';
import { embeddingsOf, replyOf, streamOf } from './support/ai-sdk.ts';

const connect = ({ url, key }: Gateway) =>
  createOpenAICompatible({ name: 'postern', baseURL: `${url}/v1`, apiKey: key, includeUsage: true });

export default defineClient({
  package: '@ai-sdk/openai-compatible',
  beside: ['ai'],
  setUp: "createOpenAICompatible({ name: 'postern', baseURL: 'https://postern/v1', apiKey })",
  ways: {
    embeddings: {
      call: '`embedMany` with `embeddingModel(model)`',
      run: (gateway, texts) => embeddingsOf(connect(gateway).embeddingModel(gateway.model), texts),
    },
    completions: {
      call: '`generateText` with `completionModel(model)`',
      run: (gateway, prompt) => replyOf(connect(gateway).completionModel(gateway.model), prompt),
    },
    streams: {
      call: '`streamText` with `completionModel(model)`',
      run: (gateway, prompt) => streamOf(connect(gateway).completionModel(gateway.model), prompt),
    },
  },
});
