/** Ollama's own client. */

import { Ollama } from 'ollama';
import { z } from 'zod';
import { defineClient, type Gateway, lookUp } from '../matrix/client.ts';

const toolArguments = z.object({ text: z.string() });

const connect = ({ url, key }: Gateway): Ollama =>
  new Ollama({ host: url, headers: { authorization: `Bearer ${key}` } });

export default defineClient({
  package: 'ollama',
  setUp: "new Ollama({ host: 'https://postern' })",
  ways: {
    embeddings: {
      call: '`embed`',
      run: async (gateway, texts) =>
        (await connect(gateway).embed({ model: gateway.model, input: [...texts] })).embeddings,
    },
    completions: {
      call: '`generate`',
      run: async (gateway, prompt) =>
        (await connect(gateway).generate({ model: gateway.model, prompt, options: { num_predict: 99 } })).response ??
        '',
    },
    streams: {
      call: '`generate({ stream: true })`',
      async *run(gateway, prompt) {
        const options = { num_predict: 99 };
        const parts = await connect(gateway).generate({ model: gateway.model, prompt, options, stream: true });
        for await (const { response } of parts) yield response ?? '';
      },
    },
    chat: {
      call: '`chat`',
      async run(gateway, prompt) {
        const messages = [{ role: 'user', content: prompt }];
        return (await connect(gateway).chat({ model: gateway.model, messages })).message.content;
      },
    },
    chatStreams: {
      call: '`chat({ stream: true })`',
      async *run(gateway, prompt) {
        const messages = [{ role: 'user', content: prompt }];
        const parts = await connect(gateway).chat({ model: gateway.model, messages, stream: true });
        for await (const { message } of parts) yield message.content;
      },
    },
    tools: {
      call: '`chat({ stream: true, tools })`',
      async run(gateway, prompt) {
        const messages = [{ role: 'user', content: prompt }];
        const tools = [{ type: 'function', function: lookUp }];
        const parts = await connect(gateway).chat({ model: gateway.model, messages, tools, stream: true });
        for await (const { message } of parts) {
          const [call] = message.tool_calls ?? [];
          if (call === undefined) continue;
          return { name: call.function.name, text: toolArguments.parse(call.function.arguments).text };
        }
        throw new Error('no tool was called');
      },
    },
  },
});
