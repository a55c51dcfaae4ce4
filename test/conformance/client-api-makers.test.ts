/** Clients of Voyage AI, Jina AI and Mistral at their client APIs: what means the same is served by every family, what does not passes or is refused. */

import assert from 'node:assert/strict';
import { Buffer } from 'node:buffer';
import { type TestContext, test } from 'node:test';
import { lastChunk, toChunk, toHead } from '../support/clients/http-message.ts';
import { assertAnswer, embedder, oddVector, startClientApis } from '../support/gateways/client-apis.ts';
import { startSeveral } from '../support/gateways/several.ts';
import type { Handler } from '../support/upstreams/fake-upstream.ts';

const json: [string, string] = ['content-type', 'application/json'];

test('contextualized embeddings are accepted if each group has one text', async (t) => {
  const { rig, asked } = await startClientApis(t, embedder);
  for (const path of ['/v1/contextualizedembeddings', '/voyage/v1/contextualizedembeddings']) {
    const answer = await rig.post(path, { model: 'direct', inputs: [['a'], ['b']], input_type: null });
    const one = (index: number): string =>
      `{"object":"list","data":[{"object":"embedding","embedding":${oddVector},"index":0}],"index":${index}}`;
    assertAnswer(answer, `{"object":"list","data":[${one(0)},${one(1)}],"usage":{"total_tokens":5},"model":"direct"}`);
    assert.deepEqual((await asked()).body, { model: 'real', input: ['a', 'b'], encoding_format: 'float' });
  }
  const inputs = [{ content: [{ type: 'text', text: 'a' }] }];
  const answer = await rig.post('/v1/multimodalembeddings', { model: 'direct', inputs });
  const counted = '"usage":{"text_tokens":5,"image_pixels":0,"video_pixels":0,"total_tokens":5}';
  assertAnswer(
    answer,
    `{"object":"list","data":[{"object":"embedding","embedding":${oddVector},"index":0}],${counted},"model":"direct"}`,
  );
});

