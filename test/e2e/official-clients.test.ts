/** The clients that people use, unmodified: the official OpenAI and Cohere packages against the gateway. */

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { CohereClient, CohereClientV2 } from 'cohere-ai';
import OpenAI from 'openai';
import { type Rig, startRig, testKey } from '../support/gateways/rig.ts';
import { startFakeUpstream } from '../support/upstreams/fake-upstream.ts';

const embedded = { upstreams: [{ id: 'local', family: 'local' }] };

function openai(rig: Rig, more: { baseURL?: string; apiKey?: string } = {}): OpenAI {
  return new OpenAI({ baseURL: `${rig.url}/v1`, apiKey: testKey, maxRetries: 0, ...more });
}

test('completions of the built-in upstream, plain and streamed', async (t) => {
  const client = openai(await startRig(t, embedded));
  const plain = await client.completions.create({ model: 'local/echo', prompt: 'one two three', max_tokens: 2 });
  assert.equal(plain.choices[0]?.text.trim(), 'one two');
  assert.equal(plain.choices[0]?.finish_reason, 'length');

  const stream = await client.completions.create({
    model: 'local/echo',
    prompt: 'one two three',
    stream: true,
    stream_options: { include_usage: true },
  });
  let text = '';
  let events = 0;
  let totalTokens: number | undefined;
  for await (const event of stream) {
    text += event.choices[0]?.text ?? '';
    totalTokens = event.usage?.total_tokens ?? totalTokens;
    events += 1;
  }
  assert.equal(text.trim(), 'one two three');
  assert.ok(events >= 4, `${events} events`);
  assert.equal(totalTokens, 6);
});

test('moderations of one text and of several', async (t) => {
  const client = openai(await startRig(t, embedded));
  const { results } = await client.moderations.create({
    model: 'local/wordlist',
    input: ['I will kill you', 'a pleasant afternoon'],
  });
  assert.deepEqual(
    results.map(({ flagged }) => flagged),
    [true, false],
  );
  assert.ok((results[0]?.category_scores.violence ?? 0) >= 0.5);
});

test('embeddings with the default base64 and with floats have the same bits', async (t) => {
  const client = openai(await startRig(t, embedded));
  const request = { model: 'local/hash-embed', input: ['the small gate', 'the large hall'], dimensions: 64 };
  const byDefault = await client.embeddings.create(request);
  const floats = await client.embeddings.create({ ...request, encoding_format: 'float' });
  assert.equal(byDefault.data.length, 2);
  assert.equal(byDefault.data[0]?.embedding.length, 64);
  assert.deepEqual(byDefault.data[1]?.embedding, floats.data[1]?.embedding.map(Math.fround));
  const length = Math.hypot(...(floats.data[0]?.embedding ?? []));
  assert.ok(Math.abs(length - 1) < 1e-6, String(length));
});

test('a base URL without /v1, or with it twice, works too', async (t) => {
  const rig = await startRig(t, embedded);
  for (const baseURL of [rig.url, `${rig.url}/v1/v1`]) {
    const answer = await openai(rig, { baseURL }).moderations.create({ model: 'local/wordlist', input: 'x' });
    assert.equal(answer.results.length, 1);
  }
});

test('models are listed and retrieved, with a slash in the ID too', async (t) => {
  const client = openai(await startRig(t, embedded));
  const listed = (await client.models.list()).data.map(({ id }) => id);
  assert.deepEqual(listed.toSorted(), ['local/bm25', 'local/echo', 'local/hash-embed', 'local/wordlist']);
  assert.equal((await client.models.retrieve('local/bm25')).id, 'local/bm25');
});

