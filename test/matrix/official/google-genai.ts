/** Google's own client. */

import { GoogleGenAI } from '@google/genai';
import { defineClient, type Gateway } from '../client.ts';

const connect = ({ url, key }: Gateway): GoogleGenAI =>
  new GoogleGenAI({ apiKey: key, vertexai: false, httpOptions: { baseUrl: `${url}/gemini` } });

export default defineClient({
  package: '@google/genai',
  setUp: "new GoogleGenAI({ apiKey, httpOptions: { baseUrl: 'https://postern/gemini' } })",
  remark: '`interactions` work only with upstreams of family `gemini`',
  ways: {
    embeddings: {
      call: '`models.embedContent`',
      async run(gateway, texts) {
        const { embeddings = [] } = await connect(gateway).models.embedContent({
          model: gateway.model,
          contents: [...texts],
        });
        return embeddings.map(({ values = [] }) => values);
      },
    },
    generate: {
      call: '`models.generateContent`',
      run: async (gateway, contents) =>
        (await connect(gateway).models.generateContent({ model: gateway.model, contents })).text ?? '',
    },
    generateStreams: {
      call: '`models.generateContentStream`',
      async *run(gateway, contents) {
        const parts = await connect(gateway).models.generateContentStream({ model: gateway.model, contents });
        for await (const part of parts) yield part.text ?? '';
      },
    },
  },
});
