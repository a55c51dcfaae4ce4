/** What the metrics say of requests: every label is the operator's or ours, and what was counted stays counted. */

import assert from 'node:assert/strict';
import { Agent, request as httpRequest } from 'node:http';
import { type TestContext, test } from 'node:test';
import type { Bill } from '../../src/core/accounting/price.ts';
import { Exchange } from '../../src/core/exchange.ts';
import { routes } from '../../src/routes/index.ts';
import { createMetrics, type Metrics } from '../../src/telemetry/metrics/metrics.ts';
import { type Exposition, parseExposition, toExposition } from '../support/clients/exposition.ts';
import { type Rig, type RigDocument, startRig, testKey } from '../support/gateways/rig.ts';
import { type FakeUpstream, type Handler, startFakeUpstream } from '../support/upstreams/fake-upstream.ts';

interface Measured {
  readonly rig: Rig;
  readonly metrics: Metrics;
  readonly upstream: FakeUpstream;
  document(models?: readonly string[]): RigDocument;
  read(): Exposition;
}

const billed: Bill = {
  inputTokens: 12,
  cachedTokens: 4,
  outputTokens: 3,
  searchUnits: 1,
  items: 2,
  images: 0,
  isEstimated: true,
  costNanos: 1_500,
};

async function start(t: TestContext, script: Handler, bill: (exchange: Exchange) => Bill | null): Promise<Measured> {
  const upstream = await startFakeUpstream(script);
  t.after(() => upstream.close());
  const metrics = createMetrics({ routes, version: '1.2.3' });
  t.after(() => metrics.close());
  const document = (models: readonly string[] = ['m', 'gpt-*']): RigDocument => ({
    upstreams: [
      { id: 'up', family: 'openai', base_url: upstream.url, api_key: 'sk-upstream-key' },
      { id: 'down', family: 'openai', base_url: 'http://127.0.0.1:1', api_key: 'sk-upstream-key' },
    ],
    models: [
      ...models.map((id) => ({ id, operations: ['embeddings', 'completions'], targets: [{ upstream: 'up' }] })),
      {
        id: 'two',
        operations: ['embeddings'],
        space: 'one',
        targets: [
          { upstream: 'down', priority: 0 },
          { upstream: 'up', priority: 1 },
        ],
      },
    ],
  });
  const rig = await startRig(
    t,
    document(),
    {},
    {
      meter: metrics,
      bill(exchange) {
        exchange.bill = bill(exchange);
      },
    },
  );
  return { rig, metrics, upstream, document, read: () => parseExposition(toExposition(metrics.read())) };
}

const answering: Handler = (_entry, reply) => reply.json(200, { ok: true });

/** The request, as the metrics name it. */
const embeddings = { route: '/v1/embeddings', operation: 'embeddings' };

