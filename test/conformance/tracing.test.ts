/** The trace of a request: a span for it, one for each call, and the headers that upstreams receive. */

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { resourceFromAttributes } from '@opentelemetry/resources';
import type { ReadableSpan } from '@opentelemetry/sdk-trace';
import { createTracer } from '../../src/telemetry/otel/tracer.ts';
import { startRig, testKey } from '../support/gateways/rig.ts';
import { type Script, startFakeUpstream } from '../support/upstreams/fake-upstream.ts';

const teller = { resource: resourceFromAttributes({}), instrumentationScope: { name: 'postern' } };
const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
const clientSpanId = '00f067aa0ba902b7';
const parent = (flags: string): [string, string] => ['traceparent', `00-${traceId}-${clientSpanId}-${flags}`];
const answer = { object: 'list', data: [{}], model: 'x', usage: { prompt_tokens: 3, total_tokens: 3 } };

async function start(t: TestContext, scripts: readonly Script[], more: Readonly<Record<string, unknown>> = {}) {
  const upstreams = await Promise.all(scripts.map((script) => startFakeUpstream(script)));
  t.after(() => Promise.all(upstreams.map((upstream) => upstream.close())));
  const spans: ReadableSpan[] = [];
  const rig = await startRig(
    t,
    {
      upstreams: upstreams.map(({ url }, index) => ({
        id: `up-${index}`,
        family: 'openai',
        base_url: url,
        api_key: 'sk-up',
      })),
      models: [
        {
          id: 'm',
          operations: ['embeddings'],
          price: { input: 1 },
          space: 'one',
          targets: upstreams.map((_, index) => ({ upstream: `up-${index}`, model: `m-${index}`, priority: index })),
        },
      ],
      otel: { sample: 1 },
      ...more,
    },
    {},
    { tracer: createTracer({ teller, sample: 1, random: Math.random, emit: (span) => spans.push(span) }) },
  );
  return {
    rig,
    spans,
    upstreams,
    async embed(headers: readonly [string, string][] = [], input = 'a secret text') {
      const got = await rig.post('/v1/embeddings', { model: 'm', input }, { headers: [...auth, ...headers] });
      await rig.exchange();
      return got;
    },
    /** What the n-th request to an upstream said of the trace. */
    received: (upstream: number, name: string, request = 0) => upstreams[upstream]?.requests[request]?.header(name),
  };
}

const auth: readonly [string, string][] = [
  ['authorization', `Bearer ${testKey}`],
  ['content-type', 'application/json'],
];
const ok: Script = (_request, reply) => reply.json(200, answer);
const broken: Script = (_request, reply) => reply.json(503, { error: {} });

test('a request has a span with a child per call, which the upstream receives as parent', async (t) => {
  const { embed, spans, received } = await start(t, [ok]);
  await embed();
  const [server, client] = spans;
  assert.ok(server && client && spans.length === 2);
  assert.deepEqual(
    [server.name, server.kind, client.name, client.kind],
    ['POST /v1/embeddings', 1, 'embeddings m-0', 2],
  );
  assert.equal(server.parentSpanContext, undefined);
  assert.equal(client.parentSpanContext?.spanId, server.spanContext().spanId);
  assert.equal(client.spanContext().traceId, server.spanContext().traceId);
  assert.equal(received(0, 'traceparent'), `00-${server.spanContext().traceId}-${client.spanContext().spanId}-01`);
  const { 'postern.request.id': id, ...attributes } = server.attributes;
  assert.equal(typeof id, 'string');
  assert.deepEqual(attributes, {
    'http.request.method': 'POST',
    'http.route': '/v1/embeddings',
    'http.response.status_code': 200,
    'gen_ai.operation.name': 'embeddings',
    'gen_ai.provider.name': 'openai',
    'gen_ai.request.model': 'm',
    'gen_ai.response.model': 'm-0',
    'gen_ai.usage.input_tokens': 3,
    'postern.attempts': 1,
    'postern.upstream': 'up-0',
    'postern.key': 'test',
    'postern.cost_usd': 0.000003,
  });
  assert.equal(client.attributes['server.address'], '127.0.0.1');
  assert.equal(client.attributes['http.response.status_code'], 200);
  assert.ok(toMs(server.startTime) <= toMs(client.startTime) && toMs(client.endTime) <= toMs(server.endTime));
});

