/** Responses as clients meet them: the official library, counts at the end of long streams, and nothing that an upstream keeps. */

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import OpenAI from 'openai';
import { assertError } from '../support/clients/error-answer.ts';
import { type Rig, startRig, testKey } from '../support/gateways/rig.ts';
import { type FakeUpstream, type Handler, startFakeUpstream } from '../support/upstreams/fake-upstream.ts';

const path = '/v1/responses';
const usage = {
  input_tokens: 100,
  input_tokens_details: { cached_tokens: 40 },
  output_tokens: 10,
  output_tokens_details: { reasoning_tokens: 4 },
  total_tokens: 110,
};
const answerOf = (text: string, counted: object | null = usage) => ({
  id: 'resp_1',
  object: 'response',
  status: 'completed',
  model: 'gpt-real',
  output: [
    {
      type: 'message',
      id: 'msg_1',
      role: 'assistant',
      status: 'completed',
      content: [{ type: 'output_text', text, annotations: [] }],
    },
  ],
  usage: counted,
  metadata: { usage: 'mine' },
});

const answering: Handler = (_request, reply) => reply.json(200, answerOf('four'));

async function startSetup(
  t: TestContext,
  handler: Handler,
  { model = {}, key = {} }: { readonly model?: object; readonly key?: object } = {},
): Promise<{ rig: Rig; up: FakeUpstream }> {
  const up = await startFakeUpstream(handler);
  t.after(() => up.close());
  const rig = await startRig(t, {
    upstreams: [{ id: 'up', family: 'openai', base_url: up.url, api_key: 'sk-upstream-credential' }],
    models: [
      {
        id: 'm',
        operations: ['responses', 'chat', 'speech'],
        price: { input: 2, cached_input: 1, output: 10 },
        targets: [{ upstream: 'up', model: 'gpt-real' }],
        ...model,
      },
    ],
    keys: [{ id: 'test', secret: testKey, ...key }],
  });
  return { rig, up };
}

const event = (type: string, more: object): string =>
  `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: 1, ...more })}\n\n`;

/** As the service streams it: the whole text once more at the end, in the event that has the count. */
const eventsOf = (text: string): string[] => [
  event('response.created', { response: { ...answerOf('', null), status: 'in_progress', output: [] } }),
  event('response.output_text.delta', { item_id: 'msg_1', output_index: 0, content_index: 0, delta: text.slice(0, 2) }),
  event('response.output_text.delta', { item_id: 'msg_1', output_index: 0, content_index: 0, delta: text.slice(2) }),
  event('response.completed', { response: answerOf(text) }),
];

test('the official library works, plain and streamed, and its usage is billed', async (t) => {
  const { rig, up } = await startSetup(t, (request, reply) =>
    request.body.includes('"stream":true')
      ? reply.bytes(200, [['content-type', 'text/event-stream']], eventsOf('four').join(''))
      : reply.json(200, answerOf('four')),
  );
  const client = new OpenAI({ baseURL: `${rig.url}/v1`, apiKey: testKey, maxRetries: 0 });
  const plain = await client.responses.create({ model: 'm', input: '2+2?', store: false });
  assert.equal(plain.output_text, 'four');
  let said = '';
  for await (const one of await client.responses.create({ model: 'm', input: '2+2?', stream: true })) {
    if (one.type === 'response.output_text.delta') said += one.delta;
  }
  assert.equal(said, 'four');
  assert.equal(up.requests[0]?.path, '/responses');
  for (const count of [1, 2]) {
    const { bill } = await rig.exchange(count);
    // 60 at 2, 40 at 1 and 10 at 10 dollars a million.
    assert.deepEqual(
      [bill?.inputTokens, bill?.cachedTokens, bill?.outputTokens, bill?.costNanos, bill?.isEstimated],
      [100, 40, 10, 260_000, false],
    );
  }
});

