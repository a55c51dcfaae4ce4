/** What the log of a gateway never holds: keys, credentials, what clients wrote, and what upstreams said. */

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { maskOf } from '../../src/lib/secrets/secret-shapes.ts';
import type { HeaderField } from '../support/clients/http-message.ts';
import { request, send } from '../support/clients/raw-client.ts';
import { connect } from '../support/clients/raw-connection.ts';
import { readMetrics } from '../support/gateways/admin-listener.ts';
import { launcher, startGatewayProcess } from '../support/gateways/gateway-process.ts';
import { patiently } from '../support/time/patience.ts';
import { until } from '../support/time/until.ts';
import { startFakeUpstream } from '../support/upstreams/fake-upstream.ts';

/** Each is in one location only, so that a hit shows where it came from. */
const canaries = {
  clientKey: 'canary-client-key-0123456789',
  unknownKey: 'canary-unknown-key-0123456789',
  garbledKey: 'pst_canary0garbled0key0123456789',
  upstreamKey: 'canary-upstream-key-0123456789',
  staticHeader: 'canary-static-header-0123456789',
  environment: 'canary-environment-0123456789',
  body: 'canary-body-text',
  bodyField: 'canary-body-field',
  query: 'canary-query-string',
  header: 'canary-header-value',
  headerName: 'canary-header-name',
  forwarded: 'canary-forwarded-value',
  cookie: 'canary-cookie',
  oddPath: 'canary-odd-path',
  pathModel: 'canary-path-model',
  bodyModel: 'canary-body-model',
  answer: 'canary-answer-text',
  answerHeader: 'canary-answer-header',
  upstreamError: 'canary-upstream-error',
  notHttp: 'canary-not-http',
  malformed: 'canary-malformed',
  address: '203.0.113.77',
} as const;

