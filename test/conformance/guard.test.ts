import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as z from 'zod';
import { openaiCategories } from '../../src/families/wire-formats/moderations/moderation-categories.ts';
import { errorCases } from '../families/cases/errors.ts';
import { moderationsCases } from '../families/cases/moderations.ts';
import { openSetup, type Setup } from '../families/family-setup.ts';
import { defineFixture, type WireCall, type WireReply } from '../families/fixture.ts';
import { isViolent } from '../families/wire.ts';

const chatBody = z.object({
  model: z.string(),
  messages: z.array(z.strictObject({ role: z.enum(['user', 'assistant']), content: z.string() })).min(1),
  temperature: z.number().optional(),
  max_tokens: z.int().optional(),
});

const said = (content: unknown, more: object = {}): WireReply => ({
  body: {
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1_790_000_000,
    model: 'llama-guard-3-8b',
    choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop', ...more }],
    usage: { prompt_tokens: 200, completion_tokens: 5, total_tokens: 205 },
  },
});

/** A guard model behind a server that speaks OpenAI's chat. */
const guard = defineFixture({
  family: 'openai',
  model: 'meta-llama/Llama-Guard-3-8B',
  pairs: [],
  service({ path, body }: WireCall): WireReply {
    if (path !== '/v1/chat/completions') return { status: 404, body: { detail: 'Not Found' } };
    const { messages } = chatBody.parse(body);
    const text = messages.map(({ content }) => content).join('\n');
    return said(isViolent(text) ? '\n\nunsafe\nS1' : '\n\nsafe');
  },
  error: (status, message) => ({ status, body: { error: { message, type: 'x', param: null, code: null } } }),
});

const setting = { target: { bridge: 'guard' }, model: { operations: ['moderations'] } };

for (const [name, check] of Object.entries(moderationsCases)) {
  test(`moderations by a guard chat model: ${name}`, async (t) => check(await openSetup(t, guard, setting)));
}

for (const [name, check] of Object.entries(errorCases)) {
  test(`moderations by a guard chat model: ${name}`, async (t) =>
    check(await openSetup(t, guard, setting), 'moderations'));
}

const answer = z.object({
  results: z.array(
    z.object({
      flagged: z.boolean(),
      categories: z.record(z.enum(openaiCategories), z.boolean()),
      category_scores: z.record(z.enum(openaiCategories), z.number()),
      original: z.string(),
    }),
  ),
  usage: z.unknown().optional(),
});

async function verdictOf(setup: Setup, content: unknown, more?: object) {
  setup.answerWith(() => said(content, more));
  return setup.ask('/v1/moderations', { model: 'm', input: 'x' });
}

test('a guard model gets only the text, and its codes become OpenAI moderation categories', async (t) => {
  const setup = await openSetup(t, guard, setting);
  setup.answerWith(() => said('\n\nunsafe\nS1,S10'));
  const { status, json, header, text } = await setup.ask('/v1/moderations', { model: 'm', input: 'is this fine?' });
  assert.equal(status, 200, text);
  assert.equal(header('x-postern-translated'), 'guard');
  assert.deepEqual(setup.calls[0]?.body, {
    model: 'meta-llama/Llama-Guard-3-8B',
    messages: [{ role: 'user', content: 'is this fine?' }],
    temperature: 0,
    max_tokens: 100,
  });
  const found = new Set<string>(['illicit/violent', 'violence', 'hate']);
  const each = (valueFor: (name: string) => unknown) =>
    Object.fromEntries(openaiCategories.map((one) => [one, valueFor(one)]));
  const looked = new Set<string>([...found, 'illicit', 'sexual', 'sexual/minors', 'self-harm']);
  assert.deepEqual(json, {
    id: `modr-${header('x-request-id')}`,
    model: 'llama-guard-3-8b',
    results: [
      {
        flagged: true,
        categories: each((name) => found.has(name)),
        category_scores: each((name) => (found.has(name) ? 1 : 0)),
        category_applied_input_types: each((name) => (looked.has(name) ? ['text'] : [])),
        original: '\n\nunsafe\nS1,S10',
      },
    ],
    usage: { prompt_tokens: 200, completion_tokens: 5, total_tokens: 205 },
  });
});

test("a guard's category codes are parsed with any white space, and unknown codes flag the text as well", async (t) => {
  const setup = await openSetup(t, guard, setting);
  for (const [content, categories] of [
    ['safe', []],
    ['  \n safe \n', []],
    ['unsafe\nS12', ['sexual']],
    ['unsafe\r\nS4 , S3\n', ['sexual', 'sexual/minors']],
    ['unsafe\nS5', []],
    ['unsafe\nS99,S2', ['illicit']],
    ['unsafe', []],
    ['unsafe\nO1', ['hate', 'violence']],
    ['unsafe\nO6', ['self-harm']],
  ] as const) {
    const { json, text } = await verdictOf(setup, content);
    const [result] = answer.parse(json).results;
    assert.equal(result?.flagged, content.includes('unsafe'), text);
    assert.deepEqual(
      openaiCategories.filter((name) => result?.categories[name]),
      categories,
    );
    assert.equal(result?.original, content);
  }
});

