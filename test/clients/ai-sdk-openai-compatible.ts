/** The AI SDK with its provider for all services with OpenAI's format. */

import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { defineClient, type Gateway } from '../matrix/client.ts';
import { embeddingsOf, replyOf, streamOf, toolCallOf } from './support/ai-sdk.ts';

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
    chat: {
      call: '`generateText` with `chatModel(model)`',
      run: (gateway, prompt) => replyOf(connect(gateway).chatModel(gateway.model), prompt),
    },
    chatStreams: {
      call: '`streamText` with `chatModel(model)`',
      run: (gateway, prompt) => streamOf(connect(gateway).chatModel(gateway.model), prompt),
    },
    tools: {
      call: '`generateText` with `chatModel(model)` and `tools`',
      run: (gateway, prompt) => toolCallOf(connect(gateway).chatModel(gateway.model), prompt),
    },
  },
});
