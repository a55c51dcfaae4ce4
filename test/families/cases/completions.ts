/** Test cases of completions at any upstream. */

import assert from 'node:assert/strict';
import * as z from 'zod';
import type { Setup } from '../family-setup.ts';
import { replyTo } from '../wire.ts';
import { assertRefused } from './embeddings.ts';
import { checkHints } from './hints.ts';

const usage = z.object({ prompt_tokens: z.int(), completion_tokens: z.int(), total_tokens: z.int() });
const choice = z.object({ index: z.int(), text: z.string(), finish_reason: z.string().nullish() });
const answer = z.object({
  id: z.string().min(1),
  object: z.literal('text_completion'),
  created: z.int(),
  model: z.string(),
  choices: z.array(choice),
  usage: usage.nullish(),
});
type Chunk = z.output<typeof answer>;

const route = '/v1/completions';

const texts = [
  'naïve café',
  '東京タワー',
  'Ωμέγα 🚀 👩‍👩‍👧',
  'data: [DONE]\n\n',
  '\u0000\t\r\n"\\/',
  '{"prompt":["x"]}',
  ' spaced ',
  '\u2028',
];

async function complete(setup: Setup, prompt: unknown, more: object = {}) {
  const { status, text, json } = await setup.ask(route, { model: 'm', prompt, ...more });
  assert.equal(status, 200, text.slice(0, 500));
  const read = answer.parse(json);
  assert.deepEqual(
    read.choices.map(({ index }) => index),
    read.choices.map((_, index) => index),
  );
  for (const one of read.choices) assert.equal(typeof one.finish_reason, 'string');
  return read;
}

const textsOf = ({ choices }: Chunk): string[] => choices.map(({ text }) => text);

/** The chunks of a stream; undefined where it was refused by name. */
async function stream(setup: Setup, prompt: unknown, more: object = {}): Promise<Chunk[] | undefined> {
  const {
    status,
    text,
    json,
    header,
    raw: { complete },
  } = await setup.ask(route, { model: 'm', prompt, stream: true, ...more });
  if (status !== 200) {
    const isOne = typeof prompt === 'string';
    assertRefused(status, json, isOne ? 'stream' : 'prompt');
    return undefined;
  }
  assert.match(header('content-type') ?? '', /^text\/event-stream/);
  assert.ok(complete);
  const events = text.split('\n\n');
  assert.equal(events.pop(), '');
  assert.equal(events.pop(), 'data: [DONE]');
  return events.map((event) => {
    assert.ok(event.startsWith('data: '), event);
    return answer.parse(JSON.parse(event.slice('data: '.length)));
  });
}

function joined(chunks: readonly Chunk[]): string[] {
  const whole: string[] = [];
  for (const { choices } of chunks) {
    for (const { index, text } of choices) whole[index] = (whole[index] ?? '') + text;
  }
  return whole;
}