test('usage is found at the end of a stream, however long its last event and whatever its text', async (t) => {
  const lie = '{"usage":{"input_tokens":1,"output_tokens":1}}';
  for (const text of ['four', lie, `${lie}${'x'.repeat(60_000)}`, `${'"\\'.repeat(20_000)}${lie}`]) {
    const events = eventsOf(text).join('');
    const { rig } = await startSetup(t, (_request, reply) =>
      reply.bytes(200, [['content-type', 'text/event-stream']], events),
    );
    const response = await rig.post(path, { model: 'm', input: 'x', stream: true });
    assert.equal(response.body.toString(), events);
    const { bill } = await rig.exchange(1);
    assert.deepEqual([bill?.inputTokens, bill?.outputTokens, bill?.isEstimated], [100, 10, false]);
  }
});

test("a request that names responses, files or other objects stored in the operator's account is refused", async (t) => {
  const { rig, up } = await startSetup(t, answering);
  const rows: readonly [body: object | string, param: string][] = [
    [{ previous_response_id: 'resp_1' }, 'previous_response_id'],
    [{ conversation: 'conv_1' }, 'conversation'],
    [{ conversation: { id: 'conv_1' } }, 'conversation'],
    [{ prompt: { id: 'pmpt_1' } }, 'prompt'],
    [{ input: [{ role: 'user', content: [{ type: 'input_file', file_id: 'file-1' }] }] }, 'file_id'],
    [{ input: [{ role: 'user', content: [{ type: 'input_image', file_id: 'file-1' }] }] }, 'file_id'],
    [{ tools: [{ type: 'file_search', vector_store_ids: ['vs_1'] }] }, 'vector_store_ids'],
    [{ tools: [{ type: 'code_interpreter', container: 'cntr_1' }] }, 'container'],
    [{ tools: [{ type: 'code_interpreter', container: { type: 'auto', file_ids: ['file-1'] } }] }, 'file_ids'],
    [
      { tools: [{ type: 'shell', environment: { type: 'container_reference', container_id: 'cntr_1' } }] },
      'container_id',
    ],
    [
      { tools: [{ type: 'shell', environment: { type: 'container_auto', skills: [{ skill_id: 'skill_1' }] } }] },
      'skill_id',
    ],
    [{ tools: [{ type: 'collections_search', collection_ids: ['collection_1'] }] }, 'collection_ids'],
    [{ agent: { type: 'agent_reference', name: 'clerk' } }, 'agent_reference'],
    [{ input: [{ type: 'item_reference', id: 'msg_1' }] }, 'item_reference'],
    [{ input: [{ type: 'image_generation_call', id: 'ig_1' }] }, 'image_generation_call'],
    ['{"model":"m","input":[{"type":"item_reference","id":"msg_1","type":"message"}]}', 'item_reference'],
    ['{"model":"m","input":[{"content":[{"file_id":"file-1","file_id":{}}]}]}', 'file_id'],
    ['{"model":"m","input":[{"content":[{"type":"input_file","file\\u005fid":"file-1"}]}]}', 'file_id'],
  ];
  for (const [more, param] of rows) {
    const body = typeof more === 'string' ? more : { model: 'm', input: 'x', ...more };
    assertError(await rig.post(path, body), 'object_not_found', { param, of: JSON.stringify(more) });
  }
  const doubled = '{"model":"m","input":"x","previous\\u005fresponse_id":"resp_1"}';
  assertError(await rig.post(path, doubled), 'object_not_found', { param: 'previous_response_id' });
  const inChat = { model: 'm', messages: [{ role: 'user', content: [{ type: 'file', file: { file_id: 'file-1' } }] }] };
  assertError(await rig.post('/v1/chat/completions', inChat), 'object_not_found', { param: 'file_id' });
  const spoken = { model: 'm', messages: [{ role: 'assistant', audio: { id: 'audio_1' } }] };
  assertError(await rig.post('/v1/chat/completions', spoken), 'object_not_found', { param: 'audio' });
  const voice = { id: 'voice_1' };
  for (const [more, param] of [
    [{ audio: { format: 'mp3', voice } }, 'voice'],
    [{ data_sources: [{ type: 'azure_search', parameters: { index_name: 'theirs' } }] }, 'data_sources'],
    [{ dataSources: [{ type: 'AzureCognitiveSearch' }] }, 'datasources'],
    [{ extra_body: { google: { cached_content: 'cachedContents/1' } } }, 'cached_content'],
  ] as const) {
    const body = { model: 'm', messages: [], ...more };
    assertError(await rig.post('/v1/chat/completions', body), 'object_not_found', { param });
  }
  for (const part of [
    '{"type":"image_url","image_url":{"url":"gs://theirs/a.png"}}',
    '{"type":"image_url","image_url":"GS://theirs/a.png"}',
    '{"type":"image_url","image_url":{"url":"\\u0067s:\\/\\/theirs/a.png"}}',
    '{"type":"image_url","image_url":{"url":"gs\\u003a//theirs/a.png"}}',
  ]) {
    const seen = `{"model":"m","messages":[{"role":"user","content":[${part}]}]}`;
    assertError(await rig.post('/v1/chat/completions', seen), 'object_not_found', { param: 'image_url' });
  }
  const aloud = { model: 'm', input: 'x', voice };
  assertError(await rig.post('/v1/audio/speech', aloud), 'object_not_found', { param: 'voice' });
  assert.equal(up.requests.length, 0);
});

