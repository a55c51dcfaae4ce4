import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { CohereClient, CohereClientV2 } from 'cohere-ai';
import OpenAI from 'openai';
import { type Answered, ask, type ErrorBody } from '../../test/support/local-models.ts';
import { offersOf } from '../core/family.ts';
import type { Operation } from '../core/operations/index.ts';
import { embedByHash } from './local/hash-embed.ts';
import { rules } from './local/wordlist-rules.ts';
import local from './local.ts';

const models = local.builtIn ?? [];
const { openai: offered = {} } = offersOf(local, {});

/** Answers an official client's request with the maker that its path names, without a network. */
const fetchLocally: typeof fetch = async (input, init) => {
  const request = new Request(input, init);
  const path = new URL(request.url).pathname.replace(/^\/v[12]/, '');
  const offer = Object.values(offered).find((each) => each.path === path);
  assert.ok(offer?.make !== undefined, path);
  const { status, headers, body } = await offer.make(Buffer.from(await request.arrayBuffer()), request.signal);
  const stream = Buffer.isBuffer(body) ? new Uint8Array(body) : ReadableStream.from(body);
  return new Response(stream, { status, headers: headers.map(([name, value]): [string, string] => [name, value]) });
};

const openai = new OpenAI({ apiKey: 'none', baseURL: 'http://local/v1', fetch: fetchLocally, maxRetries: 0 });
const cohereOptions = { token: 'none', environment: 'http://local', fetch: fetchLocally, maxRetries: 0 };

test('the local family offers every operation that one of its models serves, each answered locally', () => {
  const served = new Set<Operation>(models.flatMap(({ operations }) => operations));
  assert.deepEqual(Object.keys(offered).sort(), [...served].sort());
  assert.equal(local.baseUrl, undefined);
  assert.equal(local.auth, undefined);
});

test('local embeddings work with the OpenAI client, which requests base64 by default', async () => {
  const input = ['hello world', 'naïve 東京'];
  const byDefault = await openai.embeddings.create({ model: 'local/hash-embed', input });
  const asFloats = await openai.embeddings.create({ model: 'local/hash-embed', input, encoding_format: 'float' });
  assert.deepEqual(
    byDefault.data.map(({ embedding }) => embedding),
    asFloats.data.map(({ embedding }) => embedding.map((value) => Math.fround(value))),
  );
  assert.equal(byDefault.data[1]?.embedding.length, 512);
  assert.equal(byDefault.usage.total_tokens, 5);
});

test('local moderations work with the OpenAI client', async () => {
  const { results } = await openai.moderations.create({ model: 'local/wordlist', input: ['hello', 'I will kill you'] });
  assert.deepEqual(
    results.map(({ flagged }) => flagged),
    [false, true],
  );
  assert.equal(results[1]?.categories['harassment/threatening'], true);
});

test('local completions work with the OpenAI client, plain and streamed', async () => {
  const fields = { model: 'local/echo', prompt: 'one two three' };
  const whole = await openai.completions.create(fields);
  assert.equal(whole.choices[0]?.text, 'one two three');
  let text = '';
  for await (const chunk of await openai.completions.create({ ...fields, stream: true })) {
    text += chunk.choices[0]?.text ?? '';
  }
  assert.equal(text, 'one two three');
});

test('local chat completions work with the OpenAI client, plain and streamed', async () => {
  const fields = { model: 'local/echo', messages: [{ role: 'user' as const, content: 'one two three' }] };
  const whole = await openai.chat.completions.create(fields);
  assert.equal(whole.choices[0]?.message.content, 'one two three');
  let text = '';
  for await (const chunk of await openai.chat.completions.create({ ...fields, stream: true })) {
    text += chunk.choices[0]?.delta.content ?? '';
  }
  assert.equal(text, 'one two three');
});

test('local/echo answers POST requests for edits', async () => {
  const body = { model: 'local/echo', input: 'hello', instruction: 'upper case' };
  const edited = await openai.post<{ choices: { text: string }[] }>('/edits', { body });
  assert.equal(edited.choices[0]?.text, 'HELLO');
});

test('errors of local models are those that the OpenAI client understands', async () => {
  await assert.rejects(openai.embeddings.create({ model: 'local/hash-embed', input: [[1, 2], [-3]] }), (error) => {
    assert.ok(error instanceof OpenAI.BadRequestError);
    assert.equal(error.param, 'input');
    assert.match(error.message, /no token ID of cl100k_base/);
    return true;
  });
});

test('local rerank works with both Cohere clients', async () => {
  const documents = ['Bananas are yellow.', 'Berlin is the capital of Germany.'];
  const query = 'capital of Germany';
  const v2 = await new CohereClientV2(cohereOptions).rerank({ model: 'local/bm25', query, documents, topN: 1 });
  assert.deepEqual(
    v2.results.map(({ index }) => index),
    [1],
  );
  const v1 = await new CohereClient(cohereOptions).rerank({
    model: 'local/bm25',
    query,
    documents,
    returnDocuments: true,
  });
  assert.deepEqual(
    v1.results.map(({ document }) => document?.text),
    [documents[1], documents[0]],
  );
  assert.equal(v1.meta?.billedUnits?.searchUnits, 1);
});

test('local embeddings take the vector width under the field names of other services', async () => {
  const widthFor = async (more: object) => {
    const body = Buffer.from(JSON.stringify({ input: 'x', ...more }));
    const made = await embedByHash(body, AbortSignal.timeout(60_000));
    assert.ok(Buffer.isBuffer(made.body));
    return [JSON.parse(made.body.toString()).data[0].embedding.length, made.ignored ?? []];
  };
  for (const name of ['dimensions', 'output_dimension', 'outputDimensionality', 'output_dimensionality']) {
    assert.deepEqual(await widthFor({ [name]: 3 }), [3, []], name);
  }
  assert.deepEqual(await widthFor({ output_dimension: 5, dimensions: 4, user: 'u', none: null }), [
    4,
    ['output_dimension', 'user'],
  ]);
});

test('local models refuse a body that is not a JSON object, on every operation', async () => {
  for (const { path, make } of Object.values(offered)) {
    assert.ok(make !== undefined);
    for (const body of ['', '{', 'null', '[]', '"text"']) {
      const { status, json }: Answered<ErrorBody> = await ask(make, body);
      assert.equal(status, 400, path);
      assert.deepEqual(
        [json.error.type, json.error.param, json.error.code],
        ['invalid_request_error', null, 'invalid_json'],
      );
    }
  }
});

const page = readFileSync(new URL('../../docs/reference/local-models.md', import.meta.url), 'utf8');

test('the docs list every local model and the number of word-list rules', () => {
  for (const { id } of models) assert.ok(page.includes(`## \`${id}\``), id);
  assert.ok(page.includes(`${rules.length} rules`));
});

test('the requests to local models in the docs work without changes', async () => {
  const requests = [
    ...page.matchAll(/^curl http:\/\/127\.0\.0\.1:4000\/v1(\/[\w/]+) [^']*'[^']*' \\\n {2}-d '([^']*)'/gm),
  ];
  const operations: string[] = [];
  for (const [, path = '', body = ''] of requests) {
    const [operation = '', offer] = Object.entries(offered).find(([, each]) => each.path === path) ?? [];
    assert.ok(offer?.make !== undefined, path);
    assert.equal((await ask(offer.make, body)).status, 200, path);
    operations.push(operation);
  }
  assert.deepEqual(operations.sort(), Object.keys(offered).sort());
});