test('requests are counted by route, model, status and outcome; pattern matches under the pattern', async (t) => {
  const { rig, read } = await start(t, answering, () => billed);
  const before = read();
  // There before the first request, so that the first one shows as one more.
  assert.equal(before.sum('postern_requests_total', { ...embeddings, model: 'm', status: '2xx', outcome: 'ok' }), 0);
  assert.equal(before.sum('postern_request_duration_seconds_count'), undefined);

  for (const model of ['m', 'gpt-5', 'gpt-6', 'no-such-model']) await rig.post('/v1/embeddings', { model, input: 'x' });
  await rig.post('/v1/completions', { model: 'm', prompt: 'x' });
  await rig.post('/v1/embeddings', { model: 'm', input: 'x' }, { headers: [['Authorization', 'Bearer of-nobody']] });
  await rig.get('/v1/models');
  await rig.get('/healthz');
  await rig.get('/readyz');
  await rig.get('/nowhere');
  await rig.get('/v1/embeddings');
  await rig.exchange(9);

  const after = read();
  const requests = (labels: Record<string, string>) => after.sum('postern_requests_total', labels);
  assert.equal(requests({ ...embeddings, model: 'm', status: '2xx', outcome: 'ok' }), 1);
  assert.equal(requests({ ...embeddings, model: 'gpt-*', status: '2xx', outcome: 'ok' }), 2);
  assert.equal(requests({ route: '/v1/completions', model: 'm', outcome: 'ok' }), 1);
  // A model that is not there, a key that is not there, a method that is not there.
  assert.equal(requests({ ...embeddings, model: 'none', status: '4xx', outcome: 'refused' }), 3);
  assert.equal(requests({ route: '/v1/models', operation: 'none', status: '2xx', outcome: 'ok' }), 1);
  assert.equal(requests({ route: 'none', operation: 'none', model: 'none', status: '4xx' }), 1);
  assert.equal(requests({}), 9, 'probes are not counted');
  assert.equal(rig.settled.length, 9, 'nor logged');
  assert.deepEqual([...after.valuesOf('model')].sort(), ['gpt-*', 'm', 'none', 'two']);

  const errors = (code: string) => after.sum('postern_errors_total', { code });
  assert.deepEqual(
    ['model_not_found', 'invalid_api_key', 'method_not_allowed', 'route_not_found'].map(errors),
    [1, 1, 1, 1],
  );
  assert.equal(after.sum('postern_request_duration_seconds_count'), 9);
  assert.equal(after.sum('postern_first_byte_seconds_count', { route: '/v1/embeddings' }), 3);
  assert.equal(after.sum('postern_overhead_seconds_count', { operation: 'embeddings' }), 3);
  assert.equal(after.sum('postern_upstream_first_byte_seconds_count', { upstream: 'up' }), 4);
});

test('attempts are counted by target and outcome', async (t) => {
  let answers = 0;
  const script: Handler = (_entry, reply) => {
    answers += 1;
    return answers === 2 ? reply.json(500, {}) : reply.json(200, {});
  };
  const { rig, read } = await start(t, script, () => null);
  await rig.post('/v1/embeddings', { model: 'two', input: 'x' });
  await rig.post('/v1/completions', { model: 'm', prompt: 'x' });
  await rig.exchange(2);
  const after = read();
  const attempts = (upstream: string, outcome: string) => after.sum('postern_attempts_total', { upstream, outcome });
  assert.deepEqual(
    [attempts('down', 'not-sent'), attempts('up', 'answered'), attempts('up', 'failed'), attempts('up', 'abandoned')],
    [1, 1, 1, 0],
  );
  assert.equal(after.sum('postern_attempts_total'), 3);
  assert.equal(after.sum('postern_requests_total', { model: 'm', status: '5xx', outcome: 'error' }), 1);
});

test('a client that disconnects counts as aborted, and its call as abandoned', async (t) => {
  const { rig, read, upstream } = await start(
    t,
    (_entry, reply) => reply.stall(),
    () => null,
  );
  const leaving = httpRequest({
    port: rig.port,
    method: 'POST',
    path: '/v1/embeddings',
    headers: { authorization: `Bearer ${testKey}`, 'content-type': 'application/json' },
  });
  leaving.on('error', () => undefined); // it is broken off below
  leaving.end(JSON.stringify({ model: 'm', input: 'x' }));
  await upstream.nextRequest();
  const inFlight = (): number | undefined => read().sum('postern_requests_in_flight', { operation: 'embeddings' });
  assert.equal(inFlight(), 1);
  leaving.destroy();
  await rig.exchange();
  assert.equal(inFlight(), 0);
  const after = read();
  assert.equal(after.sum('postern_requests_total', { model: 'm', status: '4xx', outcome: 'aborted' }), 1);
  assert.equal(after.sum('postern_attempts_total', { upstream: 'up', outcome: 'abandoned' }), 1);
  assert.equal(after.sum('postern_errors_total', { code: 'client_closed' }), 1);
});