test('a conversation of one message can be moderated', async (t) => {
  const said = '{"results":[{"flagged":true,"categories":{"a":true},"category_scores":{"a":0.10}}]}';
  const models = [{ id: 'judge', operations: ['moderations'], targets: [{ upstream: 'openai', model: 'real' }] }];
  const { rig, asked } = await startClientApis(t, (_request, reply) => reply.bytes(200, [json], said), { models });
  const message = { role: 'user', content: 'x' };
  for (const input of [[message], [[message]]]) {
    const answer = await rig.post('/v1/chat/moderations', { model: 'judge', input });
    assertAnswer(answer, /^\{"id":"mod-[^"]+","model":"judge","results":\[\{"flagged":true.*"a":0\.10/);
    assert.deepEqual((await asked()).body, { model: 'real', input: ['x'] });
  }
});

test("fill-in-the-middle is a completion with a suffix, in Mistral's response shape", async (t) => {
  const said =
    '{"id":"c","choices":[{"text":"b","index":0,"finish_reason":"length"}],"usage":{"prompt_tokens":3,"completion_tokens":1,"total_tokens":4}}';
  const { rig, asked } = await startClientApis(t, (_request, reply) => reply.bytes(200, [json], said));
  const body = { model: 'words', prompt: 'a', suffix: 'c', max_tokens: 4, random_seed: 7, stream: false };
  const answer = await rig.post('/v1/fim/completions', body);
  const { id, created, ...read } = answer.json() as Record<string, unknown>;
  assert.ok(String(id).startsWith('fim-') && Number.isInteger(created));
  assert.deepEqual(read, {
    object: 'chat.completion',
    model: 'words',
    choices: [{ index: 0, message: { role: 'assistant', content: 'b' }, finish_reason: 'length' }],
    usage: { prompt_tokens: 3, completion_tokens: 1, total_tokens: 4 },
  });
  assert.deepEqual((await asked()).body, { model: 'real', prompt: 'a', suffix: 'c', max_tokens: 4, seed: 7 });
  assert.equal((await rig.exchange()).usage?.totalTokens, 4);
});

/** One model at the family whose wire it is. */
const atHome = (t: TestContext, family: string, operation: string, script: Handler) =>
  startSeveral(t, [script], {
    model: { operations: [operation], price: { input: 1 }, cache: operation === 'embeddings' ? {} : undefined },
    upstream: { family },
  });

test("Mistral's clients get moderation categories of a Mistral upstream under Mistral's names", async (t) => {
  const own = '{"categories":{"sexual":false,"pii":true},"category_scores":{"sexual":1e-4,"pii":0.930}}';
  const said = `{"id":"m1","model":"real","usage":{"prompt_tokens":3,"total_tokens":3},"results":[${own}]}`;
  const { rig, upstreams } = await atHome(t, 'mistral', 'moderations', (_request, reply) =>
    reply.bytes(200, [json], said),
  );
  const body = { model: 'm', input: ['x'], metadata: { a: 1 } };
  const answer = await rig.post('/mistral/v1/moderations', body);
  const { id, ...rest } = answer.json() as Record<string, unknown>;
  assert.match(String(id), /^modr-/);
  assert.deepEqual(rest, { model: 'real', results: [JSON.parse(own)], usage: { prompt_tokens: 3, total_tokens: 3 } });
  assert.ok(answer.body.includes(own), 'numbers keep their digits');
  assert.deepEqual(JSON.parse(upstreams[0]?.requests[0]?.body.toString() ?? ''), { ...body, model: 'm' });
  const { results } = (await rig.post('/v1/moderations', body)).json() as { results: { flagged: boolean }[] };
  assert.deepEqual(
    results.map(({ flagged }) => flagged),
    [true],
  );
});

test("Mistral's clients get moderation results of upstreams that are not Mistral unchanged", async (t) => {
  const said =
    '{"id":"o","model":"real","results":[{"flagged":true,"categories":{"hate":true},"category_scores":{"hate":0.90}}]}';
  const { rig } = await atHome(t, 'openai', 'moderations', (_request, reply) => reply.bytes(200, [json], said));
  assertAnswer(await rig.post('/mistral/v1/moderations', { model: 'm', input: 'x' }), said);
});

const passing: readonly {
  family: string;
  operation: string;
  path: string;
  body: string;
  answer: string;
  tokens: number;
}[] = [
  {
    family: 'voyage',
    operation: 'embeddings',
    path: '/v1/contextualizedembeddings',
    body: '{ "model":"m", "inputs":[["a","b"],["c"]], "output_dtype":"int8", "enable_auto_chunking":false }',
    answer: '{"data": [{"index": 0, "data": [{"index": 0, "embedding": [1, -2]}]}], "usage": {"total_tokens": 6}}',
    tokens: 6,
  },
  {
    family: 'voyage',
    operation: 'embeddings',
    path: '/v1/multimodalembeddings',
    body: '{"inputs":[{"content":[{"type":"image_base64","image_base64":"data:image/png;base64,AA=="}]}],"model":"m"}',
    answer: '{"data": [], "usage": {"text_tokens": 0, "image_pixels": 9, "video_pixels": 0, "total_tokens": 11}}',
    tokens: 11,
  },
  {
    family: 'jina',
    operation: 'embeddings',
    path: '/v1/classify',
    body: '{"model":"m","input":["a"],"labels":["x", "y"]}',
    answer: '{"data": [{"index": 0, "prediction": "x", "score": 0.90}], "usage": {"total_tokens": 5}}',
    tokens: 5,
  },
  {
    family: 'mistral',
    operation: 'moderations',
    path: '/v1/chat/moderations',
    body: '{"model":"m","input":[[{"role":"user","content":"a"},{"role":"assistant","content":"b"}]]}',
    answer:
      '{"id": "m", "results": [{"categories": {"pii": false}}], "usage": {"prompt_tokens": 7, "total_tokens": 7}}',
    tokens: 7,
  },
  {
    family: 'mistral',
    operation: 'completions',
    path: '/v1/fim/completions',
    body: '{"model":"m","prompt":"a","suffix":"c","min_tokens":1}',
    answer:
      '{"object": "chat.completion", "choices": [{"message": {"content": "b"}}], "usage": {"prompt_tokens": 2, "completion_tokens": 0, "total_tokens": 2}}',
    tokens: 2,
  },
];

for (const { family, operation, path, body, answer, tokens } of passing) {
  test(`${path} passes byte for byte to ${family}, and is billed by its usage`, async (t) => {
    const setup = await atHome(t, family, operation, (_request, reply) => reply.bytes(200, [json], answer));
    const got = await setup.rig.post(path, body);
    assert.deepEqual([got.status, got.body.toString()], [200, answer]);
    const [request] = setup.upstreams[0]?.requests ?? [];
    assert.deepEqual([request?.path, request?.body.toString()], [path, body]);
    const { usage, bill } = await setup.rig.exchange();
    assert.equal(usage?.promptTokens ?? usage?.totalTokens, tokens);
    assert.equal(bill?.costNanos, tokens * 1_000);
  });
}

test('a fill-in-the-middle stream is translated event by event', async (t) => {
  const events =
    'data: {"object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"b"}}]}\n\ndata: [DONE]\n\n';
  const script: Handler = async (_request, reply) => {
    await reply.raw(
      toHead('HTTP/1.1 200 OK', [
        ['content-type', 'text/event-stream'],
        ['transfer-encoding', 'chunked'],
      ]),
    );
    await reply.raw(toChunk(Buffer.from(events)));
    await reply.raw(lastChunk);
  };
  const { rig } = await atHome(t, 'mistral', 'completions', script);
  const answer = await rig.post('/v1/fim/completions', { model: 'm', prompt: 'a', stream: true });
  assert.equal(answer.body.toString(), events);
});

test("errors have the type, code and field of their cause in Mistral's shape", async (t) => {
  const { rig } = await startClientApis(t, (_request, reply) => reply.json(429, { message: 'slower' }));
  const ask = async (body: object, headers?: []) =>
    (await rig.post('/mistral/v1/embeddings', body, headers && { headers })).json();
  const said = (type: string, code: string | null, param: string | null) => ({ object: 'error', type, code, param });
  const withoutMessage = ({ message: _message, ...rest }: Record<string, unknown>) => rest;
  for (const [answer, expected] of [
    [await ask({ model: 'direct', input: 'a' }, []), said('authentication_error', 'missing_api_key', null)],
    [await ask({ model: 'nobody', input: 'a' }), said('invalid_request_error', 'model_not_found', 'model')],
    [await ask({ model: 'direct', input: 'a' }), said('rate_limit_error', null, null)],
  ] as const) {
    assert.deepEqual(withoutMessage(answer as Record<string, unknown>), expected);
  }
});

test("unsupported requests are refused by name in the client API's shape, without a call", async (t) => {
  const { rig, upstream } = await startClientApis(t);
  const image = { type: 'image_url', image_url: 'https://pictures.example/a.png' };
  const rows: readonly [path: string, body: object, expected: RegExp][] = [
    ['/v1/contextualizedembeddings', { model: 'direct', inputs: [['a', 'b']] }, /^\{"detail":".*inputs\[0\]/],
    ['/v1/contextualizedembeddings', { model: 'direct', inputs: [['a']], output_dtype: 'int8' }, /output_dtype/],
    ['/v1/multimodalembeddings', { model: 'direct', inputs: [{ content: [image] }] }, /inputs\[0\]\.content/],
    ['/v1/classify', { model: 'direct', input: ['a'], labels: ['b'] }, /^\{"detail":"No upstream of the model/],
    ['/v1/chat/moderations', { model: 'direct', input: 'a' }, /^\{"object":"error","message":"The field \\"input/],
    ['/v1/fim/completions', { model: 'words', prompt: 'a', stream: true }, /^\{"object":"error".*\\"stream/],
    ['/v1/fim/completions', { model: 'words' }, /\\"prompt\\" is missing|prompt/],
  ];
  for (const [path, body, expected] of rows) {
    const answer = await rig.post(path, body);
    assert.equal(answer.status, 400, `${path}: ${answer.body}`);
    assert.match(answer.body.toString(), expected, path);
  }
  assert.equal(upstream.requests.length, 0);
});
