/** Completions and edits by way of chat, over families whose chat differs. */

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import OpenAI from 'openai';
import * as z from 'zod';
import { completionsCases } from '../families/cases/completions.ts';
import { editsCases } from '../families/cases/edits.ts';
import { assertRefused } from '../families/cases/embeddings.ts';
import { errorCases } from '../families/cases/errors.ts';
import { chatOf, messages } from '../families/chat-shapes.ts';
import cohere from '../families/cohere.ts';
import { openSetup, type Setup } from '../families/family-setup.ts';
import { defineFixture, type FamilyFixture, type WireCall, type WireReply } from '../families/fixture.ts';
import mistral from '../families/mistral.ts';
import { replyTo } from '../families/wire.ts';
import { type Scope, testKey } from '../support/gateways/rig.ts';

const chatBody = z.looseObject({
  model: z.string(),
  messages,
  n: z.int().min(1).max(128).optional(),
  stream: z.boolean().optional(),
  stream_options: z.object({ include_usage: z.boolean().optional() }).optional(),
  max_tokens: z.int().optional(),
  max_completion_tokens: z.int().optional(),
  logprobs: z.boolean().optional(),
  top_logprobs: z.int().min(1).max(20).optional(),
});

function chat(body: unknown): WireReply {
  const asked = chatBody.parse(body);
  const prompt = asked.messages.at(-1)?.content ?? '';
  return chatOf(prompt, asked, { countsApart: asked.stream_options?.include_usage });
}

const openai = defineFixture({
  family: 'openai',
  model: 'gpt-4o-mini',
  pairs: [],
  service: ({ path, body }: WireCall) => (path === '/v1/chat/completions' ? chat(body) : { status: 404, body: '' }),
  error: (status, message) => ({ status, body: { error: { message, type: 'x', param: null, code: null } } }),
});

const overCohere: FamilyFixture = {
  ...cohere,
  service: ({ path, body }) =>
    path === '/compatibility/v1/chat/completions' ? chat(body) : { status: 404, body: { message: 'no such path' } },
};

const open = (t: Scope, fixture: FamilyFixture = openai, more: object = {}): Promise<Setup> =>
  openSetup(t, fixture, { target: { bridge: 'chat', ...more } });

const closings: (() => unknown)[] = [];
after(async () => {
  for (const close of closings.toReversed()) await close();
});

for (const fixture of [openai, mistral, overCohere]) {
  for (const operation of ['completions', 'edits'] as const) {
    const cases = operation === 'completions' ? completionsCases : editsCases;
    // None of these leaves anything behind that the next one could notice.
    let shared: Promise<Setup> | undefined;
    for (const [name, check] of [...Object.entries(cases), ...Object.entries(errorCases)]) {
      test(`${operation} emulated over chat of ${fixture.family}: ${name}`, async () => {
        shared ??= open({ after: (close) => closings.push(close) }, fixture);
        const setup = await shared;
        setup.answerWith();
        await check(setup, operation);
      });
    }
  }
}

const answer = z.object({
  id: z.string(),
  choices: z.array(z.object({ text: z.string(), finish_reason: z.string().nullable(), logprobs: z.unknown() })),
});

async function complete(setup: Setup, more: object) {
  const { status, text, json, header } = await setup.ask('/v1/completions', { model: 'm', prompt: 'p', ...more });
  assert.equal(status, 200, text);
  assert.equal(header('x-postern-translated'), 'chat');
  return answer.parse(json);
}

const refused = async (setup: Setup, parameter: string, more: object, route = '/v1/completions') => {
  setup.answerWith();
  const ask = route === '/v1/edits' ? { input: 'i', instruction: 'do' } : { prompt: 'p' };
  const { status, json } = await setup.ask(route, { model: 'm', ...ask, ...more });
  assertRefused(status, json, parameter);
  assert.equal(setup.calls.length, 0);
};

const sent = (setup: Setup): unknown => setup.calls.at(-1)?.body;

const choice = (more: object): WireReply => ({
  body: {
    id: 'chatcmpl-1',
    created: 5,
    model: 'c',
    choices: [{ index: 0, message: { role: 'assistant', content: 'x' }, finish_reason: 'stop', ...more }],
  },
});

