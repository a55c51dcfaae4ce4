/** The AI SDK with its provider for OpenAI. */

import { createOpenAI } from '@ai-sdk/openai';
import { defineClient, type Gateway } from '../matrix/client.ts';
import { embeddingsOf, replyOf, streamOf } from './support/ai-sdk.ts';

const connect = ({ url, key }: Gateway) => createOpenAI({ baseURL: `${url}/v1`, apiKey: key });

export default defineClient({
  package: '@ai-sdk/openai',
  beside: ['ai'],
  setUp: "createOpenAI({ baseURL: 'https://postern/v1', apiKey })",
  ways: {
    embeddings: {
      call: '`embedMany` with `embedding(model)`',
      run: (gateway, texts) => embeddingsOf(connect(gateway).embedding(gateway.model), texts),
    },
    completions: {
      call: '`generateText` with `completion(model)`',
      run: (gateway, prompt) => replyOf(connect(gateway).completion(gateway.model), prompt),
    },
    streams: {
      call: '`streamText` with `completion(model)`',
      run: (gateway, prompt) => streamOf(connect(gateway).completion(gateway.model), prompt),
    },
  },
});