test('in success and failure the log contains no secret and no text of clients and upstreams', async (t) => {
  const upstream = await startFakeUpstream(async (entry, reply) => {
    const canaryHeaders = [['X-Told', canaries.answerHeader]] as const;
    const text = entry.body.toString();
    if (text.includes('refuse')) return reply.json(400, { error: { message: canaries.upstreamError } }, canaryHeaders);
    if (text.includes('leak'))
      return reply.json(401, { error: { message: `bad key ${canaries.upstreamKey}` } }, canaryHeaders);
    if (text.includes('babble')) return reply.raw(`${canaries.notHttp}\r\n\r\n`);
    if (text.includes('badhead')) return reply.raw(`HTTP/1.1 200 OK\r\n${canaries.notHttp} : x\r\n\r\n`);
    if (text.includes('redirect')) return reply.bytes(302, [['location', `http://x/${canaries.upstreamError}`]], '');
    if (text.includes('cut')) {
      await reply.raw(`HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"text":"${canaries.answer}`);
      return reply.cut();
    }
    if (text.includes('silent')) return reply.stall();
    const data = [{ index: 0, embedding: [1], text: canaries.answer }];
    return reply.json(200, { data, usage: { prompt_tokens: 7, total_tokens: 7 } }, canaryHeaders);
  });
  t.after(() => upstream.close());
  const gateway = await startGatewayProcess({
    env: { UPSTREAM_KEY: canaries.upstreamKey, UNUSED_SECRET: canaries.environment },
    config: {
      server: {
        timeouts: { request: patiently(500), headers: patiently(500) },
        trusted_proxies: ['127.0.0.1'],
        body_limit: '64KiB',
      },
      upstreams: [
        {
          id: 'up',
          family: 'openai',
          base_url: upstream.url,
          // biome-ignore lint/suspicious/noTemplateCurlyInString: the configuration's own spelling
          api_key: '${UPSTREAM_KEY}',
          headers: { 'x-team-token': canaries.staticHeader },
          forward_headers: ['x-mine'],
          timeouts: { first_byte: patiently(300) },
        },
        { id: 'down', family: 'openai', base_url: 'http://127.0.0.1:1', api_key: canaries.upstreamKey },
      ],
      models: [
        { id: 'm', operations: ['embeddings', 'completions'], targets: [{ upstream: 'up' }] },
        { id: 'down', operations: ['embeddings'], targets: [{ upstream: 'down' }] },
      ],
      keys: [{ id: 'test', secret: canaries.clientKey }],
    },
  });
  t.after(() => gateway.stop());

  const headers = (key: string = canaries.clientKey): HeaderField[] => [
    ['Authorization', `Bearer ${key}`],
    ['X-Mine', canaries.forwarded],
    ['X-Other', canaries.header],
    [`X-${canaries.headerName}`, '1'],
    ['Cookie', `session=${canaries.cookie}`],
    ['X-Forwarded-For', canaries.address],
    ['User-Agent', canaries.header],
    ['Referer', `http://x/${canaries.header}`],
    ['traceparent', canaries.forwarded],
    ['X-Request-Id', `not fit: ${canaries.header}`],
  ];
  let asked = 0;
  const ask = async (path: string, body: unknown, key?: string): Promise<number> => {
    asked += 1;
    const all = { port: gateway.port, path: `${path}?q=${canaries.query}`, headers: headers(key), body };
    return (await request(all)).status;
  };
  const fields = (more: string): Record<string, unknown> => ({
    model: 'm',
    input: `${canaries.body} ${more}`,
    prompt: canaries.body,
    [canaries.bodyField]: canaries.body,
  });

  assert.equal(await ask('/v1/embeddings', fields('fine')), 200);
  assert.equal(await ask('/v1/engines/m/embeddings', fields('fine')), 200);
  assert.equal(await ask('/v1/embeddings', fields('refuse')), 400);
  for (const wrong of ['leak', 'babble', 'badhead', 'redirect'])
    assert.equal(await ask('/v1/embeddings', fields(wrong)), 502);
  assert.equal(await ask('/v1/embeddings', fields('silent')), 504);
  assert.equal(await ask('/v1/embeddings', fields('cut')), 200);
  assert.equal(await ask('/v1/embeddings', { ...fields(''), model: 'down' }), 502);
  assert.equal(await ask('/v1/embeddings', { ...fields(''), model: canaries.bodyModel }), 404);
  assert.equal(await ask('/v1/embeddings', { ...fields(''), model: { [canaries.bodyModel]: 1 } }), 400);
  assert.equal(await ask('/v1/embeddings', { ...fields(''), input: 7 }), 400);
  assert.equal(await ask('/v1/embeddings', `{"${canaries.body}": ${canaries.body}`), 400);
  assert.equal(await ask('/v1/embeddings', canaries.body.repeat(10_000)), 413);
  assert.equal(await ask('/v1/embeddings', fields(''), canaries.unknownKey), 401);
  assert.equal(await ask('/v1/embeddings', fields(''), canaries.garbledKey), 401);
  assert.equal(await ask(`/v1/engines/${canaries.pathModel}/embeddings`, fields('')), 404);
  assert.equal(await ask(`/v1/${canaries.oddPath}`, fields('')), 404);
  assert.equal(await ask(`/v1/models/${canaries.pathModel}`, fields('')), 405);

  // What never becomes a request is not logged at all.
  await send(gateway.port, `${canaries.malformed}\r\n\r\n`);
  await send(gateway.port, `POST /${canaries.malformed} HTTP/1.1\r\nX Y: ${canaries.malformed}\r\n\r\n`);
  const half = `POST /v1/embeddings HTTP/1.1\r\nHost: x\r\nx-api-key: ${canaries.clientKey}\r\nContent-Length: 99\r\n\r\n${canaries.body}`;
  asked += 2;
  const leaving = await connect(gateway.port);
  await leaving.write(half);
  // A reset takes with it what was not read.
  await until(async () => ((await readMetrics(gateway)).sum('postern_requests_in_flight') ?? 0) >= 1);
  leaving.reset();
  assert.equal((await send(gateway.port, half)).status, 408);

  await gateway.stop();
  const lines = gateway.log().filter(({ msg }) => msg === 'request');
  assert.equal(lines.length, asked);
  assert.ok(lines.some(({ status, total_tokens }) => status === 200 && total_tokens === 7));
  assert.ok(lines.some(({ cut }) => cut === true));
  const said = (gateway.stdout() + gateway.stderr()).toLowerCase();
  for (const [source, canary] of Object.entries(canaries)) {
    assert.ok(!said.includes(canary.toLowerCase()), `${source} is in the log: ${excerptAround(said, canary)}`);
  }
});

