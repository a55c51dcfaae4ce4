/** Prometheus' own judge of metrics and of rules: what is exposed, and the alerts that the docs begin with. */

import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import * as z from 'zod';
import { request } from '../support/clients/raw-client.ts';
import { startGatewayProcess } from '../support/gateways/gateway-process.ts';
import { freePort } from '../support/servers/free-port.ts';
import { startFakeUpstream } from '../support/upstreams/fake-upstream.ts';

const rules = z.object({
  groups: z.array(
    z.object({ rules: z.array(z.object({ alert: z.string(), annotations: z.object({ runbook_url: z.string() }) })) }),
  ),
});

/** Where CI is set it is never left out: the spawn fails there. */
const whyNot =
  process.env.CI !== 'true' && spawnSync('promtool', ['--version']).error !== undefined
    ? 'promtool is not installed (Debian: prometheus)'
    : false;

function promtool(args: readonly string[], input = ''): string {
  const { status, stdout, stderr, error } = spawnSync('promtool', args, { input, encoding: 'utf8' });
  if (error !== undefined) throw error;
  return status === 0 ? '' : `${status}: ${stdout}${stderr}`;
}

test('the metrics after requests of every kind pass `promtool check metrics`', { skip: whyNot }, async (t) => {
  const upstream = await startFakeUpstream((seen, reply) =>
    seen.body.includes('fail')
      ? reply.json(500, {})
      : reply.json(200, { usage: { prompt_tokens: 3, total_tokens: 3 } }),
  );
  t.after(() => upstream.close());
  const gateway = await startGatewayProcess({
    config: {
      upstreams: [{ id: 'up', family: 'openai', base_url: upstream.url, api_key: 'sk-upstream-key' }],
      models: [{ id: 'm', operations: ['embeddings', 'rerank'], targets: [{ upstream: 'up' }], price: { input: 1 } }],
      keys: [
        { id: 'one', secret: 'key-one-with-enough-characters', budgets: [{ every: 'day', amount: 1 }] },
        { id: 'two', secret: 'key-two-with-enough-characters', limits: { requests_per_minute: 1 } },
      ],
    },
  });
  t.after(() => gateway.stop());
  for (const [key, input] of [
    ['one', 'x'],
    ['one', 'fail'],
    ['two', 'x'],
    ['two', 'x'],
    ['nobody', 'x'],
  ]) {
    const headers: [string, string][] = [
      ['x-api-key', `key-${key}-with-enough-characters`],
      ['content-type', 'application/json'],
    ];
    await request({ port: gateway.port, path: '/v1/embeddings', headers, body: { model: 'm', input } });
  }
  const address = gateway.log().find(({ msg }) => msg === 'listening')?.console;
  const exposed = await (await fetch(`${String(address)}/metrics`)).text();
  assert.match(exposed, /^postern_requests_total\{/m);
  assert.match(exposed, /^nodejs_eventloop_delay_seconds\{percentile="99"\}/m);
  assert.equal(promtool(['check', 'metrics'], exposed), '');
});

const scraped = z.object({
  data: z.object({ activeTargets: z.array(z.object({ health: z.string(), lastError: z.string() })) }),
});
const exemplars = z.object({
  data: z.array(z.object({ exemplars: z.array(z.object({ labels: z.object({ trace_id: z.string() }) })) })),
});

for (const workers of [1, 2]) {
  test(`Prometheus accepts OpenMetrics, and stores a request's trace exemplar, with workers: ${workers}`, {
    skip: whyNot,
  }, async (t) => {
    const upstream = await startFakeUpstream((_, reply) =>
      reply.json(200, { data: [{}], usage: { prompt_tokens: 3 } }),
    );
    t.after(() => upstream.close());
    const collector = await startFakeUpstream((_, reply) => reply.json(200, {}));
    t.after(() => collector.close());
    const gateway = await startGatewayProcess({
      config: {
        server: { workers },
        otel: { endpoint: collector.url, sample: 1 },
        upstreams: [{ id: 'up', family: 'openai', base_url: upstream.url, api_key: 'sk-upstream-key' }],
        models: [{ id: 'm', operations: ['embeddings'], targets: [{ upstream: 'up' }] }],
      },
    });
    t.after(() => gateway.stop());
    const traceId = '0af7651916cd43dd8448eb211c80319c';
    const headers: [string, string][] = [
      ['x-api-key', gateway.key],
      ['content-type', 'application/json'],
      ['traceparent', `00-${traceId}-b7ad6b7169203331-01`],
    ];
    await request({ port: gateway.port, path: '/v1/embeddings', headers, body: { model: 'm', input: 'x' } });
    const console = new URL(String(gateway.log().find(({ msg }) => msg === 'listening')?.console)).host;

    const folder = await mkdtemp(join(tmpdir(), 'postern-prometheus-'));
    t.after(() => rm(folder, { recursive: true, force: true, maxRetries: 20 }));
    const scraping = [{ job_name: 'postern', scrape_interval: '1s', static_configs: [{ targets: [console] }] }];
    await writeFile(join(folder, 'prometheus.yml'), JSON.stringify({ scrape_configs: scraping }));
    const port = await freePort();
    const prometheus = spawn(
      'prometheus',
      [
        `--config.file=${join(folder, 'prometheus.yml')}`,
        `--storage.tsdb.path=${join(folder, 'data')}`,
        `--web.listen-address=127.0.0.1:${port}`,
        '--enable-feature=exemplar-storage',
      ],
      { stdio: 'ignore' },
    );
    const gone = once(prometheus, 'exit');
    t.after(async () => {
      prometheus.kill();
      await gone;
    });
    const ask = async (path: string): Promise<unknown> => (await fetch(`http://127.0.0.1:${port}${path}`)).json();
    const query = new URLSearchParams({
      query: 'postern_request_duration_seconds_bucket',
      start: String(Date.now() / 1_000 - 600),
      end: String(Date.now() / 1_000 + 600),
    });
    let found: string[] = [];
    for (let tries = 0; tries < 120 && found.length === 0; tries += 1) {
      await wait(250);
      const answered = await ask(`/api/v1/query_exemplars?${query}`).catch(() => undefined); // not up yet
      const read = exemplars.safeParse(answered);
      found = read.success ? read.data.data.flatMap((one) => one.exemplars.map(({ labels }) => labels.trace_id)) : [];
    }
    const { activeTargets } = scraped.parse(await ask('/api/v1/targets')).data;
    assert.deepEqual(activeTargets, [{ health: 'up', lastError: '' }]);
    assert.deepEqual([...new Set(found)], [traceId]);
  });
}

test('the alerts pass `promtool check rules`, and each says what to do', { skip: whyNot }, async () => {
  const file = new URL('../../deploy/prometheus/alerts.yaml', import.meta.url);
  assert.equal(promtool(['check', 'rules', fileURLToPath(file)]), '');
  const page = await readFile(new URL('../../docs/guides/operate.md', import.meta.url), 'utf8');
  const { groups } = rules.parse(parse(await readFile(file, 'utf8')));
  for (const { alert, annotations } of groups.flatMap((group) => group.rules)) {
    assert.ok(page.includes(`\n### ${alert}\n`), `docs/guides/operate.md does not say what to do about ${alert}`);
    assert.ok(annotations.runbook_url.endsWith(`/docs/guides/operate.md#${alert.toLowerCase()}`));
  }
});

test('every query of the dashboard passes `promtool check rules`', { skip: whyNot }, async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'postern-dashboard-'));
  t.after(() => rm(directory, { recursive: true, force: true, maxRetries: 20 }));
  const text = await readFile(new URL('../../deploy/grafana/postern.json', import.meta.url), 'utf8');
  const questions = [...text.matchAll(/"expr": ("(?:[^"\\]|\\.)*")/g)].map(([, quoted = '""']) =>
    String(JSON.parse(quoted)),
  );
  assert.ok(questions.length > 40);
  const asRules = questions.map((expr, index) => ({
    record: `question:${index}`,
    expr: expr.replaceAll('$__rate_interval', '5m'),
  }));
  const file = join(directory, 'rules.yaml');
  await writeFile(file, JSON.stringify({ groups: [{ name: 'dashboard', rules: asRules }] }));
  assert.equal(promtool(['check', 'rules', file]), '');
});
