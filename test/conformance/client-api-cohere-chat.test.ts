/** Cohere's chat over upstreams that are Cohere: bytes pass both ways, its own SDK works, and what is billed there is billed here. */

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { CohereClient, CohereClientV2 } from 'cohere-ai';
import { lastChunk, toChunk, toHead } from '../support/clients/http-message.ts';
import { assertRefusal } from '../support/gateways/client-apis.ts';
import { type Rig, startRig, testKey } from '../support/gateways/rig.ts';
import { type FakeUpstream, type Handler, startFakeUpstream } from '../support/upstreams/fake-upstream.ts';

const counts =
  '"billed_units":{"input_tokens":26,"output_tokens":290.0},"tokens":{"input_tokens":520,"output_tokens":301}';
const decoy = '{\\"usage\\":{\\"billed_units\\":{\\"input_tokens\\":7}}}';
const whole = {
  v2: `{"id":"c1","finish_reason":"COMPLETE","message":{"role":"assistant","content":[{"type":"text","text":"${decoy}"}]},"usage":{${counts},"cached_tokens":64}}`,
  v1: `{"response_id":"r1","text":"Hi","generation_id":"g","chat_history":[{"role":"USER","message":"${decoy}"}],"finish_reason":"COMPLETE","meta":{"api_version":{"version":"1"},${counts}}}`,
};
const event = (data: string): string => {
  const { type } = JSON.parse(data);
  return `event: ${type}\ndata: ${data}\n\n`;
};
const pieces = {
  v2: [
    '{"id":"c1","type":"message-start","delta":{"message":{"role":"assistant","content":[]}}}',
    '{"type":"content-start","index":0,"delta":{"message":{"content":{"type":"text","text":""}}}}',
    '{"type":"content-delta","index":0,"delta":{"message":{"content":{"text":"H\\u00e9"}}}}',
    '{"type":"content-end","index":0}',
    `{"type":"message-end","id":"c1","delta":{"finish_reason":"COMPLETE","usage":{${counts}}}}`,
  ].map(event),
  v1: [
    '{"is_finished":false,"event_type":"stream-start","generation_id":"g"}\n',
    '{"is_finished":false,"event_type":"text-generation","text":"H\\u00e9"}\n',
    `{"is_finished":true,"event_type":"stream-end","response":{"response_id":"r1","text":"Hé","generation_id":"g","chat_history":[{"role":"USER","message":"${decoy.repeat(500)}"}],"finish_reason":"COMPLETE","meta":{${counts}}},"finish_reason":"COMPLETE"}\n`,
  ],
};
const streamTypes = { v2: 'text/event-stream', v1: 'application/stream+json' };
type Version = keyof typeof whole;

const versionAt = (path: string): Version => (path === '/v2/chat' ? 'v2' : 'v1');
const answering: Handler = (request, reply) => {
  const version = versionAt(request.path);
  return /"stream": ?true/.test(request.body.toString())
    ? reply.bytes(200, [['content-type', streamTypes[version]]], pieces[version].join(''))
    : reply.bytes(200, [['content-type', 'application/json']], whole[version]);
};

async function startSetup(
  t: TestContext,
  script: Handler = answering,
  key: object = {},
): Promise<{ rig: Rig; up: FakeUpstream }> {
  const up = await startFakeUpstream(script);
  t.after(() => up.close());
  const serves = { operations: ['chat'], price: { input: 1, output: 10 }, max_output: 1_000, context: 8_192 };
  const cohere = { upstream: 'cohere', model: 'command-a' };
  const openai = { upstream: 'openai', model: 'real' };
  const secret = { api_key: 'sk-upstream-secret-0123456789' };
  const rig = await startRig(t, {
    upstreams: [
      { id: 'cohere', family: 'cohere', base_url: up.url, ...secret },
      { id: 'openai', family: 'openai', base_url: `${up.url}/other`, ...secret },
    ],
    models: [
      { id: 'm', ...serves, targets: [cohere] },
      { id: 'mixed', ...serves, targets: [openai, { ...cohere, priority: 1 }] },
      { id: 'foreign', ...serves, targets: [openai] },
    ],
    keys: [{ id: 'test', secret: testKey, ...key }],
  });
  return { rig, up };
}

const asked = {
  v2: '"messages":[{"role":"user","content":"\\u00e9"}],"documents":[{"id":"d","data":{"a":1.0}}]',
  v1: '"message":"\\u00e9","chat_history":[],"preamble":"p","conversation_id":"","connectors":null',
};
const paths: Readonly<Record<Version, readonly string[]>> = {
  v2: ['/v2/chat', '/v1/v2/chat', '/cohere/v2/chat'],
  v1: ['/v1/chat', '/v1/v1/chat', '/cohere/v1/chat'],
};
const versions = ['v2', 'v1'] as const;

test('both versions pass byte for byte with the model renamed, and billed units are recorded', async (t) => {
  const { rig, up } = await startSetup(t);
  for (const version of versions) {
    for (const path of paths[version]) {
      for (const [stream, expected] of [
        ['false', whole[version]],
        ['true', pieces[version].join('')],
      ] as const) {
        for (const model of ['m', 'mixed']) {
          const body = (name: string): string => `{ ${asked[version]},"model":"${name}" ,"k":1e1,"stream": ${stream}}`;
          const answer = await rig.post(path, body(model));
          assert.equal(answer.status, 200, answer.body.toString());
          assert.equal(answer.body.toString(), expected);
          const sent = await up.nextRequest();
          assert.deepEqual([sent.path, sent.body.toString()], [`/${version}/chat`, body('command-a')]);
          const { bill, usage } = await rig.exchange(rig.settled.length);
          assert.deepEqual([usage?.promptTokens, usage?.completionTokens], [26, 290], `${path} ${stream}`);
          assert.deepEqual([bill?.costNanos, bill?.isEstimated], [26 * 1_000 + 290 * 10_000, false]);
        }
      }
    }
  }
});

