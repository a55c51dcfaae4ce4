/** Anthropic's own client. */

import Anthropic from '@anthropic-ai/sdk';
import { defineClient, type Gateway } from '../client.ts';

const connect = ({ url, key }: Gateway): Anthropic => new Anthropic({ baseURL: url, apiKey: key, maxRetries: 0 });

const conversation = ({ model }: Gateway, content: string) => ({
  model,
  max_tokens: 99,
  messages: [{ role: 'user' as const, content }],
});

export default defineClient({
  package: '@anthropic-ai/sdk',
  setUp: "new Anthropic({ baseURL: 'https://postern', apiKey })",
  ways: {
    messages: {
      call: '`messages.create`',
      async run(gateway, prompt) {
        const { content } = await connect(gateway).messages.create(conversation(gateway, prompt));
        return content.map((one) => (one.type === 'text' ? one.text : '')).join('');
      },
    },
    messageStreams: {
      call: '`messages.stream`',
      async *run(gateway, prompt) {
        for await (const event of connect(gateway).messages.stream(conversation(gateway, prompt))) {
          if (event.type === 'content_block_delta' && event.delta.type === 'text_delta') yield event.delta.text;
        }
      },
    },
  },
});