test('a prompt becomes one chat message, and fields that chat has are sent byte for byte', async (t) => {
  const setup = await open(t);
  setup.answerWith(() => choice({}));
  const known =
    '"temperature":0.70,"top_p":1e-1,"stop":["a","b"],"seed":12345678901234567890,"user":"u","presence_penalty":0.5,"frequency_penalty":-1,"logit_bias":{"50256":-100},"max_tokens":7,"odd":[1.0]';
  const { text } = await setup.ask('/v1/completions', `{"model":"m","prompt":"p\\ud800",${known}}`);
  assert.equal(
    setup.calls[0]?.text,
    `{"model":"gpt-4o-mini","messages":[{"role":"user","content":"p\\ud800"}],${known}}`,
  );
  assert.equal(
    text,
    '{"id":"cmpl-1","object":"text_completion","created":5,"model":"c","choices":[{"text":"x","index":0,"logprobs":null,"finish_reason":"stop"}]}',
  );
});

test('no token limit is sent unless the client or operator sets one', async (t) => {
  const setup = await open(t);
  await complete(setup, {});
  assert.deepEqual(sent(setup), { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'p' }] });
  const limited = await open(t, openai, { defaults: { max_tokens: 16, temperature: 0 } });
  await complete(limited, { temperature: 1 });
  assert.deepEqual(sent(limited), {
    model: 'gpt-4o-mini',
    messages: [{ role: 'user', content: 'p' }],
    temperature: 1,
    max_tokens: 16,
  });
});

test('max_tokens is sent as max_completion_tokens to models that need it, or if the operator sets that name', async (t) => {
  for (const [model, isNew] of [
    ['gpt-5-mini', true],
    ['openai/o3', true],
    ['gpt-4o', false],
    ['foo1', false],
  ] as const) {
    const setup = await openSetup(t, { ...openai, model }, { target: { bridge: 'chat' } });
    await complete(setup, { max_tokens: 9 });
    assert.deepEqual(sent(setup), {
      model,
      messages: [{ role: 'user', content: 'p' }],
      [isNew ? 'max_completion_tokens' : 'max_tokens']: 9,
    });
  }
  const setup = await open(t, openai, { defaults: { max_completion_tokens: 500 } });
  await complete(setup, {});
  assert.match(setup.calls.at(-1)?.text ?? '', /"max_completion_tokens":500\}$/);
  await complete(setup, { max_tokens: 9 });
  assert.match(setup.calls.at(-1)?.text ?? '', /"max_completion_tokens":9\}$/);
});

test('choices of several prompts are returned in one list, in prompt order', async (t) => {
  const setup = await open(t);
  const { choices } = await complete(setup, { prompt: ['a', 'b', 'c'], n: 2 });
  assert.deepEqual(
    choices.map(({ text }) => text),
    ['a', 'a', 'b', 'b', 'c', 'c'].map(replyTo),
  );
  assert.equal(setup.calls.length, 3);
  setup.answerWith(() => choice({}));
  const { status, text } = await setup.ask('/v1/completions', { model: 'm', prompt: 'p', n: 2 });
  assert.equal(status, 502, text);
  assert.match(text, /1 choices where 2 were asked for/);
});

test('if the call for one of several prompts fails, the client gets that error for the whole request', async (t) => {
  const setup = await open(t);
  setup.answerWith((call) => (call.text.includes('"bad"') ? openai.error(429, 'slow down') : openai.service(call)));
  const { status, text } = await setup.ask('/v1/completions', { model: 'm', prompt: ['a', 'bad', 'c'] });
  assert.deepEqual([status, JSON.parse(text).error.message], [429, 'slow down']);
});

test('with echo the prompt precedes the answer', async (t) => {
  const setup = await open(t);
  assert.equal((await complete(setup, { echo: true })).choices[0]?.text, `p${replyTo('p')}`);
  assert.equal(
    (await complete(setup, { echo: true, prompt: [9906, 1917] })).choices[0]?.text,
    `Hello world${replyTo('Hello world')}`,
  );
  assert.doesNotMatch(setup.calls.at(-1)?.text ?? '', /echo/);
});

