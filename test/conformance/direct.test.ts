/** Plain requests take the direct path: clients, upstreams and the ledger see what they see where the pipeline serves all of it. */

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { Exchange } from '../../src/core/exchange.ts';
import { LineBytes } from '../../src/lib/line-bytes.ts';
import { AccessLines } from '../../src/telemetry/access-line.ts';
import { assertError } from '../support/clients/error-answer.ts';
import { type Rig, startRig } from '../support/gateways/rig.ts';
import { refusingWith } from '../support/gateways/several.ts';
import { type Handler, startFakeUpstream, type UpstreamRequest } from '../support/upstreams/fake-upstream.ts';
import { embeds, json, ranks } from '../support/upstreams/list-service.ts';

const usage = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 };
const completion = JSON.stringify({ id: 'c', choices: [{ index: 0, text: 'words' }], usage });
const completes: Handler = (_request, reply) => reply.bytes(200, json, completion);
const chunked: Handler = async (_request, reply) => {
  await reply.head(200, [
    ['content-type', 'application/json'],
    ['transfer-encoding', 'chunked'],
  ]);
  await reply.raw('5\r\n{"a":\r\n');
  await reply.sleep(5);
  await reply.raw('2\r\n1}\r\n');
  await reply.lastChunk();
};
const once = (first: Handler, then: Handler): Handler => {
  let isFirst = true;
  return (request, reply) => {
    const handler = isFirst ? first : then;
    isFirst = false;
    return handler(request, reply);
  };
};
const long = `{"data":[{"embedding":[${Array.from({ length: 40_000 }, (_, n) => `0.${n}`).join(',')}]}],"usage":{"prompt_tokens":7,"total_tokens":7}}`;

interface Scene {
  readonly path?: string;
  readonly body: object | string;
  /** Each made anew, as it may remember what it has seen. */
  readonly upstream: () => Handler;
  readonly model?: object;
  readonly key?: object;
  readonly headers?: readonly [string, string][];
}

const streams: Handler = (_request, reply) =>
  reply.sse([{ choices: [{ index: 0, text: 'a' }] }, { choices: [], usage }, '[DONE]'], { everyMs: 2 });
const chat = { model: 'm', messages: [{ role: 'user', content: 'x' }] };
const embedding = { model: 'm', input: ['a', 'b'] };
const scenes: Readonly<Record<string, Scene>> = {
  embeddings: { body: embedding, upstream: () => embeds },
  'one text on /v1/engines': { path: '/v1/engines/m/embeddings', body: { input: 'a' }, upstream: () => embeds },
  rerank: { path: '/v1/rerank', body: { model: 'm', query: 'q', documents: ['a', 'bb'] }, upstream: () => ranks },
  completions: { path: '/v1/completions', body: { model: 'm', prompt: 'x' }, upstream: () => completes },
  'a stream with include_usage': {
    path: '/v1/completions',
    body: { model: 'm', prompt: 'x', stream: true, stream_options: { include_usage: true } },
    upstream: () => streams,
  },
  'a stream without include_usage': {
    path: '/v1/completions',
    body: { model: 'm', prompt: 'x', stream: true },
    upstream: () => streams,
  },
  chat: {
    path: '/v1/chat/completions',
    body: chat,
    upstream: () => (_request, reply) => reply.json(200, { choices: [], usage }),
  },
  'a chat stream': {
    path: '/v1/chat/completions',
    body: { ...chat, stream: true, stream_options: { include_usage: true } },
    upstream: () => streams,
  },
  'chat about a file': {
    path: '/v1/chat/completions',
    body: { model: 'm', messages: [{ role: 'user', content: [{ type: 'file', file: { file_id: 'file-1' } }] }] },
    upstream: () => completes,
  },
  'a model alias': {
    body: { model: 'alias', input: 'x' },
    upstream: () => embeds,
    model: { aliases: ['alias'] },
  },
  'a chunked response': { path: '/v1/completions', body: { model: 'm', prompt: 'x' }, upstream: () => chunked },
  'a long response': {
    body: { model: 'm', input: 'x' },
    upstream: () => (_request, reply) => reply.bytes(200, json, long),
  },
  'too few results': { body: embedding, upstream: () => (_request, reply) => reply.bytes(200, json, '{"data":[]}') },
  'a response that is no JSON': {
    body: embedding,
    upstream: () => (_request, reply) => reply.bytes(200, json, 'oops'),
  },
  "an upstream's 400": { body: embedding, upstream: () => refusingWith(400) },
  "an upstream's 503 that is retried": { body: embedding, upstream: () => once(refusingWith(503), embeds) },
  "an upstream's 500": { body: embedding, upstream: () => refusingWith(500) },
  'a connection reset by the upstream': { body: embedding, upstream: () => (_request, reply) => reply.reset() },
  "a response that contains the upstream's credential": {
    body: embedding,
    upstream: () => (_request, reply) => reply.bytes(200, json, '{"data":[1,2],"key":"sk-credential-of-up"}'),
  },
  'limits, a budget and a price': {
    body: embedding,
    upstream: () => embeds,
    model: { price: { input: 1_000 } },
    key: { limits: { requests_per_minute: 10 }, budgets: [{ every: 'day', amount: '5' }] },
  },
  'a budget that is too small': {
    body: embedding,
    upstream: () => embeds,
    model: { price: { input: 100_000 } },
    key: { budgets: [{ every: 'day', amount: '0.01' }] },
  },
  'a body that is no JSON': { body: '{"model":"m","input":', upstream: () => embeds },
  'an unknown model': { body: { model: 'other', input: 'x' }, upstream: () => embeds },
  'dimensions that the model does not have': {
    body: { model: 'm', input: 'x', dimensions: 2 },
    upstream: () => embeds,
    model: { dimensions: 3 },
  },
  'a key with capture': { body: embedding, upstream: () => embeds, key: { capture: '1h' } },
  'an unknown key': { body: embedding, upstream: () => embeds, headers: [['authorization', 'Bearer nobody']] },
  'forwarded headers': {
    body: embedding,
    upstream: () => embeds,
    headers: [
      ['authorization', 'Bearer test-key-with-enough-characters'],
      ['content-type', 'application/json; charset=utf-8'],
      ['idempotency-key', 'once'],
      ['x-request-id', 'the-clients-own'],
    ],
  },
};

