/** Test cases of embeddings at any upstream. */

import assert from 'node:assert/strict';
import * as z from 'zod';
import { dimensionNames } from '../../../src/core/dimension-names.ts';
import type { Setup } from '../family-setup.ts';
import type { WireReply } from '../fixture.ts';
import { base64Of, vectorOf } from '../wire.ts';
import { checkHints } from './hints.ts';

const answer = z.object({
  object: z.literal('list'),
  data: z.array(z.object({ object: z.literal('embedding'), index: z.int(), embedding: z.array(z.number()) })),
  model: z.string(),
  usage: z.object({ prompt_tokens: z.int(), total_tokens: z.int() }),
});

const encoded = z.object({ data: z.array(z.object({ embedding: z.string() })) });

const routes = ['/v1/embeddings', '/v1/engines/m/embeddings'];

async function embed(setup: Setup, input: unknown, more: object = {}, route = '/v1/embeddings') {
  const { status, text, json, header } = await setup.ask(route, { model: 'm', input, ...more });
  assert.equal(status, 200, text.slice(0, 500));
  const { data, usage } = answer.parse(json);
  assert.deepEqual(
    data.map(({ index }) => index),
    data.map((_, index) => index),
  );
  return { vectors: data.map(({ embedding }) => embedding), usage, header };
}

/** As long as OpenAI allows, or shorter where the last list of `asked` texts made as many calls: then 2,048 calls would show no more. */
export const longListFor = ({ calls }: Setup, asked: number): number => (calls.length < asked ? 2_048 : 256);