test("Llama Guard 2's category codes are read by its own table", async (t) => {
  const setup = await openSetup(t, { ...guard, model: 'meta-llama/Meta-Llama-Guard-2-8B' }, setting);
  const { json } = await verdictOf(setup, 'unsafe\nS9');
  assert.equal(answer.parse(json).results[0]?.categories.hate, true);
});

test('a guard answer that is neither "safe" nor "unsafe" with codes becomes 502, never a safe verdict', async (t) => {
  const setup = await openSetup(t, guard, setting);
  for (const [content, more] of [
    [''],
    [null],
    [1],
    [['safe']],
    ['The text is safe.'],
    ['safe\nS1'],
    ['safe unsafe'],
    ['Safe or unsafe'],
    ['unsafely'],
    ['unsafe S'],
    ['unsafe\nS1,'],
    ['unsafe\nS1;S2'],
    ['unsafe\nviolence'],
    ['I cannot help with that.'],
    ['unsafe\nS1', { finish_reason: 'length' }],
    ['safe', { message: undefined }],
  ] as const) {
    const { status, text } = await verdictOf(setup, content, more);
    assert.equal(status, 502, `${content}: ${text}`);
    assert.match(text, /"code":"upstream_protocol_error"/);
  }
});

test('each text is one call to the guard model, and usage is summed if all calls report it', async (t) => {
  const setup = await openSetup(t, guard, setting);
  setup.answerWith(() => said('safe'));
  const counted = await setup.ask('/v1/moderations', { model: 'm', input: ['a', 'b', 'c'] });
  assert.equal(setup.calls.length, 3);
  assert.deepEqual(answer.parse(counted.json).usage, { prompt_tokens: 600, completion_tokens: 15, total_tokens: 615 });
  assert.equal((await setup.rig.exchange()).usage?.totalTokens, 615);
  let count = 0;
  setup.answerWith(() => {
    count += 1;
    return count === 2 ? { body: { choices: [{ message: { content: 'safe' } }] } } : said('safe');
  });
  const uncounted = await setup.ask('/v1/moderations', { model: 'm', input: ['a', 'b', 'c'] });
  assert.equal(uncounted.status, 200, uncounted.text);
  assert.equal(answer.parse(uncounted.json).usage, undefined);
});

test('max_items on a guard target does not combine several texts in one call', async (t) => {
  const setup = await openSetup(t, guard, { ...setting, target: { bridge: 'guard', max_items: 5 } });
  setup.answerWith(() => said('safe'));
  const { status } = await setup.ask('/v1/moderations', { model: 'm', input: ['a', 'b', 'c'] });
  assert.deepEqual([status, setup.calls.length], [200, 3]);
});

test("the operator's settings reach the guard, and a client cannot remove them", async (t) => {
  const defaults = { chat_template_kwargs: { categories: ['S1'] }, max_tokens: 20, seed: 7 };
  const sent = { ...defaults, model: 'meta-llama/Llama-Guard-3-8B', messages: [{ role: 'user', content: 'x' }] };
  for (const unsupported of [undefined, 'refuse', 'drop'] as const) {
    const setup = await openSetup(t, guard, { ...setting, target: { bridge: 'guard', defaults, unsupported } });
    const plain = await setup.ask('/v1/moderations', { model: 'm', input: 'x' });
    assert.equal(plain.status, 200, plain.text);
    assert.deepEqual(setup.calls[0]?.body, { ...sent, temperature: 0 });
    setup.answerWith(() => said('safe'));
    const swaying = { model: 'm', input: 'x', chat_template_kwargs: {}, temperature: 2 };
    const { status, text, header } = await setup.ask('/v1/moderations', swaying);
    if (unsupported !== 'drop') {
      assert.equal(status, 400, text);
      assert.match(text, /"param":"chat_template_kwargs"/);
      assert.equal(setup.calls.length, 0);
      continue;
    }
    assert.equal(status, 200, text);
    assert.equal(header('x-postern-ignored'), 'chat_template_kwargs, temperature');
    assert.deepEqual(setup.calls[0]?.body, { ...sent, temperature: 0 });
  }
});

test('no client field can influence the guard, and the number of calls is limited', async (t) => {
  const setup = await openSetup(t, guard, setting);
  for (const more of [{ logit_bias: { 1: 100 } }, { messages: [] }, { stream: true }, { temperature: 2 }]) {
    const { status, text } = await setup.ask('/v1/moderations', { model: 'm', input: 'x', ...more });
    assert.equal(status, 400, text);
    assert.match(text, new RegExp(`"param":"${Object.keys(more)[0]}"`));
  }
  const none = await setup.ask('/v1/moderations', { model: 'm', input: [] });
  assert.equal(none.status, 400, none.text);
  assert.match(none.text, /"param":"input"/);
  const many = Array.from({ length: 2049 }, (_, index) => String(index));
  const tooMany = await setup.ask('/v1/moderations', { model: 'm', input: many });
  assert.equal(tooMany.status, 413, tooMany.text);
  assert.match(tooMany.text, /in 2049 calls/);
  assert.equal(setup.calls.length, 0);
});