export const completionsCases: Readonly<Record<string, (setup: Setup) => Promise<void>>> = {
  async 'answers a single prompt, as a string or as a list of one'(setup) {
    for (const text of texts) {
      assert.deepEqual(textsOf(await complete(setup, text)), [replyTo(text)]);
      assert.deepEqual(textsOf(await complete(setup, [text])), [replyTo(text)]);
    }
  },

  async 'answers several prompts in the order of the request'(setup) {
    assert.deepEqual(textsOf(await complete(setup, texts)), texts.map(replyTo));
    const many = Array.from({ length: 40 }, (_, index) => `prompt ${index}`);
    assert.deepEqual(textsOf(await complete(setup, many)), many.map(replyTo));
  },

  async 'null and default-valued parameters change nothing'(setup) {
    const nulls = {
      n: null,
      best_of: null,
      echo: null,
      logprobs: null,
      logit_bias: null,
      suffix: null,
      stop: null,
      stream: null,
      stream_options: null,
      max_tokens: null,
      seed: null,
      user: null,
    };
    assert.deepEqual(textsOf(await complete(setup, 'p', nulls)), [replyTo('p')]);
    assert.deepEqual(textsOf(await complete(setup, ['p', 'q'], nulls)), ['p', 'q'].map(replyTo));
    const plain = { n: 1, best_of: 1, echo: false, presence_penalty: 0, frequency_penalty: 0.0, stream: false };
    assert.deepEqual(textsOf(await complete(setup, 'p', plain)), [replyTo('p')]);
  },

  async 'accepts max_tokens, temperature, top_p and stop'(setup) {
    const more = { max_tokens: 1000, temperature: 0.5, top_p: 1, stop: ['\u0001'] };
    assert.deepEqual(textsOf(await complete(setup, 'p', more)), [replyTo('p')]);
  },

  async 'usage is the sum over all prompts'(setup) {
    const one = await complete(setup, 'abc');
    const three = await complete(setup, ['abc', 'abc', 'abc']);
    assert.ok(one.usage && three.usage);
    assert.equal(three.usage.prompt_tokens, 3 * one.usage.prompt_tokens);
    assert.equal(three.usage.completion_tokens, 3 * one.usage.completion_tokens);
    assert.equal(three.usage.total_tokens, 3 * one.usage.total_tokens);
  },

  async 'a stream joined together equals the unstreamed answer, and ends with [DONE]'(setup) {
    for (const text of texts) {
      const chunks = await stream(setup, text);
      if (chunks === undefined) return;
      assert.deepEqual(joined(chunks), [replyTo(text)]);
      const reasons = chunks.flatMap(({ choices }) => choices.map((one) => one.finish_reason ?? null));
      assert.equal(typeof reasons.at(-1), 'string');
      assert.deepEqual(
        reasons.slice(0, -1).filter((reason) => reason !== null),
        [],
      );
      assert.equal(new Set(chunks.map(({ id }) => id)).size, 1);
    }
  },

  async 'a stream with include_usage ends with a usage event'(setup) {
    const before = setup.rig.settled.length;
    const chunks = await stream(setup, 'abc', { stream_options: { include_usage: true } });
    if (chunks === undefined) return;
    const last = chunks.pop();
    assert.deepEqual(last?.choices, []);
    assert.deepEqual(usage.parse(last?.usage), usage.parse((await complete(setup, 'abc')).usage));
    assert.deepEqual(joined(chunks), [replyTo('abc')]);
    for (const chunk of chunks) assert.equal(chunk.usage ?? null, null);
    const exchange = await setup.rig.exchange(before + 1);
    assert.equal(exchange.usage?.promptTokens, last?.usage?.prompt_tokens);
  },

  async 'several prompts with stream: true give one stream, or 400 that names the prompt field'(setup) {
    const chunks = await stream(setup, ['a', 'b']);
    if (chunks !== undefined) assert.deepEqual(joined(chunks), ['a', 'b'].map(replyTo));
    else assert.equal(setup.calls.length, 0);
  },

  async 'optional fields of other services are sent upstream, or dropped and listed in x-postern-ignored'(setup) {
    await checkHints(setup, '/v1/completions', { prompt: 'p' });
  },

  async 'an unknown field is sent upstream, or refused with 400 that names it'(setup) {
    for (const prompt of ['p', ['p', 'q']]) {
      const { status, json } = await setup.ask(route, { model: 'm', prompt, unheard_of: true });
      if (status === 200) assert.match(setup.calls.at(-1)?.text ?? '', /"unheard_of":true/);
      else assertRefused(status, json, 'unheard_of');
    }
  },

  async 'an empty prompt reaches the upstream; so does an empty list of prompts, if the upstream accepts lists'(setup) {
    for (const prompt of ['', []]) {
      setup.answerWith();
      const { status, text, json } = await setup.ask(route, { model: 'm', prompt });
      assert.ok(status === 200 || (status >= 400 && status < 500), text);
      if (setup.calls.length === 1) continue;
      assert.deepEqual([prompt, setup.calls.length], [[], 0]);
      assertRefused(status, json, 'prompt');
    }
  },

  async 'token IDs are sent as they are if the upstream accepts them, else as the text they encode'(setup) {
    // "Hello world" and " again" in cl100k_base.
    for (const [prompt, said] of [
      [[9906, 1917], ['Hello world']],
      [
        [[9906, 1917], [1578]],
        ['Hello world', ' again'],
      ],
    ] as const) {
      const { status, text, json } = await setup.ask(route, { model: 'm', prompt });
      if (setup.fixture.takesTokenIds) {
        assert.match(setup.calls.at(-1)?.text ?? '', /"prompt":\s*\[\[?9906,1917\]/);
        continue;
      }
      assert.equal(status, 200, text);
      assert.deepEqual(textsOf(answer.parse(json)), said.map(replyTo));
    }
  },
};
