/** The AI SDK with its provider for OpenAI. */

import { createOpenAI } from '@ai-sdk/openai';
import { defineClient, type Gateway } from '../matrix/client.ts';
import { embeddingsOf, pictureOf, replyOf, streamOf, toolCallOf } from './support/ai-sdk.ts';

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
    chat: {
      call: '`generateText` with `chat(model)`',
      run: (gateway, prompt) => replyOf(connect(gateway).chat(gateway.model), prompt),
    },
    chatStreams: {
      call: '`streamText` with `chat(model)`',
      run: (gateway, prompt) => streamOf(connect(gateway).chat(gateway.model), prompt),
    },
    tools: {
      call: '`generateText` with `chat(model)` and `tools`',
      run: (gateway, prompt) => toolCallOf(connect(gateway).chat(gateway.model), prompt),
    },
    responses: {
      call: '`generateText` with `responses(model)`',
      run: (gateway, prompt) => replyOf(connect(gateway).responses(gateway.model), prompt),
    },
    images: {
      call: '`generateImage` with `image(model)`',
      run: (gateway, prompt) => pictureOf(connect(gateway).image(gateway.model), prompt),
    },
  },
});