test('a completions field that chat lacks is refused by name, unless its value has no effect', async (t) => {
  const setup = await open(t);
  await refused(setup, 'suffix', { suffix: ' end' });
  await refused(setup, 'best_of', { best_of: 3 });
  await refused(setup, 'echo', { echo: 'yes' });
  await refused(setup, 'logprobs', { logprobs: 0, echo: true });
  await refused(setup, 'logprobs', { logprobs: 'many' });
  await refused(setup, 'messages', { messages: [] });
  await refused(setup, 'prompt', { prompt: ['a', 'b'], stream: true });
  await refused(setup, 'prompt', { prompt: ['a', { text: 'b' }] });
  await complete(setup, { suffix: '', best_of: 2, n: 2, echo: false, logprobs: false });
  assert.deepEqual(sent(setup), { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'p' }], n: 2 });
});

test('an empty prompt list is refused, and the number of calls per request is limited', async (t) => {
  for (const setup of [await open(t), await open(t, mistral, { bridge: undefined })]) {
    await refused(setup, 'prompt', { prompt: [] });
    await refused(setup, 'prompt', { prompt: Array.from({ length: 20_000 }, () => 'p') });
    const { text } = await setup.ask('/v1/completions', {
      model: 'm',
      prompt: Array.from({ length: 2049 }, () => 'p'),
    });
    assert.match(text, /2048 of them in a request at most/);
    assert.equal(setup.calls.length, 0);
  }
});

test('fields repeated in the calls of several prompts may total 64 MiB, and more gives 413', async (t) => {
  const setup = await open(t);
  const user = 'x'.repeat(1_000_000);
  await complete(setup, { prompt: ['a', 'b'], user });
  const { status, text } = await setup.ask('/v1/completions', { model: 'm', prompt: Array(68).fill('a'), user });
  assert.equal(status, 413, text);
  assert.match(text, /in 68 calls for it/);
});

test('a field that chat lacks is dropped and reported if so configured', async (t) => {
  const setup = await open(t, openai, { unsupported: 'drop' });
  const body = { model: 'm', prompt: 'p', suffix: ' end', best_of: 3, logprobs: 1, echo: true };
  const { status, json, header } = await setup.ask('/v1/completions', body);
  assert.equal(status, 200);
  assert.equal(header('x-postern-ignored'), 'suffix, best_of, logprobs');
  assert.equal(answer.parse(json).choices[0]?.text, `p${replyTo('p')}`);
  assert.deepEqual(sent(setup), { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'p' }] });
});

test('over Mistral, seed is sent as random_seed, and logprobs and logit_bias are refused by name', async (t) => {
  const setup = await open(t, mistral);
  await complete(setup, { seed: 7, user: 'u', logit_bias: {}, max_tokens: 9, stream_options: { include_usage: true } });
  assert.deepEqual(sent(setup), {
    model: 'mistral-one',
    messages: [{ role: 'user', content: 'p' }],
    random_seed: 7,
    max_tokens: 9,
  });
  await refused(setup, 'logprobs', { logprobs: 1 });
  await refused(setup, 'logit_bias', { logit_bias: { 1: 1 } });
});

test('logprobs come in the format of completions', async (t) => {
  const setup = await open(t);
  const { choices } = await complete(setup, { prompt: '🚀', logprobs: 2 });
  assert.deepEqual(choices[0]?.logprobs, {
    tokens: ['<', '🚀', '>'],
    token_logprobs: [-0.5, -0.5, -0.5],
    top_logprobs: ['<', '🚀', '>'].map((token) => ({ [token]: -0.5, '~': -1.5 })),
    text_offset: [0, 1, 2],
  });
  assert.match(setup.calls.at(-1)?.text ?? '', /"logprobs":true,"top_logprobs":2\}$/);
  const { choices: bare } = await complete(setup, { prompt: 'a', logprobs: 0 });
  assert.deepEqual(z.object({ top_logprobs: z.unknown() }).parse(bare[0]?.logprobs).top_logprobs, [
    { '<': -0.5 },
    { a: -0.5 },
    { '>': -0.5 },
  ]);
  assert.match(setup.calls.at(-1)?.text ?? '', /"logprobs":true\}$/);
});