test('no span contains bodies, headers or queries', async (t) => {
  const { rig, spans } = await start(t, [ok]);
  const headers = [...auth, ['x-custom', 'header-canary'] as const].map(([name, value]): [string, string] => [
    name,
    value,
  ]);
  await rig.post('/v1/embeddings?query=query-canary', { model: 'm', input: 'text-canary' }, { headers });
  await rig.exchange();
  const exported = JSON.stringify(
    spans.map(({ name, attributes, links, status }) => [name, attributes, links, status]),
  );
  for (const canary of ['canary', testKey, 'sk-up']) assert.equal(exported.includes(canary), false, canary);
});

test("the client's trace is continued with its tracestate and parent span", async (t) => {
  const { embed, spans, received } = await start(t, [ok]);
  await embed([parent('01'), ['tracestate', 'vendor=1']]);
  const [server, client] = spans;
  assert.equal(server?.spanContext().traceId, traceId);
  assert.equal(server?.parentSpanContext?.spanId, clientSpanId);
  assert.equal(received(0, 'traceparent'), `00-${traceId}-${client?.spanContext().spanId}-01`);
  assert.equal(received(0, 'tracestate'), 'vendor=1');
});

test('an unsampled client trace is not exported, and the upstream receives the flag', async (t) => {
  const { embed, spans, received } = await start(t, [ok]);
  await embed([parent('00')]);
  assert.deepEqual(spans, []);
  assert.match(String(received(0, 'traceparent')), new RegExp(`^00-${traceId}-(?!${clientSpanId})[0-9a-f]{16}-00$`));
});

test('an invalid traceparent starts a new trace, and drops its tracestate', async (t) => {
  const { embed, spans, received } = await start(t, [ok]);
  await embed([
    ['traceparent', 'nonsense'],
    ['tracestate', 'vendor=1'],
  ]);
  assert.equal(
    received(0, 'traceparent'),
    `00-${spans[0]?.spanContext().traceId}-${spans[1]?.spanContext().spanId}-01`,
  );
  assert.equal(received(0, 'tracestate'), undefined);
});

test('every call has a span with its outcome, and later ones are linked to the first', async (t) => {
  const { embed, spans, received } = await start(t, [broken, ok]);
  assert.equal((await embed()).status, 200);
  const [server, first, second] = spans;
  assert.ok(server && first && second && spans.length === 3);
  assert.deepEqual(
    [first, second].map(({ attributes, status }) => [
      attributes['postern.upstream'],
      attributes['postern.outcome'],
      attributes['http.response.status_code'],
      attributes['error.type'],
      status.code,
    ]),
    [
      ['up-0', 'failed', 503, '503', 2],
      ['up-1', 'answered', 200, undefined, 0],
    ],
  );
  assert.deepEqual(
    [first.links, second.links.map(({ context }) => context.spanId)],
    [[], [first.spanContext().spanId]],
  );
  assert.equal(server.attributes['postern.attempts'], 2);
  assert.notEqual(received(0, 'traceparent'), received(1, 'traceparent'));
});

test('an error has its code, and a request without a call has no call span', async (t) => {
  const { embed, spans, rig } = await start(t, [broken]);
  await embed();
  assert.deepEqual([spans[0]?.attributes['error.type'], spans[0]?.status.code], ['503', 2]);
  spans.length = 0;
  await rig.post('/v1/embeddings', { model: 'nowhere', input: 'x' });
  await rig.exchange(2);
  assert.equal(spans.length, 1);
  assert.deepEqual(
    [spans[0]?.attributes['error.type'], spans[0]?.attributes['http.response.status_code'], spans[0]?.status.code],
    ['model_not_found', 404, 0],
  );
});

test('a call that the upstream refused is an error of the call alone', async (t) => {
  const refusing: Script = (_request, reply) => reply.json(400, { error: {} });
  const { embed, spans } = await start(t, [refusing]);
  assert.equal((await embed()).status, 400);
  assert.deepEqual(
    spans.map(({ attributes, status }) => [attributes['error.type'], status.code]),
    [
      ['400', 0],
      ['400', 2],
    ],
  );
});

test('keys listed in otel.keys are traced beyond the sample share if the client sends a trace', async (t) => {
  const { embed, spans } = await start(t, [ok], { otel: { sample: 0, keys: ['test'] } });
  await embed();
  assert.deepEqual(spans, []);
  await embed([parent('01')]);
  assert.equal(spans.length, 2);
});

const toMs = ([seconds, nanos]: readonly [number, number]): number => seconds * 1000 + nanos / 1e6;
