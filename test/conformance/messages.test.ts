/** Anthropic's messages as its clients meet them: the official library, streams, caches, errors in their shape. */

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import Anthropic from '@anthropic-ai/sdk';
import { type Rig, startRig, testKey } from '../support/gateways/rig.ts';
import { type FakeUpstream, type Handler, startFakeUpstream } from '../support/upstreams/fake-upstream.ts';

const path = '/v1/messages';
const usage = {
  input_tokens: 100,
  cache_creation_input_tokens: 30,
  cache_read_input_tokens: 500,
  output_tokens: 20,
};
const answer = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'claude-real',
  content: [{ type: 'text', text: 'four' }],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage,
};
const question = (more: object = {}) => ({
  model: 'm',
  max_tokens: 50,
  messages: [{ role: 'user', content: '2+2?' }],
  ...more,
});

async function startSetup(
  t: TestContext,
  script: Handler,
  { model = {}, key = {} }: { readonly model?: object; readonly key?: object } = {},
): Promise<{ rig: Rig; up: FakeUpstream; client: Anthropic }> {
  const up = await startFakeUpstream(script);
  t.after(() => up.close());
  const rig = await startRig(t, {
    upstreams: [{ id: 'up', family: 'anthropic', base_url: up.url, api_key: 'sk-ant-upstream-credential' }],
    models: [
      {
        id: 'm',
        price: { input: 3, cached_input: 0.3, cache_write: 3.75, output: 15 },
        targets: [{ upstream: 'up', model: 'claude-real' }],
        ...model,
      },
    ],
    keys: [{ id: 'test', secret: testKey, ...key }],
  });
  return { rig, up, client: new Anthropic({ baseURL: rig.url, apiKey: testKey, maxRetries: 0 }) };
}

const event = (type: string, more: object): string => `event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`;
const begun = (counted: object): string =>
  event('message_start', { message: { ...answer, content: [], stop_reason: null, usage: counted } });