test('responses that repeat the credential are counted by upstream, withheld or truncated', async (t) => {
  const { rig, upstream, read } = await start(t, answering, () => null);
  const credential = 'sk-upstream-key';
  for (const [status, answer] of [
    [401, credential],
    [200, 'nothing'],
    [200, Buffer.from(credential).toString('base64')],
    [500, Buffer.from(credential).toString('base64')],
  ] as const) {
    upstream.respondWith((_entry, reply) => reply.json(status, { answer }));
    await rig.post('/v1/embeddings', { model: 'm', input: 'x' });
  }
  await rig.exchange(4);
  // In what succeeds, so short a one is not looked for.
  assert.equal(read().sum('postern_repeated_credentials_total', { upstream: 'up' }), 2);
});

test('keys and projects are counted only if the operator lists them', async (t) => {
  const { rig, metrics, document, read } = await start(t, answering, ({ status }) => (status < 400 ? billed : null));
  const keys = [
    { id: 'test', secret: testKey, project: 'team' },
    { id: 'other', secret: 'another-key-with-enough-characters', project: 'team' },
  ];
  const named = { ...document(), keys, projects: [{ id: 'team' }], metrics: { keys: ['test'], projects: ['team'] } };
  const snapshot = await rig.compile(named);
  assert.deepEqual(rig.app.swap(snapshot), []);
  metrics.adopt(snapshot);
  const body = { model: 'm', input: 'x' };
  await rig.post('/v1/embeddings', body);
  await rig.post('/v1/embeddings', body, { headers: [['x-api-key', 'another-key-with-enough-characters']] });
  await rig.post('/v1/embeddings', { model: 'nobody', input: 'x' });
  await rig.exchange(3);
  const { sum } = read();
  assert.equal(sum('postern_holder_requests_total', { holder: 'key', id: 'test', result: 'ok' }), 1);
  assert.equal(sum('postern_holder_requests_total', { holder: 'key', id: 'test', result: 'failed' }), 1);
  assert.equal(sum('postern_holder_requests_total', { holder: 'project', id: 'team', result: 'ok' }), 2);
  assert.equal(sum('postern_holder_tokens_total', { holder: 'project', id: 'team', direction: 'input' }), 24);
  assert.equal(sum('postern_holder_requests_total', { holder: 'key', id: 'other', result: 'ok' }), undefined);
});

test('cost is counted by model and upstream; an unknown price is not counted', async (t) => {
  const bills: (Bill | null)[] = [billed, { ...billed, costNanos: null, isEstimated: false }, null];
  const { rig, read } = await start(t, answering, () => bills.shift() ?? null);
  for (let i = 0; i < 3; i += 1) await rig.post('/v1/embeddings', { model: 'gpt-5', input: 'x' });
  await rig.exchange(3);
  const after = read();
  const at = { model: 'gpt-*', upstream: 'up' };
  const figures = [
    after.sum('postern_tokens_total', { ...at, direction: 'input' }),
    after.sum('postern_tokens_total', { ...at, direction: 'output' }),
    after.sum('postern_cached_tokens_total', at),
    after.sum('postern_search_units_total', at),
    after.sum('postern_items_total', at),
    after.sum('postern_cost_dollars_total', at),
    after.sum('postern_unpriced_requests_total', at),
    after.sum('postern_estimated_requests_total', at),
  ];
  assert.deepEqual(figures, [24, 6, 8, 2, 4, 0.0000015, 1, 1]);
  assert.equal(after.sum('postern_tokens_total', { model: 'm' }), 0);
});