function excerptAround(text: string, canary: string): string {
  const at = text.indexOf(canary.toLowerCase());
  return text.slice(Math.max(0, at - 300), at + 100);
}

test("a service's secret in an ID is masked in log, headers, errors, metrics and commands, with a warning", async (t) => {
  const random = 'aB3dE5fG7hJ9kL2mN4pQ6rS8tU0vW1xY';
  const named = {
    upstream: `sk-proj-${random}`,
    down: `gsk_${random}`,
    model: `xai-${random}`,
    realModel: `hf_${random}`,
    project: `jina_${random}`,
    key: `pa-${random}`,
  };
  const upstream = await startFakeUpstream((_, reply) =>
    reply.json(200, { data: [{ index: 0, embedding: [1] }], usage: { prompt_tokens: 7, total_tokens: 7 } }),
  );
  t.after(() => upstream.close());
  const gateway = await startGatewayProcess({
    config: {
      metrics: { keys: [named.key], projects: [named.project] },
      upstreams: [
        { id: named.upstream, family: 'openai', base_url: upstream.url, api_key: 'upstream-key-0123456789' },
        { id: named.down, family: 'openai', base_url: 'http://127.0.0.1:1', api_key: 'upstream-key-0123456789' },
      ],
      projects: [{ id: named.project }],
      models: [
        {
          id: named.model,
          operations: ['embeddings'],
          targets: [{ upstream: named.upstream, model: named.realModel }],
        },
        { id: 'down', operations: ['embeddings'], targets: [{ upstream: named.down, model: named.realModel }] },
      ],
      keys: [{ id: named.key, secret: canaries.clientKey, project: named.project }],
    },
  });
  t.after(() => gateway.stop());

  const answers = [named.model, 'down', `sk-none-${random}`].map((model) =>
    request({
      port: gateway.port,
      path: '/v1/embeddings',
      headers: [['Authorization', `Bearer ${canaries.clientKey}`]],
      body: { model, input: 'x' },
    }),
  );
  const [fine, down, unknown] = await Promise.all(answers);
  assert.deepEqual([fine?.status, down?.status, unknown?.status], [200, 502, 404]);
  assert.equal(fine?.header('x-postern-upstream'), maskOf(named.upstream));
  assert.equal(down?.header('x-postern-upstream'), maskOf(named.down));
  assert.equal(upstream.requests[0]?.body.toString().includes(named.realModel), true);
  const metrics = await (
    await fetch(`${gateway.log().find(({ msg }) => msg === 'listening')?.console}/metrics`)
  ).text();
  const checked = await promisify(execFile)(launcher, ['check', '--config', gateway.configFile], {
    cwd: gateway.directory,
  });

  await gateway.stop();
  const line = gateway.log().find(({ msg, status }) => msg === 'request' && status === 200);
  assert.deepEqual([line?.upstream, line?.model, line?.key], [named.upstream, named.model, named.key].map(maskOf));
  const shown = {
    log: gateway.stdout() + gateway.stderr(),
    answers: [fine, down, unknown].map((answer) => JSON.stringify(answer?.headers) + answer?.body.toString()).join(),
    metrics,
    check: checked.stdout + checked.stderr,
  };
  for (const [source, text] of Object.entries(shown)) {
    assert.ok(
      !text.includes(random),
      `${source}: ${text.slice(Math.max(0, text.indexOf(random) - 300), text.indexOf(random) + 50)}`,
    );
  }
  for (const secret of Object.values(named)) {
    assert.ok(shown.check.replace(/\s+/g, ' ').includes(`it is shown as ${maskOf(secret)}`), secret);
    assert.ok(shown.log.includes(`it is shown as ${maskOf(secret)}`), secret);
  }
  for (const secret of [named.upstream, named.model]) assert.ok(metrics.includes(`="${maskOf(secret)}"`), secret);
});