async function start(t: TestContext, { upstream, model, key }: Scene, isDirect: boolean) {
  const service = await startFakeUpstream(upstream());
  t.after(() => service.close());
  const document = {
    upstreams: [{ id: 'up', family: 'openai', base_url: service.url, api_key: 'sk-credential-of-up' }],
    models: [
      { id: 'm', operations: ['embeddings', 'rerank', 'completions', 'chat'], targets: [{ upstream: 'up' }], ...model },
    ],
    keys: [{ id: 'test', secret: 'test-key-with-enough-characters', ...key }],
  };
  return { rig: await startRig(t, document, {}, { isDirect }), service };
}

/** What is another one each time, and times. */
const own =
  /\b[0-9a-f]{32}\b|(?:start|duration|connect|first_byte|upstream)_ms\W+[\d.]+|\b\d+(?:\.\d+)?(?:ms|s)\b|127\.0\.0\.1:\d+|x-postern-loop","[\w-]+/g;
const lasting = (value: unknown): string => (JSON.stringify(value) ?? '').replaceAll(own, '*');

const lines = new AccessLines(undefined);

function accountOf(exchange: Exchange): unknown {
  const { outcome, bill, usage, written, attempts, status, errorCode, cut, requestBytes, responseBytes } = exchange;
  const tries = exchange.tries.map((one) => ({ ...one, startMs: 0, durationMs: 0, connectMs: 0 }));
  const seen = [
    exchange.target?.model,
    exchange.credential?.id,
    exchange.shape,
    exchange.estimate,
    exchange.captured?.requestBytes,
  ];
  const bytes = new LineBytes(1_024);
  lines.write(bytes, exchange, 'POST', '', performance.now());
  const line = bytes.take().toString();
  return [
    outcome,
    bill,
    usage,
    written,
    attempts,
    status,
    errorCode,
    cut,
    requestBytes,
    responseBytes,
    tries,
    seen,
    line,
  ];
}

const sent = ({ method, path, headers, body }: UpstreamRequest): unknown => [method, path, headers, body.toString()];

async function play(rig: Rig, scene: Scene) {
  const { path = '/v1/embeddings', body, headers } = scene;
  const answer = await rig.post(path, body, headers === undefined ? {} : { headers });
  // A budget's Retry-After counts the seconds of the day that are left, which the two calls may see differ by one.
  const headersOf = answer.headers.filter(([name]) => !/^(?:date|server-timing|retry-after)$/i.test(name));
  return {
    answer: lasting([answer.status, headersOf, answer.header('retry-after') !== undefined, answer.body.toString()]),
    account: lasting(accountOf(await rig.exchange())),
  };
}

for (const [name, scene] of Object.entries(scenes)) {
  test(`${name}: the fast (direct) path and the general path give the same response and record`, async (t) => {
    const direct = await start(t, scene, true);
    const general = await start(t, scene, false);
    assert.deepEqual(await play(direct.rig, scene), await play(general.rig, scene));
    assert.equal(lasting(direct.service.requests.map(sent)), lasting(general.service.requests.map(sent)));
  });
}

test('a request refused for a duplicate model field frees its upstream slot', async (t) => {
  const service = await startFakeUpstream((_request, reply) => reply.bytes(200, json, '{"results":[{}]}'));
  t.after(() => service.close());
  const rig = await startRig(t, {
    upstreams: [
      { id: 'up', family: 'openai', base_url: service.url, api_key: 'sk', limits: { concurrency: 1, queue: 0 } },
    ],
    models: [{ id: 'm', operations: ['moderations'], targets: [{ upstream: 'up' }] }],
    default_model: { moderations: 'm' },
  });
  for (let round = 0; round < 2; round += 1) {
    const refused = await rig.post('/v1/moderations', '{"Model":"m","input":"x"}');
    assertError(refused, 'duplicate_parameter', { param: 'model' });
  }
  assert.equal((await rig.post('/v1/moderations', '{"input":"x"}')).status, 200);
});