test('other billed units are counted by unit, without a series if never used', async (t) => {
  const units = {
    images: 2,
    seconds: 1.5,
    reasoningTokens: 7,
    toolCalls: { web_search: 2, code: 1 },
    imageSize: 'auto',
  };
  const bills: (Bill | null)[] = [{ ...billed, units }, { ...billed, units: { images: 1 } }, billed];
  const { rig, read } = await start(t, answering, () => bills.shift() ?? null);
  for (let i = 0; i < 3; i += 1) await rig.post('/v1/embeddings', { model: 'gpt-5', input: 'x' });
  await rig.exchange(3);
  const { sum } = read();
  const countOf = (unit: string) => sum('postern_units_total', { model: 'gpt-*', upstream: 'up', unit });
  assert.deepEqual(['images', 'seconds', 'reasoning_tokens', 'tool_calls'].map(countOf), [3, 1.5, 7, 3]);
  assert.equal(countOf('characters'), undefined);
});

test('invented models, paths, methods and headers add no unbounded number of series', async (t) => {
  const { rig, read, metrics } = await start(t, answering, () => billed);
  const agent = new Agent({ keepAlive: true, maxSockets: 16 });
  t.after(() => agent.destroy());
  const ask = (at: number): Promise<void> =>
    new Promise((resolve, reject) => {
      const name = `made-up-${at}`;
      const isPost = at % 4 < 2;
      const sent = httpRequest(
        {
          port: rig.port,
          agent,
          method: isPost ? 'POST' : (['GET', 'PUT', 'DELETE', 'OPTIONS', 'PROPFIND'][at % 5] ?? 'GET'),
          path:
            at % 4 === 0
              ? '/v1/embeddings'
              : at % 4 === 1
                ? `/v1/engines/gpt-${name}/embeddings`
                : `/v1/${name}?${name}=1`,
          headers: {
            authorization: `Bearer ${at % 8 === 4 ? name : testKey}`,
            'content-type': 'application/json',
            'x-request-id': name,
            'user-agent': name,
          },
        },
        (response) => response.resume().on('end', resolve),
      );
      sent.on('error', reject);
      sent.end(isPost ? JSON.stringify({ model: at % 3 === 0 ? name : `gpt-${name}`, input: 'x' }) : undefined);
    });
  const askAll = async (from: number, to: number): Promise<void> => {
    let next = from;
    const client = async (): Promise<void> => {
      while (next < to) {
        next += 1;
        await ask(next - 1);
      }
    };
    await Promise.all(Array.from({ length: 16 }, client));
  };
  await askAll(0, 200);
  await rig.exchange(200);
  const first = read();
  await askAll(200, 1_000);
  await rig.exchange(1_000);
  // And ten times as many that give the same to the metrics, without passing through the gateway.
  const { snapshot } = await rig.exchange(1_000);
  for (let at = 0; at < 10_000; at += 1) {
    const exchange = new Exchange(`id-${at}`, `made-up-${at}`, snapshot, 0, 0);
    exchange.path = at % 2 === 0 ? '/v1/embeddings' : undefined;
    exchange.route = at % 2 === 0 ? routes.find(({ path }) => path === exchange.path) : undefined;
    if (at % 4 === 0) exchange.modelId = `gpt-made-up-${at}`;
    exchange.status = 400 + (at % 200);
    exchange.errorCode = 'model_not_found';
    metrics.settled(exchange);
  }
  const last = read();
  assert.equal(last.sum('postern_requests_total'), 11_000);
  assert.equal(last.sum('postern_requests_total', { model: 'gpt-*', outcome: 'refused' }), 2_500);
  assert.ok((last.sum('postern_requests_total', { model: 'gpt-*', outcome: 'ok' }) ?? 0) > 100);
  // By status and outcome there are new combinations, of two short lists.
  assert.ok(last.size - first.size <= 12, `${last.size - first.size} more`);
  assert.deepEqual([...last.valuesOf('model')].sort(), ['gpt-*', 'm', 'none', 'two']);
  assert.doesNotMatch(JSON.stringify([...last.families]), /made-up/);
});