test('finish reasons are those of completions', async (t) => {
  const setup = await open(t);
  for (const [reason, wanted] of [
    ['length', 'length'],
    ['content_filter', 'content_filter'],
    ['tool_calls', 'stop'],
    ['function_call', 'stop'],
    ['model_length', 'length'],
    ['constructor', 'constructor'],
    [null, null],
  ] as const) {
    setup.answerWith(() => choice({ finish_reason: reason }));
    assert.equal((await complete(setup, {})).choices[0]?.finish_reason, wanted);
  }
});

test('the text of a message is found in every format', async (t) => {
  const setup = await open(t);
  const thought = { type: 'thinking', thinking: [{ type: 'text', text: 'hm' }] };
  for (const [message, wanted, finish_reason = 'stop'] of [
    [{ content: [thought, { type: 'text', text: 'a' }, { type: 'text', text: 'b' }] }, 'ab'],
    [{ content: null, refusal: 'I cannot.' }, 'I cannot.'],
    [{ content: '', refusal: null }, ''],
    [{ content: null }, '', 'length'],
    [{}, '', 'content_filter'],
  ] as const) {
    setup.answerWith(() => choice({ message, finish_reason }));
    assert.equal((await complete(setup, {})).choices[0]?.text, wanted);
  }
});

test('an invalid response is never passed on', async (t) => {
  const setup = await open(t);
  const tool = { content: null, tool_calls: [{ id: '1' }] };
  for (const [reply, fact] of [
    [choice({ message: { content: null } }), 'a message has no content'],
    [choice({ message: tool, finish_reason: 'tool_calls' }), 'the model calls a tool in place of an answer'],
    [choice({ message: 'x' }), 'the message of a choice is no object'],
    [choice({ message: { content: 7 } }), 'the content of a message is no text'],
    [choice({ message: { content: ['x'] } }), 'a part of a message is no object'],
    [choice({ message: { content: [{ type: 'text' }] } }), 'a part of a message has no text'],
    [choice({ finish_reason: 1 }), 'the finish_reason of a choice is no text'],
    [choice({ finish_reason: 'error' }), 'a choice ended with an error'],
    [choice({ index: 1 }), 'a choice has the index 1, and there are 1'],
    [choice({ index: undefined }), 'a choice has no index'],
    [choice({ logprobs: { content: 1 } }), 'the content of logprobs is no list'],
    [choice({ logprobs: { content: [{ token: 'a' }] } }), 'the logprob of a token is no number'],
    [
      {
        body: JSON.stringify(choice({ logprobs: { content: [{ token: 'a', logprob: 7 }] } }).body).replace(
          '7',
          '-1e999',
        ),
      },
      'the logprob of a token is no number',
    ],
    [{ body: { choices: [] } }, 'there are no choices'],
    [{ body: { choices: 'x' } }, 'choices is no list'],
    [{ body: 'data: {"choices":[]}\n\n' }, 'its body is no JSON: an unexpected "d" at character 0'],
  ] as const) {
    setup.answerWith(() => reply);
    for (const [route, ask] of [
      ['/v1/completions', { prompt: 'p' }],
      ['/v1/edits', { input: 'i', instruction: 'do' }],
    ] as const) {
      if (route === '/v1/edits' && fact.includes('logprob')) continue;
      const { status, text } = await setup.ask(route, { model: 'm', ...ask });
      assert.equal(status, 502, text);
      assert.ok(text.includes(JSON.stringify(`(${fact})`).slice(1, -1)), text);
    }
  }
});

test('an error object with status 200 is returned with the status in its code', async (t) => {
  const setup = await open(t);
  for (const stream of [false, true]) {
    for (const status of [400, 502]) {
      const said = JSON.stringify({ error: { code: status, message: 'overloaded' } });
      // A short body of a known length is looked into before its head is taken for good.
      const headers = stream ? { 'content-length': String(said.length) } : {};
      setup.answerWith(() => ({ headers, body: said }));
      const answered = await setup.ask('/v1/completions', { model: 'm', prompt: 'p', stream });
      assert.equal(answered.status, status, answered.text);
      const { error } = z
        .object({ error: z.object({ message: z.string(), type: z.string(), param: z.null(), upstream: z.unknown() }) })
        .parse(answered.json);
      assert.equal(error.message, 'overloaded');
      assert.deepEqual(error.upstream, { error: { code: status, message: 'overloaded' } });
    }
  }
});