export const embeddingsCases: Readonly<Record<string, (setup: Setup) => Promise<void>>> = {
  async 'embeds a text, a list of one and a list of three, on /v1/embeddings and the legacy engines path'(setup) {
    for (const route of routes) {
      assert.deepEqual((await embed(setup, 'one', {}, route)).vectors, [vectorOf('one')]);
      assert.deepEqual((await embed(setup, ['one'], {}, route)).vectors, [vectorOf('one')]);
      assert.deepEqual(
        (await embed(setup, ['one', 'two', 'one'], {}, route)).vectors,
        ['one', 'two', 'one'].map((text) => vectorOf(text)),
      );
    }
  },

  async 'embeds texts in any script, with escapes, control characters and emoji'(setup) {
    const texts = ['naïve café', '東京タワー', 'Ωμέγα 🚀 👩‍👩‍👧', '\u0000\t\n"\\/', '{"input":["x"]}', ' spaced '];
    assert.deepEqual(
      (await embed(setup, texts)).vectors,
      texts.map((text) => vectorOf(text)),
    );
  },

  async 'embeds a list of 2,048 texts (256 if each needs its own call) in input order'(setup) {
    const two = await embed(setup, ['a', 'b']);
    assert.equal(two.vectors.length, 2);
    const texts = Array.from({ length: longListFor(setup, 2) }, (_, index) => `text ${index}`);
    const { vectors, usage } = await embed(setup, texts);
    assert.deepEqual(
      vectors,
      texts.map((text) => vectorOf(text)),
    );
    assert.ok(usage.prompt_tokens >= texts.length, String(usage.prompt_tokens));
  },

  async 'returns base64 with exactly the bits of the floats when requested'(setup) {
    const { status, text, json } = await setup.ask('/v1/embeddings', {
      model: 'm',
      input: ['a', 'b'],
      encoding_format: 'base64',
    });
    assert.equal(status, 200, text);
    assert.deepEqual(
      encoded.parse(json).data.map(({ embedding }) => embedding),
      [base64Of(vectorOf('a')), base64Of(vectorOf('b'))],
    );
    assert.deepEqual((await embed(setup, 'a', { encoding_format: 'float' })).vectors, [vectorOf('a')]);
  },

  async 'returns base64 when requested, even if the upstream answers with floats'(setup) {
    const { service, family } = setup.fixture;
    // There the client gets what came, unless the operator wants it converted.
    if (family === 'openai') return;
    setup.answerWith((call) => withFloats(service(call)));
    for (const input of ['a', ['a', 'b']]) {
      const ask = { model: 'm', input, encoding_format: 'base64' };
      const { status, text, json, header } = await setup.ask('/v1/embeddings', ask);
      assert.equal(status, 200, text);
      assert.deepEqual(
        encoded.parse(json).data.map(({ embedding }) => embedding),
        [input].flat().map((one) => base64Of(vectorOf(one))),
      );
      assert.notEqual(header('x-postern-translated'), undefined);
    }
  },

  async 'null parameters count as absent'(setup) {
    const { vectors } = await embed(setup, 'one', { dimensions: null, encoding_format: null, user: null });
    assert.deepEqual(vectors, [vectorOf('one')]);
  },

  async 'dimensions are obeyed, or dropped and listed in x-postern-ignored'(setup) {
    const { vectors, header } = await embed(setup, 'one', { dimensions: 4 });
    if (header('x-postern-ignored') === undefined) assert.deepEqual(vectors, [vectorOf('one', 4)]);
    else {
      assert.equal(header('x-postern-ignored'), 'dimensions');
      assert.deepEqual(vectors, [vectorOf('one')]);
    }
  },

  async 'vectors narrower than the requested dimensions give 502 that names both widths, for floats and base64'(setup) {
    const { service } = setup.fixture;
    for (const more of [{}, { encoding_format: 'base64' }]) {
      setup.answerWith((call) => service({ ...call, body: withWidth(call.body, 4, 3) }));
      const ask = { model: 'm', input: ['one', 'two'], dimensions: 4, ...more };
      const { status, text, header } = await setup.ask('/v1/embeddings', ask);
      if (header('x-postern-ignored') === 'dimensions') continue;
      assert.equal(status, 502, text);
      assert.match(text, /vectors of 3 numbers, and \\"dimensions\\" asks for 4/);
    }
  },

  async 'translated requests accept dimensions under the names other services use for it'(setup) {
    const call = async (more: object) => {
      setup.answerWith();
      const { json, header } = await setup.ask('/v1/embeddings', { model: 'm', input: 'one', ...more });
      const isTranslated = header('x-postern-translated') !== undefined;
      const body = setup.calls.at(-1)?.text ?? '';
      return { json, body, ignored: header('x-postern-ignored'), isTranslated };
    };
    for (const name of dimensionNames) {
      const { json, body, ignored, isTranslated } = await call({ [name]: 4 });
      // What passes as it came is for the upstream to judge.
      if (!isTranslated) assert.match(body, new RegExp(`"${name}":4`));
      else {
        if (ignored !== undefined) assert.equal(ignored, name);
        const [vector] = answer.parse(json).data.map(({ embedding }) => embedding);
        assert.deepEqual(vector, vectorOf('one', ignored === undefined ? 4 : undefined), name);
      }
    }
    const { ignored, isTranslated } = await call({ dimensions: 4, output_dimension: 2 });
    if (isTranslated) assert.match(ignored ?? '', /^output_dimension\b/);
  },

  async 'optional fields of other services are sent upstream, or dropped and listed in x-postern-ignored'(setup) {
    await checkHints(setup, '/v1/embeddings', { input: 'one' });
  },

  async 'an unknown field is sent upstream, or refused with 400 that names it'(setup) {
    const body = { model: 'm', input: 'one', unheard_of: { a: [1] } };
    const { status, json, header } = await setup.ask('/v1/embeddings', body);
    // What passes as it came is for the upstream to judge.
    const isPassed = setup.calls.length > 0 && header('x-postern-translated') === undefined;
    if (status === 200 || isPassed) assert.match(setup.calls.at(-1)?.text ?? '', /"unheard_of":\{"a":\[1\]\}/);
    else assertRefused(status, json, 'unheard_of');
  },

  async 'an empty list is sent to the upstream, and its success or client error is returned'(setup) {
    const { status, text } = await setup.ask('/v1/embeddings', { model: 'm', input: [] });
    assert.ok(status === 200 || (status >= 400 && status < 500), text);
    assert.equal(setup.calls.length, 1);
  },

  async 'token IDs are sent as they are if the upstream accepts them, else as the text they encode'(setup) {
    // "Hello world" and " again" in cl100k_base.
    for (const [input, texts] of [
      [[9906, 1917], ['Hello world']],
      [
        [[9906, 1917], [1578]],
        ['Hello world', ' again'],
      ],
    ] as const) {
      const { status, text, json } = await setup.ask('/v1/embeddings', { model: 'm', input });
      if (setup.fixture.takesTokenIds === true) {
        assert.match(setup.calls.at(-1)?.text ?? '', /"input":\[\[?9906,1917\]/);
        continue;
      }
      assert.equal(status, 200, text);
      assert.deepEqual(
        answer.parse(json).data.map(({ embedding }) => embedding),
        texts.map((one) => vectorOf(one)),
      );
    }
  },
};

/** What is asked of a service, with another width. */
const withWidth = (body: unknown, asked: number, width: number): unknown =>
  JSON.parse(JSON.stringify(body), (_name, value: unknown) => (value === asked ? width : value));

const withData = z.looseObject({ data: z.array(z.looseObject({ embedding: z.string() })) });

/** As a service answers that knows no base64. */
function withFloats(reply: WireReply): WireReply {
  const { success, data: body } = withData.safeParse(reply.body);
  if (!success) return reply;
  const data = body.data.map((element) => {
    const bytes = new Uint8Array(Buffer.from(element.embedding, 'base64'));
    return { ...element, embedding: Array.from(new Float32Array(bytes.buffer)) };
  });
  return { ...reply, body: { ...body, data } };
}

export function assertRefused(status: number, json: unknown, parameter: string): void {
  const { error } = z
    .object({ error: z.object({ message: z.string(), param: z.string(), code: z.string() }) })
    .parse(json);
  assert.deepEqual([status, error.code, error.param], [400, 'unsupported_parameter', parameter]);
  assert.ok(error.message.includes(`"${parameter}"`), error.message);
}
