/** Ollama's own client. */

import { Ollama } from 'ollama';
import { defineClient, type Gateway } from '../matrix/client.ts';

const connect = ({ url, key }: Gateway): Ollama =>
  new Ollama({ host: url, headers: { authorization: `Bearer ${key}` } });

export default defineClient({
  package: 'ollama',
  setUp: "new Ollama({ host: 'https://postern' })",
  ways: {},
  deadEnds: [
    {
      call: '`embed`',
      path: '/api/embed',
      code: 'route_not_found',
      why: 'Ollama alone has this route: an OpenAI client embeds with its models',
      run: (gateway) => connect(gateway).embed({ model: gateway.model, input: 'x' }),
    },
    {
      call: '`generate`',
      path: '/api/generate',
      code: 'route_not_found',
      why: 'Ollama alone has this route: an OpenAI client completes with its models',
      run: (gateway) => connect(gateway).generate({ model: gateway.model, prompt: 'x' }),
    },
  ],
});