test('an edit sends text and instruction in one message, and the task in another', async (t) => {
  const setup = await open(t);
  setup.answerWith(() => choice({}));
  const ask = {
    model: 'm',
    input: 'a\n\nb',
    instruction: 'Swap',
    n: 1,
    temperature: 0.5,
    top_p: 1,
    max_tokens: 9,
    odd: 1,
  };
  const { json, header } = await setup.ask('/v1/edits', ask);
  const { messages: said, ...others } = z
    .looseObject({ messages: z.array(z.object({ role: z.string(), content: z.string() })) })
    .parse(sent(setup));
  assert.deepEqual(others, { model: 'gpt-4o-mini', temperature: 0.5, top_p: 1, max_tokens: 9, odd: 1 });
  assert.deepEqual(
    said.map(({ role }) => role),
    ['system', 'user'],
  );
  assert.equal(said[1]?.content, 'Swap\n\n<text>\na\n\nb\n</text>');
  assert.equal(header('x-postern-translated'), 'chat');
  assert.equal(header('x-postern-usage'), 'estimated');
  assert.deepEqual(json, {
    object: 'edit',
    created: 5,
    choices: [{ text: 'x', index: 0 }],
    usage: { prompt_tokens: 2, completion_tokens: 1, total_tokens: 3 },
  });
  assert.equal((await setup.rig.exchange()).usage, null);
});

test('an edit truncated by the token limit is returned with finish_reason "length"', async (t) => {
  const setup = await open(t);
  setup.answerWith(() => choice({ finish_reason: 'length' }));
  const { json } = await setup.ask('/v1/edits', { model: 'm', input: 'i', instruction: 'do' });
  assert.deepEqual(z.object({ choices: z.unknown() }).parse(json).choices, [
    { text: 'x', index: 0, finish_reason: 'length' },
  ]);
});

test('edits refuse fields that chat lacks, unless they have no effect', async (t) => {
  const setup = await open(t);
  for (const more of [{ best_of: 3 }, { echo: true }, { suffix: ' end' }, { logprobs: 0 }, { logprobs: true }]) {
    await refused(setup, Object.keys(more)[0] ?? '', more, '/v1/edits');
  }
  const harmless = { best_of: 1, echo: false, suffix: '', logprobs: false };
  const ask = { model: 'm', input: 'i', instruction: 'do' };
  assert.equal((await setup.ask('/v1/edits', { ...ask, ...harmless })).status, 200);
  assert.deepEqual(Object.keys(z.looseObject({}).parse(sent(setup))), ['model', 'messages']);
  const dropping = await open(t, openai, { unsupported: 'drop' });
  const { header } = await dropping.ask('/v1/edits', { ...ask, echo: true, logprobs: 2 });
  assert.equal(header('x-postern-ignored'), 'echo, logprobs');
});

test('edits refuse streams, messages and more than 20 choices', async (t) => {
  const setup = await open(t);
  await refused(setup, 'stream', { stream: true }, '/v1/edits');
  await refused(setup, 'messages', { messages: [] }, '/v1/edits');
  await refused(setup, 'n', { n: 21 }, '/v1/edits');
});

test('the official client reads completions, plain and streamed', async (t) => {
  for (const fixture of [openai, mistral]) {
    const { rig } = await open(t, fixture);
    const client = new OpenAI({ baseURL: `${rig.url}/v1`, apiKey: testKey, maxRetries: 0 });
    const whole = await client.completions.create({ model: 'm', prompt: 'Zürich 🚀', max_tokens: 50 });
    assert.equal(whole.choices[0]?.text, replyTo('Zürich 🚀'));
    assert.ok(whole.usage?.total_tokens);
    const stream = await client.completions.create({
      model: 'm',
      prompt: 'Zürich 🚀',
      stream: true,
      stream_options: { include_usage: true },
    });
    let text = '';
    let total: number | undefined;
    for await (const chunk of stream) {
      text += chunk.choices[0]?.text ?? '';
      total = chunk.usage?.total_tokens ?? total;
    }
    assert.equal(text, replyTo('Zürich 🚀'));
    assert.equal(total, whole.usage?.total_tokens);
  }
});