const said = [
  event('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
  event('ping', {}),
  event('content_block_delta', { index: 0, delta: { type: 'text_delta', text: 'fo' } }),
  event('content_block_delta', { index: 0, delta: { type: 'text_delta', text: 'ur' } }),
  event('content_block_stop', { index: 0 }),
];
const ended = (counted: object): string =>
  event('message_delta', { delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: counted });
const stop = event('message_stop', {});

const streaming =
  (...events: readonly string[]): Handler =>
  (_request, reply) =>
    reply.bytes(200, [['content-type', 'text/event-stream']], events.join(''));

test('the official library works, plain, streamed and for counting tokens', async (t) => {
  const events = [begun({ ...usage, output_tokens: 1 }), ...said, ended({ output_tokens: 20 }), stop];
  const { client, up } = await startSetup(t, (request, reply) => {
    if (request.path.endsWith('/count_tokens')) return reply.json(200, { input_tokens: 9 });
    return request.body.includes('"stream":true')
      ? streaming(...events)(request, reply)
      : reply.json(200, answer, [['request-id', 'req_1']]);
  });
  const asked = { model: 'm', max_tokens: 50, messages: [{ role: 'user' as const, content: '2+2?' }] };
  const plain = await client.messages.create(asked);
  assert.deepEqual(plain.content, answer.content);
  const final = await client.messages.stream(asked).finalMessage();
  assert.deepEqual([final.content, final.usage.output_tokens], [answer.content, 20]);
  assert.equal((await client.messages.countTokens({ model: 'm', messages: asked.messages })).input_tokens, 9);
  const [first] = up.requests;
  assert.equal(first?.header('x-api-key'), 'sk-ant-upstream-credential');
  assert.equal(first?.header('authorization'), undefined);
  assert.match(first?.header('anthropic-version') ?? '', /^20\d\d-\d\d-\d\d$/);
});

test('cache reads and writes are billed at their own prices', async (t) => {
  const { rig } = await startSetup(t, (_request, reply) => reply.json(200, answer));
  await rig.post(path, question());
  const { bill } = await rig.exchange(1);
  // 100 at 3, 500 at 0.3, 30 at 3.75 and 20 at 15 dollars a million.
  assert.deepEqual(
    [bill?.inputTokens, bill?.cachedTokens, bill?.outputTokens, bill?.costNanos, bill?.isEstimated],
    [630, 500, 20, 862_500, false],
  );
});

test("a stream's final usage overrides its first, and missing fields keep the first value", async (t) => {
  const first = { ...usage, output_tokens: 1 };
  const rows: readonly [events: readonly string[], input: number, cached: number, output: number, guessed: boolean][] =
    [
      [[begun(first), ...said, ended({ output_tokens: 20 }), stop], 630, 500, 20, false],
      [
        [begun(first), ...said, ended({ ...usage, input_tokens: 0, cache_read_input_tokens: null }), stop],
        630,
        500,
        20,
        false,
      ],
      [
        [begun({ input_tokens: 43, output_tokens: 1 }), ...said, ended({ input_tokens: 61, output_tokens: 7 }), stop],
        61,
        0,
        7,
        false,
      ],
      [
        [
          begun({ input_tokens: 43, output_tokens: 1 }),
          ...said,
          ended({ output_tokens: 3 }),
          ended({ output_tokens: 7 }),
          stop,
        ],
        43,
        0,
        7,
        false,
      ],
      // It never came to its end: two events held text.
      [[begun(first), ...said], 630, 500, 2, true],
    ];
  for (const [events, ...expected] of rows) {
    const { rig } = await startSetup(t, streaming(...events));
    const response = await rig.post(path, question({ stream: true }));
    assert.equal(response.body.toString(), events.join(''));
    const { bill } = await rig.exchange(1);
    assert.deepEqual([bill?.inputTokens, bill?.cachedTokens, bill?.outputTokens, bill?.isEstimated], expected);
  }
});

test("a gateway error has Anthropic's shape, and the library recognises its class", async (t) => {
  const { client, rig } = await startSetup(t, (_request, reply) => reply.json(200, answer));
  const response = await rig.post(path, { model: 'm', messages: [] });
  assert.equal(response.status, 400);
  const { type, error } = JSON.parse(response.body.toString());
  assert.deepEqual([type, error.type, error.param], ['error', 'invalid_request_error', 'max_tokens']);
  const asked = { model: 'nobody', max_tokens: 1, messages: [] };
  await assert.rejects(client.messages.create(asked), Anthropic.NotFoundError);
  const stranger = new Anthropic({ baseURL: rig.url, apiKey: 'nobody-knows-this-key-at-all', maxRetries: 0 });
  await assert.rejects(stranger.messages.create(asked), Anthropic.AuthenticationError);
});

test('of the query string, only the beta flag is sent upstream', async (t) => {
  const { rig, up } = await startSetup(t, (_request, reply) => reply.json(200, answer));
  await rig.post(`${path}?beta=true`, question());
  await rig.post(`${path}?key=sk-secret&b%65ta=true&x=%0d%0a`, question());
  await rig.post(`${path}?Beta=true`, question());
  assert.deepEqual(
    up.requests.map((request) => request.path),
    ['/v1/messages?beta=true', '/v1/messages?beta=true', '/v1/messages'],
  );
  const refused = await rig.post(`${path}?beta=maybe`, question());
  assert.deepEqual([refused.status, JSON.parse(refused.body.toString()).error.param], [400, 'beta']);
});

test('an overloaded upstream gives a retryable error with its message', async (t) => {
  const overloaded = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' }, request_id: 'req_2' };
  const { rig, up } = await startSetup(t, (_request, reply) => reply.json(529, overloaded));
  const response = await rig.post(path, question());
  assert.equal(response.status, 529);
  assert.equal(response.body.toString(), JSON.stringify(overloaded));
  assert.ok(up.requests.length >= 1);
});

test('counting tokens is free, and recorded in the ledger', async (t) => {
  const { rig } = await startSetup(t, (_request, reply) => reply.json(200, { input_tokens: 9 }));
  const response = await rig.post('/v1/messages/count_tokens', {
    model: 'm',
    messages: [{ role: 'user', content: 'x' }],
  });
  assert.equal(response.status, 200);
  const { bill, route } = await rig.exchange(1);
  assert.equal(route?.operation, 'count_tokens');
  assert.deepEqual([bill?.inputTokens, bill?.costNanos, bill?.isEstimated], [0, 0, false]);
});

test("under a budget, images need the model's context size", async (t) => {
  const source = { type: 'base64', media_type: 'image/png', data: 'A'.repeat(9_000) };
  const image = question({ messages: [{ role: 'user', content: [{ type: 'image', source }] }] });
  const key = { budgets: [{ every: 'day', amount: '1' }] };
  const script: Handler = (_request, reply) => reply.json(200, answer);
  const without = await startSetup(t, script, { key });
  const refused = await without.rig.post(path, image);
  assert.deepEqual([refused.status, JSON.parse(refused.body.toString()).error.param], [400, 'source']);
  const held = await startSetup(t, script, { key, model: { context: 200_000 } });
  assert.equal((await held.rig.post(path, image)).status, 200);
});

test('a request that names files stored at Anthropic is refused; tool inputs may contain anything', async (t) => {
  const { rig, up } = await startSetup(t, (_request, reply) => reply.json(200, answer));
  const ask = (content: unknown, more: object = {}) =>
    rig.post(path, question({ messages: [{ role: 'user', content }], ...more }));
  for (const [content, more] of [
    [[{ type: 'document', source: { type: 'file', file_id: 'file_1' } }], {}],
    [[{ type: 'container_upload', file_id: 'file_1' }], {}],
    [
      [{ type: 'tool_result', tool_use_id: 't', content: [{ type: 'image', source: { type: 'file', file_id: 'f' } }] }],
      {},
    ],
    ['x', { container: 'container_1' }],
  ] as const) {
    const refused = await ask(content, more);
    assert.deepEqual([refused.status, JSON.parse(refused.body.toString()).error.code], [404, 'object_not_found']);
    const counting = question({ messages: [{ role: 'user', content }], ...more });
    assert.equal((await rig.post(`${path}/count_tokens`, counting)).status, 404);
  }
  assert.equal(up.requests.length, 0);
  const use = { type: 'tool_use', id: 't', name: 'open', input: { file_id: 'mine', path: { file_id: 'mine' } } };
  const schema = { type: 'object', properties: { file_id: { type: 'string' } } };
  assert.equal((await ask([use], { tools: [{ name: 'open', input_schema: schema }] })).status, 200);
});

test("an Anthropic client's model list has the models with messages, paged", async (t) => {
  const up = await startFakeUpstream((_request, reply) => reply.json(200, { input_tokens: 9 }));
  t.after(() => up.close());
  const targets = [{ upstream: 'up', model: 'claude-real' }];
  const rig = await startRig(t, {
    upstreams: [
      { id: 'up', family: 'anthropic', base_url: up.url, api_key: 'sk-ant-upstream-credential' },
      { id: 'openai', family: 'openai', base_url: up.url, api_key: 'sk-upstream-credential' },
    ],
    models: [
      { id: 'a', operations: ['messages'], context: 200_000, max_output: 64_000, targets },
      { id: 'talks', operations: ['chat'], targets: [{ upstream: 'openai' }] },
      { id: 'b', operations: ['messages'], targets },
      { id: 'hidden', operations: ['messages'], visible: false, targets },
      { id: 'counts', operations: ['count_tokens'], targets },
      { id: 'c', operations: ['messages'], targets },
    ],
  });
  const client = new Anthropic({ baseURL: rig.url, apiKey: testKey, maxRetries: 0 });
  for (const paging of [{}, { limit: 1 }, { limit: 2 }, { limit: 3 }]) {
    const ids: string[] = [];
    for await (const { id } of client.models.list(paging)) ids.push(id);
    assert.deepEqual(ids, ['a', 'b', 'c'], JSON.stringify(paging));
  }
  const {
    data,
    has_more: isMore,
    first_id: first,
    last_id: last,
  } = await client.models.list({ before_id: 'c', limit: 1 });
  assert.deepEqual([data.map(({ id }) => id), isMore, first, last], [['b'], true, 'b', 'b']);
  const { created_at: at, ...one } = await client.models.retrieve('a');
  assert.ok(!Number.isNaN(Date.parse(at)));
  assert.deepEqual(one, {
    type: 'model',
    id: 'a',
    display_name: 'a',
    max_input_tokens: 200_000,
    max_tokens: 64_000,
    capabilities: null,
    lifecycle: 'active',
    line: null,
    deprecated_at: null,
    retires_at: null,
  });
  for (const id of ['talks', 'hidden', 'nobody']) {
    await assert.rejects(client.models.retrieve(id), (error) => {
      assert.ok(error instanceof Anthropic.NotFoundError);
      assert.deepEqual(Object.keys(Object(error.error)), ['error', 'type']);
      return true;
    });
  }
  const behind = new Anthropic({ baseURL: `${rig.url}/anthropic`, apiKey: testKey, maxRetries: 0 });
  assert.equal((await behind.models.list()).data.length, 3);
  await assert.rejects(client.models.list({ after_id: 'talks' }), Anthropic.BadRequestError);
  const others = (await rig.get('/v1/models')).json() as { object: string; data: { id: string }[] };
  assert.deepEqual([others.object, others.data.length], ['list', 5]);
});

test('files are refused by name for Anthropic clients, and served for OpenAI clients', async (t) => {
  const { rig, up, client } = await startSetup(t, (_request, reply) => reply.json(200, answer));
  const refused = (error: unknown): boolean =>
    error instanceof Anthropic.BadRequestError && /Anthropic's Files API is not served/.test(error.message);
  for (const at of ['', '/anthropic']) {
    const by = client.withOptions({ baseURL: rig.url + at });
    await assert.rejects(by.beta.files.list(), refused);
    await assert.rejects(by.beta.files.retrieveMetadata('file_1'), refused);
    await assert.rejects(by.beta.files.delete('file_1'), refused);
    await assert.rejects(by.beta.files.upload({ file: new File(['x'], 'x.txt') }), refused);
  }
  assert.equal((await rig.get('/v1/files')).status, 404);
  assert.equal(up.requests.length, 0);
});

test('token counting needs the same permission and operation as messages', async (t) => {
  const { rig, up } = await startSetup(t, (_request, reply) => reply.json(200, { input_tokens: 9 }), {
    model: { operations: ['messages'] },
    key: { operations: ['messages'] },
  });
  const { messages } = question();
  const answered = await rig.post('/v1/messages/count_tokens', { model: 'm', messages });
  assert.deepEqual([answered.status, answered.json()], [200, { input_tokens: 9 }]);
  assert.equal((await up.nextRequest()).path, '/v1/messages/count_tokens');
  const listed = (await rig.get('/v1/models/m')).json() as { operations: string[] };
  assert.deepEqual(listed.operations, ['messages', 'count_tokens']);
});
