/** OpenAI's own client. */

import assert from 'node:assert/strict';
import OpenAI, { toFile } from 'openai';
import * as z from 'zod';
import { defineClient, type Gateway, lookUp } from '../client.ts';

const connect = ({ url, key }: Gateway): OpenAI => new OpenAI({ baseURL: `${url}/v1`, apiKey: key, maxRetries: 0 });

const embeddingsAnswer = z.object({ data: z.array(z.object({ index: z.int(), embedding: z.array(z.number()) })) });
const rerankAnswer = z.object({ results: z.array(z.object({ index: z.int(), relevance_score: z.number() })) });
const toolArguments = z.object({ text: z.string() });
const editsAnswer = z.object({ choices: z.tuple([z.object({ text: z.string() })]) });

const conversation = ({ model }: Gateway, content: string) => ({
  model,
  messages: [{ role: 'user' as const, content }],
});

export default defineClient({
  package: 'openai',
  setUp: "new OpenAI({ baseURL: 'https://postern/v1', apiKey })",
  ways: {
    embeddings: {
      call: '`embeddings.create`',
      async run(gateway, texts) {
        const asked = { model: gateway.model, input: [...texts] };
        const client = connect(gateway);
        // By itself it asks for base64, and decodes that.
        const { data } = await client.embeddings.create(asked);
        const floats = await client.embeddings.create({ ...asked, encoding_format: 'float' });
        assert.deepEqual(floats.data, data);
        return data.map(({ embedding }) => embedding);
      },
    },
    engines: {
      call: "`post('/engines/{model}/embeddings')`",
      async run(gateway, texts) {
        const path = `/engines/${encodeURIComponent(gateway.model)}/embeddings`;
        const answer = embeddingsAnswer.parse(await connect(gateway).post(path, { body: { input: texts } }));
        return answer.data.map(({ embedding }) => embedding);
      },
    },
    rerank: {
      call: "`post('/rerank')`",
      async run(gateway, { query, documents, topN }) {
        const body = { model: gateway.model, query, documents, top_n: topN };
        const { results } = rerankAnswer.parse(await connect(gateway).post('/rerank', { body }));
        return results.map(({ index, relevance_score: score }) => ({ index, score }));
      },
    },
    moderations: {
      call: '`moderations.create`',
      async run(gateway, texts) {
        const { results } = await connect(gateway).moderations.create({ model: gateway.model, input: [...texts] });
        return results.map(({ flagged }) => flagged);
      },
    },
    completions: {
      call: '`completions.create`',
      async run(gateway, prompt) {
        const { choices } = await connect(gateway).completions.create({ model: gateway.model, prompt, max_tokens: 99 });
        return choices[0]?.text ?? '';
      },
    },
    streams: {
      call: '`completions.create`',
      async *run(gateway, prompt) {
        const asked = { model: gateway.model, prompt, max_tokens: 99, stream: true } as const;
        const events = await connect(gateway).completions.create({ ...asked, stream_options: { include_usage: true } });
        for await (const { choices } of events) yield choices[0]?.text ?? '';
      },
    },
    chat: {
      call: '`chat.completions.create`',
      async run(gateway, prompt) {
        const { choices } = await connect(gateway).chat.completions.create(conversation(gateway, prompt));
        return choices[0]?.message.content ?? '';
      },
    },
    chatStreams: {
      call: '`chat.completions.create`',
      async *run(gateway, prompt) {
        const asked = { ...conversation(gateway, prompt), stream_options: { include_usage: true } };
        const events = await connect(gateway).chat.completions.create({ ...asked, stream: true });
        for await (const { choices } of events) yield choices[0]?.delta.content ?? '';
      },
    },
    tools: {
      call: '`chat.completions.create`',
      async run(gateway, prompt) {
        const asked = { ...conversation(gateway, prompt), tools: [{ type: 'function' as const, function: lookUp }] };
        const { choices } = await connect(gateway).chat.completions.create(asked);
        const [call] = choices[0]?.message.tool_calls ?? [];
        assert.ok(call?.type === 'function');
        return { name: call.function.name, text: toolArguments.parse(JSON.parse(call.function.arguments)).text };
      },
    },
    responses: {
      call: '`responses.create`',
      run: async (gateway, prompt) =>
        (await connect(gateway).responses.create({ model: gateway.model, input: prompt, store: false })).output_text,
    },
    responseStreams: {
      call: '`responses.create({ stream: true })`',
      async *run(gateway, input) {
        const asked = { model: gateway.model, input, store: false, stream: true as const };
        for await (const event of await connect(gateway).responses.create(asked)) {
          if (event.type === 'response.output_text.delta') yield event.delta;
        }
      },
    },
    images: {
      call: '`images.generate`',
      run: async (gateway, prompt) =>
        (await connect(gateway).images.generate({ model: gateway.model, prompt })).data?.[0]?.b64_json ?? '',
    },
    speech: {
      call: '`audio.speech.create`',
      run: async (gateway, input) =>
        (await connect(gateway).audio.speech.create({ model: gateway.model, input, voice: 'alloy' })).text(),
    },
    transcriptions: {
      call: '`audio.transcriptions.create`',
      async run(gateway, sound) {
        const file = await toFile(Buffer.from(sound), 'a.mp3');
        return (await connect(gateway).audio.transcriptions.create({ model: gateway.model, file })).text;
      },
    },
    edits: {
      call: "`post('/edits')`",
      async run(gateway, { input, instruction }) {
        const body = { model: gateway.model, input, instruction };
        return editsAnswer.parse(await connect(gateway).post('/edits', { body })).choices[0].text;
      },
    },
  },
});
