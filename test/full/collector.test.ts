/** A collector of OpenTelemetry, built from its own modules: what it took of a gateway, as it wrote it down. */

import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import * as z from 'zod';
import { isMapping } from '../../src/lib/is-mapping.ts';
import { request } from '../support/clients/raw-client.ts';
import { startGatewayProcess } from '../support/gateways/gateway-process.ts';
import { collectorProgram } from '../support/servers/collector-program.ts';
import { freePort } from '../support/servers/free-port.ts';
import { patientMs } from '../support/time/patience.ts';
import { startFakeUpstream } from '../support/upstreams/fake-upstream.ts';

/** Where CI is set it is never left out: the build fails there. */
const whyNot =
  process.env.CI !== 'true' && spawnSync('go', ['version']).error !== undefined ? 'Go is not installed' : false;

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';

test('a collector receives traces and metrics as exported', { skip: whyNot }, async (t) => {
  const collector = await startCollector(t);
  let asked = 0;
  const upstream = await startFakeUpstream((_request, reply) => {
    asked += 1;
    return asked === 1
      ? reply.json(503, {})
      : reply.json(200, { data: [{}], usage: { prompt_tokens: 5, total_tokens: 5 } });
  });
  t.after(() => upstream.close());
  const gateway = await startGatewayProcess({
    config: {
      upstreams: ['one', 'two'].map((id) => ({ id, family: 'openai', base_url: upstream.url, api_key: 'sk-upstream' })),
      models: [
        {
          id: 'm',
          operations: ['embeddings'],
          price: { input: 1 },
          targets: [{ upstream: 'one' }, { upstream: 'two', priority: 1 }],
        },
      ],
      otel: { endpoint: collector.url, headers: { 'x-tenant': 'seen-by-the-collector-alone' } },
    },
    env: { OTEL_SERVICE_NAME: 'gateway', OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test' },
  });
  const headers: [string, string][] = [
    ['authorization', `Bearer ${gateway.key}`],
    ['content-type', 'application/json'],
    ['traceparent', `00-${traceId}-00f067aa0ba902b7-01`],
  ];
  const body = { model: 'm', input: 'x' };
  assert.equal((await request({ port: gateway.port, path: '/v1/embeddings', headers, body })).status, 200);
  // What is left is exported at its end.
  assert.equal((await gateway.stop()).code, 0);
  assert.equal(gateway.log().find(({ msg }) => msg === 'request')?.trace_id, traceId);

  const [server, first, second] = await collector.spans(3);
  assert.ok(server && first && second);
  assert.deepEqual(
    [server, first, second].map(({ name, kind, traceId: trace, parentSpanId, status }) => [
      name,
      kind,
      trace,
      parentSpanId,
      status,
    ]),
    [
      ['POST /v1/embeddings', 2, traceId, '00f067aa0ba902b7', {}],
      ['embeddings m', 3, traceId, server.spanId, { code: 2 }],
      ['embeddings m', 3, traceId, server.spanId, {}],
    ],
  );
  assert.deepEqual(
    second.links?.map(({ spanId }) => spanId),
    [first.spanId],
  );
  const said = attributesOf(server);
  assert.equal(said['gen_ai.usage.input_tokens'], '5');
  assert.equal(said['gen_ai.request.model'], 'm');
  assert.equal(attributesOf(first)['http.response.status_code'], '503');
  const text = await collector.text();
  assert.match(text, /"service\.name","value":\{"stringValue":"gateway"/);
  assert.match(text, /"deployment\.environment\.name","value":\{"stringValue":"test"/);
  assert.match(text, /"name":"postern_attempts","description":"[^"]+","sum":/);
  assert.match(text, /"name":"postern_request_duration_seconds","description":"[^"]+","histogram":/);
  for (const secret of ['seen-by-the-collector-alone', 'sk-upstream', gateway.key]) {
    assert.equal(text.includes(secret), false);
    assert.equal(gateway.stdout().includes(secret) || gateway.stderr().includes(secret), false);
  }
});

const collectedSpan = z.object({
  name: z.string(),
  kind: z.number(),
  traceId: z.string(),
  spanId: z.string(),
  parentSpanId: z.string(),
  status: z.unknown(),
  attributes: z.array(z.object({ key: z.string(), value: z.record(z.string(), z.unknown()) })),
  links: z.array(z.object({ spanId: z.string() })).optional(),
});
type CollectedSpan = z.output<typeof collectedSpan>;

const attributesOf = ({ attributes }: CollectedSpan): Record<string, unknown> =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));

async function startCollector(t: TestContext) {
  const program = await collectorProgram();
  const directory = await mkdtemp(join(tmpdir(), 'postern-collector-'));
  const port = await freePort();
  const file = join(directory, 'out.json');
  const config = join(directory, 'collector.yaml');
  const pipeline = { receivers: ['otlp'], exporters: ['file'] };
  await writeFile(
    config,
    JSON.stringify({
      receivers: { otlp: { protocols: { http: { endpoint: `127.0.0.1:${port}` } } } },
      exporters: { file: { path: file, flush_interval: '50ms' } },
      service: {
        telemetry: { metrics: { level: 'none' } },
        pipelines: { traces: pipeline, metrics: pipeline },
      },
    }),
  );
  const child = spawn(program, ['--config', `file:${config}`], { stdio: ['ignore', 'ignore', 'pipe'] });
  const exited = once(child, 'exit');
  t.after(async () => {
    child.kill();
    await exited;
    await rm(directory, { recursive: true, force: true });
  });
  await becomesReady(child);
  const text = () => readFile(file, 'utf8').catch(() => '');
  return {
    url: `http://127.0.0.1:${port}`,
    text,
    /** Once there are so many, and metrics besides. */
    async spans(count: number): Promise<CollectedSpan[]> {
      for (const until = Date.now() + patientMs(10_000); Date.now() < until; await wait(50)) {
        const written = await text();
        const spans = spansIn(written);
        if (spans.length >= count && written.includes('resourceMetrics')) return spans;
      }
      assert.fail(`fewer than ${count} spans, or no metrics: ${await text()}`);
    },
  };
}

/** Of whole lines: the last one may still be written. */
function spansIn(text: string): CollectedSpan[] {
  const lines = text
    .slice(0, text.lastIndexOf('\n') + 1)
    .split('\n')
    .filter((line) => line !== '');
  return lines
    .flatMap((line) => itemsAt(JSON.parse(line), ['resourceSpans', 'scopeSpans', 'spans']))
    .map((span) => collectedSpan.parse(span));
}

function itemsAt(value: unknown, [name, ...rest]: readonly string[]): unknown[] {
  if (name === undefined) return [value];
  const items = isMapping(value) ? value[name] : undefined;
  return Array.isArray(items) ? items.flatMap((item: unknown) => itemsAt(item, rest)) : [];
}

async function becomesReady(child: ChildProcess): Promise<void> {
  let said = '';
  for await (const chunk of child.stderr ?? []) {
    said += String(chunk);
    if (said.includes('Everything is ready')) {
      child.stderr?.resume();
      return;
    }
  }
  assert.fail(`the collector did not start: ${said}`);
}