test("Cohere's own SDK chats, plain and streamed, in either version", async (t) => {
  const { rig } = await startSetup(t);
  for (const environment of [rig.url, `${rig.url}/v1`, `${rig.url}/cohere`]) {
    const v2 = new CohereClientV2({ environment, token: testKey });
    const messages = [{ role: 'user' as const, content: 'Hello' }];
    const plain = await v2.chat({ model: 'm', messages });
    assert.equal(plain.usage?.billedUnits?.inputTokens, 26);
    const types: string[] = [];
    for await (const one of await v2.chatStream({ model: 'm', messages })) types.push(one.type);
    assert.deepEqual(types, ['message-start', 'content-start', 'content-delta', 'content-end', 'message-end']);
    const v1 = new CohereClient({ environment, token: testKey });
    const first = await v1.chat({ model: 'm', message: 'Hello' });
    assert.deepEqual([first.text, first.meta?.billedUnits?.outputTokens], ['Hi', 290]);
    let text = '';
    for await (const one of await v1.chatStream({ model: 'm', message: 'Hello' })) {
      if (one.eventType === 'text-generation') text += one.text;
    }
    assert.equal(text, 'Hé');
  }
  assert.equal(rig.settled.length, 12);
  assert.ok(rig.settled.every(({ bill }) => bill?.inputTokens === 26 && bill.outputTokens === 290));
});

test("other upstreams, foreign conversations and invalid fields are refused by name, in Cohere's shape", async (t) => {
  const { rig, up } = await startSetup(t);
  for (const [path, body, status, expected] of [
    [
      '/v2/chat',
      { model: 'foreign', messages: [] },
      400,
      /has \/v2\/chat as Cohere does.*POST to \/v1\/chat\/completions/,
    ],
    ['/v1/chat', { model: 'foreign', message: 'a' }, 400, /has \/v1\/chat as Cohere does/],
    ['/v1/chat', { model: 'm', message: 'a', conversation_id: 'c' }, 404, /conversation_id/],
    ['/v1/chat', { model: 'm', message: 'a', connectors: [{ id: 'web-search' }] }, 404, /connectors/],
    ['/v1/chat', { model: 'm' }, 400, /"message" is missing/],
    ['/v2/chat', { model: 'm', messages: 'a' }, 400, /"messages" must be an array/],
    ['/v2/chat', { model: 'nobody', messages: [] }, 404, /nobody/],
    ['/v2/chat', { model: 'm', messages: [], fallbacks: ['other'] }, 400, /"fallbacks"/],
  ] as const) {
    const answer = await rig.post(path, body);
    const { message, id } = JSON.parse(answer.body.toString());
    assert.equal(answer.status, status, `${JSON.stringify(body)}: ${answer.body}`);
    assert.match(message, expected);
    assert.equal(typeof id, 'string');
  }
  assert.equal(up.requests.length, 0);
});

test("errors have the shape of Cohere's API", async (t) => {
  const { rig } = await startSetup(t, (_request, reply) => reply.json(404, { message: 'model not found', id: 'x' }));
  for (const version of versions) {
    const answer = await rig.post(`/${version}/chat`, `{"model":"m",${asked[version]}}`);
    const { id } = JSON.parse(answer.body.toString());
    assertRefusal(answer, 404, { message: 'model not found', id });
  }
});

test('the output is bounded by max_tokens, else by the model', async (t) => {
  const { rig } = await startSetup(t, answering, { budgets: [{ every: 'day', amount: '0.009' }] });
  for (const version of versions) {
    const ask = (more: string) => rig.post(`/${version}/chat`, `{"model":"m",${asked[version]}${more}}`);
    for (const more of ['', ',"max_tokens":null', ',"max_tokens":1000000000'])
      assert.equal((await ask(more)).status, 429);
    assert.equal((await ask(',"max_tokens":400')).status, 200);
  }
});

test('a stream truncated at any byte is visibly broken for the client', async (t) => {
  for (const version of versions) {
    const bytes = Buffer.concat([
      toHead('HTTP/1.1 200 OK', [
        ['Content-Type', streamTypes[version]],
        ['Transfer-Encoding', 'chunked'],
      ]),
      ...pieces[version].map((piece) => toChunk(Buffer.from(piece))),
      lastChunk,
    ]);
    let stop = 0;
    const { rig } = await startSetup(t, async (_request, reply) => {
      if (stop > 0) await reply.raw(bytes.subarray(0, stop));
      reply.cut();
    });
    for (stop = 0; stop <= bytes.length; stop += stop > bytes.length - 8 ? 1 : Math.max(97, bytes.length >> 6)) {
      const answer = await rig.post(`/${version}/chat`, `{"model":"m",${asked[version]},"stream":true}`);
      const { outcome } = await rig.exchange(rig.settled.length);
      if (answer.status !== 200) {
        assert.deepEqual([answer.status, outcome], [502, 'error'], `${stop}`);
        continue;
      }
      const isWhole = stop === bytes.length;
      assert.deepEqual([answer.complete, outcome], [isWhole, isWhole ? 'ok' : 'cut'], `${stop}`);
      assert.ok(pieces[version].join('').startsWith(answer.body.toString()));
    }
  }
});
