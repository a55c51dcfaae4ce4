/** Chat as clients meet it: the official library, budgets, prices, and streams that are counted for the gateway alone. */

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import OpenAI from 'openai';
import { assertError } from '../support/clients/error-answer.ts';
import { type Rig, startRig, testKey } from '../support/gateways/rig.ts';
import { type FakeUpstream, type Script, startFakeUpstream } from '../support/upstreams/fake-upstream.ts';

const path = '/v1/chat/completions';
const usage = {
  prompt_tokens: 100,
  completion_tokens: 10,
  total_tokens: 110,
  prompt_tokens_details: { cached_tokens: 40 },
};
const message = { role: 'assistant', content: 'four', refusal: null };
const answer = {
  id: 'c1',
  object: 'chat.completion',
  created: 1,
  model: 'gpt-real',
  choices: [{ index: 0, message, finish_reason: 'stop' }],
  usage,
};
const question = (content: unknown, more: object = {}) => ({
  model: 'm',
  messages: [{ role: 'user', content }],
  ...more,
});

async function startSetup(
  t: TestContext,
  script: Script,
  { model = {}, key = {} }: { readonly model?: object; readonly key?: object } = {},
): Promise<{ rig: Rig; up: FakeUpstream }> {
  const up = await startFakeUpstream(script);
  t.after(() => up.close());
  const rig = await startRig(t, {
    upstreams: [{ id: 'up', family: 'openai', base_url: up.url, api_key: 'sk-upstream-credential' }],
    models: [
      {
        id: 'm',
        operations: ['chat'],
        price: { input: 2, cached_input: 1, output: 10 },
        targets: [{ upstream: 'up', model: 'gpt-real' }],
        ...model,
      },
    ],
    keys: [{ id: 'test', secret: testKey, ...key }],
  });
  return { rig, up };
}

const chunk = (delta: object, more: object = {}): string =>
  `data: ${JSON.stringify({ id: 'c1', object: 'chat.completion.chunk', choices: [{ index: 0, delta, ...more }] })}\n\n`;
const count = `data: ${JSON.stringify({ id: 'c1', object: 'chat.completion.chunk', choices: [], usage })}\n\n`;
const events = [
  chunk({ role: 'assistant', content: 'fo' }),
  chunk({ content: 'ur' }),
  chunk({}, { finish_reason: 'stop' }),
];

const end = 'data: [DONE]\n\n';

/** Counts where it is asked to. */
const streaming: Script = (request, reply) => {
  const isCounted = request.body.includes('"include_usage":true');
  return reply.bytes(
    200,
    [['content-type', 'text/event-stream']],
    [...events, ...(isCounted ? [count] : []), end].join(''),
  );
};

test('bills cached, new and generated tokens', async (t) => {
  const { rig, up } = await startSetup(t, (_request, reply) => reply.json(200, answer));
  const response = await rig.post(path, question('2+2?'));
  assert.equal(response.status, 200);
  assert.equal(response.body.toString(), JSON.stringify(answer));
  assert.equal((await up.nextRequest()).body.toString(), JSON.stringify({ ...question('2+2?'), model: 'gpt-real' }));
  const { bill, route } = await rig.exchange(1);
  assert.equal(route?.operation, 'chat');
  // 60 at 2, 40 at 1 and 10 at 10 dollars a million.
  assert.deepEqual(
    [bill?.inputTokens, bill?.cachedTokens, bill?.outputTokens, bill?.costNanos],
    [100, 40, 10, 260_000],
  );
  assert.equal(bill?.isEstimated, false);
});

test('the official library works, plain and streamed, with tools', async (t) => {
  const { rig, up } = await startSetup(t, (request, reply) =>
    request.body.includes('"stream":true') ? streaming(request, reply) : reply.json(200, answer),
  );
  const client = new OpenAI({ baseURL: `${rig.url}/v1`, apiKey: testKey, maxRetries: 0 });
  const tools = [{ type: 'function' as const, function: { name: 'add', parameters: { type: 'object' } } }];
  const messages = [{ role: 'user' as const, content: '2+2?' }];
  const plain = await client.chat.completions.create({ model: 'm', messages, tools });
  assert.equal(plain.choices[0]?.message.content, 'four');
  let said = '';
  for await (const { choices } of await client.chat.completions.create({ model: 'm', messages, stream: true })) {
    said += choices[0]?.delta.content ?? '';
  }
  assert.equal(said, 'four');
  assert.match(up.requests[0]?.body.toString() ?? '', /"tools":\[\{"type":"function"/);
});

test('with usage: ask, a stream is billed by requested usage, and the client sees no usage event', async (t) => {
  const { rig, up } = await startSetup(t, streaming, { model: { usage: 'ask' } });
  const response = await rig.post(path, question('2+2?', { stream: true }));
  assert.equal(response.body.toString(), [...events, end].join(''));
  assert.match((await up.nextRequest()).body.toString(), /"stream_options":\{"include_usage":true\}/);
  const { bill } = await rig.exchange(1);
  assert.deepEqual([bill?.inputTokens, bill?.outputTokens, bill?.isEstimated], [100, 10, false]);
});

test('a stream without usage is billed by an estimate from its number of events', async (t) => {
  const { rig } = await startSetup(t, streaming);
  await rig.post(path, question('2+2?', { stream: true }));
  const { bill } = await rig.exchange(1);
  assert.deepEqual([bill?.outputTokens, bill?.isEstimated], [2, true]);
});

test("under a budget, images need the model's context size, else they are refused by name", async (t) => {
  const image = question([{ type: 'image_url', image_url: { url: 'https://pictures.example/x.png' } }], {
    max_tokens: 5,
  });
  const key = { budgets: [{ every: 'day', amount: '1' }] };
  const script: Script = (_request, reply) => reply.json(200, answer);
  const without = await startSetup(t, script, { key });
  assertError(await without.rig.post(path, image), 'unsupported_parameter', { param: 'image_url' });
  assert.equal(without.up.requests.length, 0);
  const free = await startSetup(t, script);
  assert.equal((await free.rig.post(path, image)).status, 200);
  const held = await startSetup(t, script, { key, model: { context: 128_000 } });
  assert.equal((await held.rig.post(path, image)).status, 200);
  // 600,000 tokens at 2 dollars a million are more than there is.
  const tooLong = await startSetup(t, script, { key, model: { context: 600_000 } });
  assertError(await tooLong.rig.post(path, image), 'budget_exceeded');
});

test("a budget reserves the request's maximum output tokens, else the model's max_output", async (t) => {
  const key = { budgets: [{ every: 'day', amount: '0.01' }] };
  const script: Script = (_request, reply) => reply.json(200, answer);
  const { rig } = await startSetup(t, script, { key });
  assertError(await rig.post(path, question('x')), 'budget_exceeded');
  assertError(await rig.post(path, question('x', { max_completion_tokens: 2_000, max_tokens: 1 })), 'budget_exceeded');
  assertError(await rig.post(path, question('x', { max_tokens: 500, n: 4 })), 'budget_exceeded');
  assert.equal((await rig.post(path, question('x', { max_tokens: 500 }))).status, 200);
  const bounded = await startSetup(t, script, { key, model: { max_output: 500 } });
  assert.equal((await bounded.rig.post(path, question('x'))).status, 200);
});

test('a chat request to a model without chat gets 400 that names the model field', async (t) => {
  const { rig, up } = await startSetup(t, streaming, { model: { operations: ['completions'] } });
  assertError(await rig.post(path, question('x')), 'operation_not_supported', { param: 'model' });
  assert.equal(up.requests.length, 0);
});