test('a long conversation with audio may request an audio answer', async (t) => {
  const { rig } = await startSetup(t, (_request, reply) => reply.json(200, { choices: [] }));
  const heard = { type: 'input_audio', input_audio: { data: 'A'.repeat(5 * 1024 ** 2), format: 'wav' } };
  const messages = [{ role: 'user', content: [heard] }];
  const body = { model: 'm', messages, audio: { voice: 'alloy', format: 'mp3' } };
  assert.equal((await rig.post('/v1/chat/completions', body)).status, 200);
  const spoken = { role: 'assistant', audio: { id: 'audio_1' } };
  assertError(
    await rig.post('/v1/chat/completions', { ...body, messages: [...messages, spoken] }),
    'object_not_found',
    { param: 'audio' },
  );
  const escaped = '{"model":"m","messages":[{"role":"assistant","aud\\u0069o":{"i\\u0064":"audio_1"}}]}';
  assertError(await rig.post('/v1/chat/completions', escaped), 'object_not_found', { param: 'audio' });
});

test('a file_id in annotations outside message content is looked up, and an unknown one refused', async (t) => {
  const { rig } = await startSetup(t, answering);
  const annotations = [{ type: 'file_citation', file_id: 'file-theirs' }];
  for (const more of [
    { annotations },
    { metadata: { annotations } },
    { input: [{ type: 'message', annotations, content: 'x' }] },
    { tools: [{ type: 'file_search', annotations }] },
  ]) {
    assertError(await rig.post(path, { model: 'm', input: 'x', ...more }), 'object_not_found', {
      param: 'file_id',
      of: JSON.stringify(more),
    });
  }
});

test('fields that only resemble references to stored objects pass: nulls, texts, schemas, tool arguments', async (t) => {
  const { rig } = await startSetup(t, answering);
  const parameters = { type: 'object', properties: { file_id: { type: 'string' }, container: { type: 'object' } } };
  for (const more of [
    { previous_response_id: null, conversation: null, prompt: null, background: false },
    { input: 'set "file_id": "x" and "container":"y"' },
    { input: [{ type: 'code_interpreter_call', container_id: 'cntr_1', code: '1' }] },
    { input: [{ type: 'message', content: [{ text: 'x', annotations: [{ type: 'file_citation', file_id: 'f' }] }] }] },
    { tools: [{ type: 'function', name: 'f', parameters }] },
    { input: 'item_reference' },
    { input: [{ type: 'image_generation_call', id: 'ig_1', result: 'aGVsbG8=' }] },
    { input: [{ type: 'function_call', call_id: 'c', name: 'f', arguments: '{"file_id":"x"}' }] },
    { tools: [{ type: 'code_interpreter', container: { type: 'auto' } }] },
  ]) {
    const response = await rig.post(path, { model: 'm', input: 'x', ...more });
    assert.equal(response.status, 200, JSON.stringify(more));
  }
});

