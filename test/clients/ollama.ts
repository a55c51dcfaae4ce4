/** Ollama's own client. */

import { Ollama } from 'ollama';
import { defineClient, type Gateway } from '../matrix/client.ts';

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
  },
});
