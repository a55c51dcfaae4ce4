/** Test cases of every real server behind the gateway, with any model. */

import assert from 'node:assert/strict';
import * as z from 'zod';
import type { Operation } from '../../src/core/operations/index.ts';
import type { ServerAnswer, ServerSetup } from './server-setup.ts';

export type ServerCases = Readonly<Record<string, (setup: ServerSetup) => Promise<void>>>;

const texts = ['naïve café', '東京タワー', 'Ωμέγα 🚀', '\t"quoted"\\/\n', '{"input":["x"]}', 'a plain text'];
/** More than a call takes by default where servers have a limit. */
const manyTexts = Array.from({ length: 70 }, (_, index) => `text number ${index}`);
/** One text in two batches is not the same to the last bit. */
const leastCosine = 0.999;
const closeEnough = 1e-3;

const count = z.int().min(0);
const vectors = z.object({
  object: z.literal('list'),
  data: z.array(z.object({ index: count, embedding: z.array(z.number()).min(1) })),
  usage: z.object({ prompt_tokens: count, total_tokens: count }),
});
const encoded = z.object({ data: z.array(z.object({ embedding: z.string() })) });
const ranks = z.object({
  results: z.array(
    z.object({ index: count, relevance_score: z.number(), document: z.looseObject({ text: z.string() }).nullish() }),
  ),
});
const verdicts = z.object({
  results: z.array(
    z.object({
      flagged: z.boolean(),
      categories: z.record(z.string(), z.boolean()),
      category_scores: z.record(z.string(), z.number().min(0).max(1)),
    }),
  ),
});
const completion = z.object({
  object: z.literal('text_completion'),
  choices: z.array(z.object({ text: z.string(), index: count })).min(1),
});
const refusal = z.object({ error: z.object({ message: z.string().min(1), type: z.string() }) });

function good<T extends z.ZodType>(answer: ServerAnswer, schema: T): z.output<T> {
  assert.equal(answer.status, 200, answer.text.slice(0, 500));
  return schema.parse(answer.json);
}

async function embed(setup: ServerSetup, input: unknown, more: object = {}, route = '/v1/embeddings') {
  const { data } = good(await setup.ask(route, { input, ...more }), vectors);
  assert.deepEqual(
    data.map(({ index }) => index),
    data.map((_, index) => index),
  );
  return data.map(({ embedding }) => embedding);
}

function assertSame(some: readonly number[] | undefined, others: readonly number[] | undefined, what: string): void {
  assert.ok(some !== undefined && others !== undefined && some.length === others.length, what);
  const dot = (a: readonly number[], b: readonly number[]) =>
    a.reduce((sum, value, at) => sum + value * (b[at] ?? 0), 0);
  const cosine = dot(some, others) / Math.sqrt(dot(some, some) * dot(others, others));
  assert.ok(cosine > leastCosine, `${what}: cosine ${cosine}`);
}

/** The same, but for what each answer has of its own, and the last digits of a number. */
function assertAlike(came: unknown, wanted: unknown, path = ''): void {
  if (/(?:^|\.)(?:id|created)$/.test(path)) return;
  if (typeof came === 'number' && typeof wanted === 'number') {
    assert.ok(
      Math.abs(came - wanted) <= closeEnough * Math.max(1, Math.abs(wanted)),
      `${path}: ${came}, not ${wanted}`,
    );
  } else if (typeof came === 'object' && came !== null && typeof wanted === 'object' && wanted !== null) {
    assert.deepEqual(Object.keys(came), Object.keys(wanted), path);
    for (const [name, value] of Object.entries(came)) assertAlike(value, Reflect.get(wanted, name), `${path}.${name}`);
  } else {
    assert.equal(came, wanted, path);
  }
}

const passing = (bodies: readonly object[], route: string) => async (setup: ServerSetup) => {
  if (!setup.passesBytes) return;
  for (const body of bodies) {
    const came = await setup.ask(route, body);
    const wanted = await setup.askServer(body);
    assert.equal(came.status, wanted.status, came.text.slice(0, 500));
    if (came.header('x-postern-translated') === undefined) assertAlike(came.json, wanted.json);
  }
};

const refusing = (body: object, route: string) => async (setup: ServerSetup) => {
  const { status, json, text } = await setup.ask(route, body);
  assert.ok(status >= 400, `${status} ${text.slice(0, 200)}`);
  refusal.parse(json);
};

