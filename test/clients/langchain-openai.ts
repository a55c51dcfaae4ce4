/** LangChain with OpenAI's models. */

import { ChatOpenAI, OpenAI, OpenAIEmbeddings } from '@langchain/openai';
import { defineClient, type Gateway, lookUp } from '../matrix/client.ts';

const options = ({ url, key, model }: Gateway) => ({
  model,
  apiKey: key,
  maxRetries: 0,
  configuration: { baseURL: `${url}/v1` },
});

export default defineClient({
  package: '@langchain/openai',
  beside: ['@langchain/core'],
  setUp: "new OpenAIEmbeddings({ model, apiKey, configuration: { baseURL: 'https://postern/v1' } })",
  remark: 'replaces line breaks by spaces: set `stripNewLines: false`',
  ways: {
    embeddings: {
      call: '`OpenAIEmbeddings`',
      run: (gateway, texts) => new OpenAIEmbeddings(options(gateway)).embedDocuments([...texts]),
    },
    completions: {
      call: '`OpenAI.invoke`',
      run: (gateway, prompt) => new OpenAI(options(gateway)).invoke(prompt),
    },
    streams: {
      call: '`OpenAI.stream`',
      async *run(gateway, prompt) {
        yield* await new OpenAI(options(gateway)).stream(prompt);
      },
    },
    chat: {
      call: '`ChatOpenAI.invoke`',
      run: async (gateway, prompt) => (await new ChatOpenAI(options(gateway)).invoke(prompt)).text,
    },
    chatStreams: {
      call: '`ChatOpenAI.stream`',
      async *run(gateway, prompt) {
        for await (const { text } of await new ChatOpenAI(options(gateway)).stream(prompt)) yield text;
      },
    },
    tools: {
      call: '`ChatOpenAI.bindTools`',
      async run(gateway, prompt) {
        const tool = { type: 'function' as const, function: lookUp };
        const { tool_calls: [call] = [] } = await new ChatOpenAI(options(gateway)).bindTools([tool]).invoke(prompt);
        return { name: call?.name ?? '', text: call?.args.text };
      },
    },
  },
});
