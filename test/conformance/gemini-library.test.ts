/** Google's own library, as it is, at Google's own methods. */

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { ApiError, GoogleGenAI } from '@google/genai';
import { startRig, testKey } from '../support/gateways/rig.ts';
import { type Handler, startFakeUpstream } from '../support/upstreams/fake-upstream.ts';

const answer = {
  candidates: [{ content: { role: 'model', parts: [{ text: 'four' }] }, finishReason: 'STOP' }],
  usageMetadata: { promptTokenCount: 7, candidatesTokenCount: 1, totalTokenCount: 8 },
};
const event = (data: object): string => `data: ${JSON.stringify(data)}\r\n\r\n`;

/** By the method that the path ends with. */
const google: Handler = (request, reply) => {
  const method = /:(\w+)/.exec(request.path)?.[1];
  switch (method) {
    case 'generateContent':
      return reply.json(200, answer);
    case 'streamGenerateContent':
      return reply.bytes(200, [['content-type', 'text/event-stream']], event(answer) + event(answer));
    case 'countTokens':
      return reply.json(200, { totalTokens: 7 });
    case 'embedContent':
      return reply.json(200, { embedding: { values: [0.5, 1.25] } });
    case 'batchEmbedContents':
      return reply.json(200, { embeddings: [{ values: [0.5] }, { values: [1.25] }] });
    default:
      return reply.json(404, { error: { code: 404, message: 'no such method', status: 'NOT_FOUND' } });
  }
};

async function startLibrary(t: TestContext) {
  const up = await startFakeUpstream(google);
  t.after(() => up.close());
  const rig = await startRig(t, {
    upstreams: [{ id: 'up', family: 'gemini', base_url: up.url, api_key: 'AIza-upstream-credential' }],
    models: [
      { id: 'flash', operations: ['generate'], targets: [{ upstream: 'up', model: 'gemini-real' }] },
      { id: 'vectors', operations: ['embeddings'], targets: [{ upstream: 'up', model: 'gemini-embedding-001' }] },
    ],
    keys: [{ id: 'test', secret: testKey }],
  });
  const ai = new GoogleGenAI({ apiKey: testKey, vertexai: false, httpOptions: { baseUrl: rig.url } });
  return { up, rig, ai };
}

test("Google's library generates, plain and streamed, counts tokens and continues a conversation", async (t) => {
  const { ai, rig, up } = await startLibrary(t);
  const contents = 'What is 2 + 2?';
  const config = { maxOutputTokens: 10, tools: [{ functionDeclarations: [{ name: 'add' }] }] };
  const whole = await ai.models.generateContent({ model: 'flash', contents, config });
  assert.deepEqual([whole.text, whole.usageMetadata?.totalTokenCount], ['four', 8]);
  const { usage } = await rig.exchange(1);
  assert.deepEqual([usage?.promptTokens, usage?.completionTokens], [7, 1]);
  let text = '';
  for await (const piece of await ai.models.generateContentStream({ model: 'flash', contents })) text += piece.text;
  assert.equal(text, 'fourfour');
  assert.equal((await ai.models.countTokens({ model: 'models/flash', contents })).totalTokens, 7);
  const chat = ai.chats.create({ model: 'flash' });
  assert.equal((await chat.sendMessage({ message: contents })).text, 'four');
  for (const { path, headers } of up.requests) {
    assert.match(path, /\/models\/gemini-real:/);
    assert.equal(JSON.stringify(headers).includes(testKey), false);
  }
});

test("Google's library embeds one text and several", async (t) => {
  const { ai } = await startLibrary(t);
  const embed = async (contents: string | string[]) =>
    (await ai.models.embedContent({ model: 'vectors', contents })).embeddings?.map(({ values }) => values);
  assert.deepEqual(await embed(['a', 'b']), [[0.5], [1.25]]);
});

test("Google's library parses the gateway's errors", async (t) => {
  const { ai } = await startLibrary(t);
  const refused = async (model: string): Promise<ApiError> => {
    const error: unknown = await ai.models.generateContent({ model, contents: 'a' }).catch((thrown: unknown) => thrown);
    assert.ok(error instanceof ApiError);
    return error;
  };
  assert.equal((await refused('nobody')).status, 404);
  assert.equal((await refused('vectors')).status, 400);
});