test('under a budget, tools run by the upstream are refused, and output is bounded', async (t) => {
  const key = { budgets: [{ every: 'day', amount: '0.01' }] };
  const { rig } = await startSetup(t, answering, { key, model: { context: 1_000 } });
  const ask = (more: object) => rig.post(path, { model: 'm', input: 'x', max_output_tokens: 500, ...more });
  assert.equal((await ask({})).status, 200);
  assertError(await ask({ tools: [{ type: 'web_search' }] }), 'unsupported_parameter', { param: 'tools' });
  assertError(await ask({ max_output_tokens: 5_000 }), 'budget_exceeded');
});

test('input tokens are counted free of charge, by the official library at every base URL', async (t) => {
  const { rig, up } = await startSetup(t, (_request, reply) =>
    reply.json(200, { object: 'response.input_tokens', input_tokens: 11 }),
  );
  for (const base of ['/v1', '', '/openai/v1', '/ollama/v1']) {
    const client = new OpenAI({ baseURL: rig.url + base, apiKey: testKey, maxRetries: 0 });
    assert.equal((await client.responses.inputTokens.count({ model: 'm', input: 'two words' })).input_tokens, 11);
    const { path: asked, body } = await up.nextRequest();
    assert.deepEqual([asked, body.toString()], ['/responses/input_tokens', '{"model":"gpt-real","input":"two words"}']);
    const { bill, route } = await rig.exchange(rig.settled.length);
    assert.deepEqual([bill?.costNanos, route?.path], [0, '/v1/responses/input_tokens']);
  }
  assertError(await rig.post('/v1/responses/input_tokens', { model: 'm', input: 7 }), 'invalid_type', {
    param: 'input',
  });
  assertError(await rig.get('/v1/responses/input_tokens'), 'method_not_allowed');
});

test('compaction has its own path, and is billed by its usage', async (t) => {
  const compacted = {
    id: 'resp_2',
    object: 'response.compaction',
    created_at: 1_790_000_000,
    output: [{ id: 'cmp_1', type: 'compaction', encrypted_content: 'x' }],
    usage,
  };
  const { rig, up } = await startSetup(t, (_request, reply) => reply.json(200, compacted));
  const client = new OpenAI({ baseURL: `${rig.url}/v1`, apiKey: testKey, maxRetries: 0 });
  assert.equal((await client.responses.compact({ model: 'm', input: 'long' })).object, 'response.compaction');
  assert.equal((await up.nextRequest()).path, '/responses/compact');
  const { bill, usage: counted } = await rig.exchange();
  assert.deepEqual([counted?.promptTokens, counted?.completionTokens], [100, 10]);
  assert.equal(bill?.costNanos, 60 * 2_000 + 40 * 1_000 + 10 * 10_000);
  // What it names belongs to somebody.
  for (const tail of ['compact', 'input_tokens']) {
    const stolen = await rig.post(`/v1/responses/${tail}`, { model: 'm', previous_response_id: 'resp_of_others' });
    assertError(stolen, 'object_not_found', { param: 'previous_response_id' });
  }
  // An item that was made so can stand in the next turn.
  assert.equal((await rig.post(path, { model: 'm', input: compacted.output })).status, 200);
});

test('input_tokens and compact are refused for a model that does not serve responses', async (t) => {
  const { rig } = await startSetup(t, answering, { model: { operations: ['chat'] } });
  for (const tail of ['input_tokens', 'compact']) {
    assertError(await rig.post(`/v1/responses/${tail}`, { model: 'm', input: 'x' }), 'operation_not_supported', {
      param: 'model',
    });
  }
});