test("errors arrive as the client's classes, with code, param and request ID", async (t) => {
  const rig = await startRig(t, embedded);
  const wrongKey = openai(rig, { apiKey: 'nobody-knows-this-key-at-all' });
  await assert.rejects(wrongKey.embeddings.create({ model: 'local/hash-embed', input: 'x' }), (error: unknown) => {
    assert.ok(error instanceof OpenAI.AuthenticationError);
    assert.equal(error.code, 'invalid_api_key');
    assert.match(error.requestID ?? '', /^[0-9a-f]{32}$/);
    return true;
  });
  await assert.rejects(openai(rig).embeddings.create({ model: 'nothing', input: 'x' }), (error: unknown) => {
    assert.ok(error instanceof OpenAI.NotFoundError);
    assert.equal(error.code, 'model_not_found');
    assert.equal(error.param, 'model');
    return true;
  });
});

async function startFakeRig(t: TestContext): Promise<Rig> {
  const upstream = await startFakeUpstream(async (request, reply) => {
    if (request.path.endsWith('/embeddings')) {
      const asked: { encoding_format?: string } = JSON.parse(request.body.toString());
      const embedding = asked.encoding_format === 'base64' ? 'AAAAPwAAgL8=' : [0.5, -1];
      return reply.json(200, {
        object: 'list',
        model: 'm',
        data: [{ object: 'embedding', index: 0, embedding }],
        usage: { prompt_tokens: 3, total_tokens: 3 },
      });
    }
    if (request.path.endsWith('/rerank')) {
      return reply.json(200, {
        id: 'r1',
        results: [{ index: 1, relevance_score: 0.9 }],
        meta: { api_version: { version: '2' }, billed_units: { search_units: 1 } },
      });
    }
    const choice = (text: string): unknown => ({
      id: 'cmpl-1',
      object: 'text_completion',
      created: 1,
      model: 'm',
      choices: [{ index: 0, text, logprobs: null, finish_reason: null }],
    });
    return reply.sse([choice('a'), choice('b'), '[DONE]']);
  });
  t.after(() => upstream.close());
  return startRig(t, {
    upstreams: [{ id: 'up', family: 'openai', base_url: `${upstream.url}/v1`, api_key: 'sk-upstream-secret' }],
    models: [{ id: 'm', targets: [{ upstream: 'up' }] }],
  });
}

test('an upstream that supports base64 gives the client its vectors and streams its completions', async (t) => {
  const rig = await startFakeRig(t);
  const client = openai(rig);
  const { data, usage } = await client.embeddings.create({ model: 'm', input: 'x' });
  assert.deepEqual(data[0]?.embedding, [0.5, -1]);
  assert.equal(usage.total_tokens, 3);
  const seen = await rig.exchange();
  assert.equal(seen.usage?.promptTokens, 3);

  let text = '';
  for await (const event of await client.completions.create({ model: 'm', prompt: 'x', stream: true })) {
    text += event.choices[0]?.text ?? '';
  }
  assert.equal(text, 'ab');
});

test("Cohere's clients rerank in either version, and with a base URL that has one already", async (t) => {
  const local = await startRig(t, embedded);
  const documents = ['a large hall', 'a small gate', 'a gate'];
  for (const environment of [local.url, `${local.url}/v1`]) {
    const v2 = new CohereClientV2({ environment, token: testKey });
    const second = await v2.rerank({ model: 'local/bm25', query: 'small gate', documents, topN: 2 });
    assert.deepEqual(
      second.results.map(({ index }) => index),
      [1, 2],
    );
    const v1 = new CohereClient({ environment, token: testKey });
    const first = await v1.rerank({ model: 'local/bm25', query: 'small gate', documents, returnDocuments: true });
    assert.equal(first.results.length, 3);
    assert.equal(first.results[0]?.document?.text, 'a small gate');
  }

  const fake = await startFakeRig(t);
  const answer = await new CohereClientV2({ environment: fake.url, token: testKey }).rerank({
    model: 'm',
    query: 'q',
    documents,
    topN: 1,
  });
  assert.equal(answer.results[0]?.relevanceScore, 0.9);
  assert.equal((await fake.exchange()).usage?.searchUnits, 1);
});