test('a reload keeps all counts, of remaining and removed models', async (t) => {
  const { rig, document, read } = await start(t, answering, () => billed);
  const embed = (model: string) => rig.post('/v1/embeddings', { model, input: 'x' });
  await embed('m');
  await embed('gpt-5');
  await rig.exchange(2);
  assert.deepEqual(rig.app.swap(await rig.compile(document(['m', 'new']))), []);
  await embed('m');
  await embed('new');
  await embed('gpt-5'); // is not there any more
  await rig.exchange(5);
  const requests = (model: string) => read().sum('postern_requests_total', { model, outcome: 'ok' });
  assert.deepEqual(['m', 'new', 'gpt-*'].map(requests), [2, 1, 1]);
  assert.equal(read().sum('postern_items_total', { model: 'm' }), 4);
  assert.equal(read().sum('postern_attempts_total', { upstream: 'up' }), 4);
  assert.deepEqual(rig.app.swap(await rig.compile(document())), []);
  await embed('gpt-7');
  await rig.exchange(6);
  assert.equal(requests('gpt-*'), 2);
});

test('1,100 models added and removed in turn leave at most 1,000 series behind', async (t) => {
  const { rig, document, read } = await start(t, answering, () => null);
  for (let round = 0; round < 3; round += 1) {
    const models = Array.from({ length: 550 }, (_, at) => `model-${round}-${at}`);
    assert.deepEqual(rig.app.swap(await rig.compile(document(models))), []);
  }
  assert.equal([...read().valuesOf('model')].filter((id) => id.startsWith('model-')).length, 550 + 1_000);
});

test('a gauge is read at each scrape, and absent until a source for it is registered', async (t) => {
  const metrics = createMetrics({ routes, version: '1.2.3' });
  t.after(() => metrics.close());
  const read = () => parseExposition(toExposition(metrics.read()));
  assert.equal(read().sum('postern_journal_rows_total'), undefined);
  let rows = 5;
  metrics.observe({ postern_journal_rows_total: () => rows, postern_store_up: () => 1 });
  metrics.observe({
    *targets() {
      yield;
      return [
        {
          upstream: 'up',
          model: 'theirs',
          state: 'resting',
          restsForMs: 100,
          why: 'answered 500',
          inFlight: 2,
          waiting: 7,
          latencyMs: 250,
          restingCredentials: ['key 1'],
        },
      ];
    },
  });
  rows = 6;
  const parsed = read();
  assert.deepEqual([parsed.sum('postern_journal_rows_total'), parsed.sum('postern_store_up')], [6, 1]);
  const target = { upstream: 'up', model: 'theirs' };
  assert.equal(parsed.sum('postern_target_state', { ...target, state: 'resting' }), 1);
  assert.equal(parsed.sum('postern_target_state', target), 1);
  assert.equal(parsed.sum('postern_target_in_flight', target), 2);
  assert.equal(parsed.sum('postern_target_latency_seconds', target), 0.25);
  assert.equal(parsed.sum('postern_target_resting_credentials', target), 1);
  assert.equal(parsed.sum('postern_upstream_waiting', { upstream: 'up' }), 7);

  metrics.limitHit('key', 'requests');
  metrics.limitHit('project', 'concurrency');
  metrics.budgetHit('upstream', 'month');
  metrics.reloaded(true);
  assert.equal(read().sum('postern_config_last_reload_successful'), 1);
  metrics.reloaded(false);
  const after = read();
  assert.equal(after.sum('postern_limit_hits_total', { holder: 'key', measure: 'requests' }), 1);
  assert.equal(after.sum('postern_limit_hits_total'), 2);
  assert.equal(after.sum('postern_budget_hits_total', { holder: 'upstream', period: 'month' }), 1);
  assert.equal(after.sum('postern_config_reloads_total', { result: 'refused' }), 1);
  assert.equal(after.sum('postern_config_last_reload_successful'), 0);
  assert.equal(after.sum('postern_build_info', { version: '1.2.3', node: process.versions.node }), 1);
});