const embeddings: ServerCases = {
  "an untranslated answer equals the server's own answer": passing(
    [{ input: 'one' }, { input: ['one', 'two'], encoding_format: 'float' }],
    '/v1/embeddings',
  ),

  async 'a text has the same vector alone, in a list, and on the legacy engines path'(setup) {
    const [alone] = await embed(setup, 'a plain text');
    assertSame((await embed(setup, ['a plain text']))[0], alone, 'in a list');
    assertSame((await embed(setup, ['a plain text'], {}, '/v1/engines/m/embeddings'))[0], alone, 'on the legacy path');
  },

  async 'texts in any script get their vectors in input order'(setup) {
    const together = await embed(setup, texts);
    for (const [index, text] of texts.entries()) assertSame((await embed(setup, text))[0], together[index], text);
  },

  async '70 texts, more than one call accepts, get their vectors in input order'(setup) {
    const many = await embed(setup, manyTexts);
    assert.equal(many.length, manyTexts.length);
    for (const index of [0, 31, 32, 69]) {
      assertSame((await embed(setup, manyTexts[index]))[0], many[index], `text ${index}`);
    }
  },

  async 'base64 vectors equal the float vectors'(setup) {
    const floats = await embed(setup, texts, { encoding_format: 'float' });
    const { data } = good(await setup.ask('/v1/embeddings', { input: texts, encoding_format: 'base64' }), encoded);
    for (const [index, { embedding }] of data.entries()) {
      const bytes = new Uint8Array(Buffer.from(embedding, 'base64'));
      assertSame([...new Float32Array(bytes.buffer)], floats[index], texts[index] ?? '');
    }
  },

  async 'accepts the null fields, user and dimensions that official clients send'(setup) {
    for (const more of [{ encoding_format: null }, { dimensions: null }, { user: 'u' }]) await embed(setup, 'x', more);
    const [own] = await embed(setup, 'x');
    const { status, text } = await setup.ask('/v1/embeddings', { input: 'x', dimensions: own?.length });
    assert.ok(status === 200 || status === 400, text.slice(0, 300));
  },

  async 'token IDs get the vector of the text they encode'(setup) {
    // Those of OpenAI's own models are their own.
    if (setup.server.family.id === 'openai' || setup.server.family.id === 'azure') return;
    const [text] = await embed(setup, 'Hello world');
    assertSame((await embed(setup, [[9906, 1917]]))[0], text, 'Hello world');
  },

  "an invalid request gets an error in OpenAI's shape": refusing({ input: [{}] }, '/v1/embeddings'),
};

const documents = [
  'Bananas are yellow.',
  'Berlin is the capital of Germany.',
  'Zürich 東京 🚀',
  'with "quotes"\nand lines',
];
const query = 'What is the capital of Germany?';

async function rerank(setup: ServerSetup, docs: readonly unknown[], more: object = {}) {
  const { results } = good(await setup.ask('/v1/rerank', { query, documents: docs, ...more }), ranks);
  const scores = results.map(({ relevance_score: score }) => score);
  assert.deepEqual(
    scores,
    scores.toSorted((a, b) => b - a),
  );
  assert.equal(new Set(results.map(({ index }) => index)).size, results.length);
  return results;
}

const rerankCases: ServerCases = {
  "an untranslated answer equals the server's own answer": passing([{ query, documents }], '/v1/rerank'),

  async 'returns all documents by descending score, with their indexes in the request'(setup) {
    const results = await rerank(setup, documents);
    assert.deepEqual(results.map(({ index }) => index).sort(), [0, 1, 2, 3]);
  },

  async 'returns top_n documents, and all if top_n is null'(setup) {
    assert.equal((await rerank(setup, documents, { top_n: 2 })).length, 2);
    assert.equal((await rerank(setup, documents, { top_n: null, return_documents: null })).length, documents.length);
  },

  async 'accepts documents that are objects, and returns them with return_documents'(setup) {
    const results = await rerank(
      setup,
      documents.map((text) => ({ text })),
      { return_documents: true },
    );
    for (const { index, document } of results) assert.equal(document?.text, documents[index]);
  },

  async 'ranks 74 documents, more than one call accepts'(setup) {
    const results = await rerank(setup, [...manyTexts, ...documents]);
    assert.equal(results.length, manyTexts.length + documents.length);
  },

  "an invalid request gets an error in OpenAI's shape": refusing({ query, documents: [[1]] }, '/v1/rerank'),
};

const moderations: ServerCases = {
  async 'returns one verdict for a text, and one for each text of a list'(setup) {
    const judge = async (input: unknown) => good(await setup.ask('/v1/moderations', { input }), verdicts).results;
    assert.equal((await judge('Have a nice day')).length, 1);
    assert.equal((await judge(texts)).length, texts.length);
    const [said] = await judge('I will kill you');
    for (const [category, isFlagged] of Object.entries(said?.categories ?? {})) {
      assert.ok(!isFlagged || said?.flagged === true, category);
    }
  },

  "an invalid request gets an error in OpenAI's shape": refusing({ input: [[1]] }, '/v1/moderations'),
};

const prompt = 'The capital of Germany is';

const completions: ServerCases = {
  async 'returns one completion for a prompt, and one for each of several prompts'(setup) {
    const complete = async (more: object) =>
      good(await setup.ask('/v1/completions', { max_tokens: 8, temperature: 0, ...more }), completion).choices;
    assert.equal((await complete({ prompt })).length, 1);
    const several = await complete({ prompt: [prompt, 'One, two, three,'] });
    assert.deepEqual(
      several.map(({ index }) => index),
      [0, 1],
    );
  },

  async 'a completion stream ends with [DONE]'(setup) {
    const { status, text } = await setup.ask('/v1/completions', { prompt, max_tokens: 8, stream: true });
    assert.equal(status, 200, text.slice(0, 500));
    assert.match(text, /^data: \{/m);
    assert.match(text, /data: \[DONE\]\s*$/);
  },

  "an invalid request gets an error in OpenAI's shape": refusing({ prompt: [{}] }, '/v1/completions'),
};

export const serverCases: Readonly<Partial<Record<Operation, ServerCases>>> = {
  completions,
  rerank: rerankCases,
  moderations,
  embeddings,
};
