/** Which traces the latencies of the metrics lead to. */

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { routes } from '../../src/routes/index.ts';
import { createMetrics } from '../../src/telemetry/metrics/metrics.ts';
import { createTracer } from '../../src/telemetry/otel/tracer.ts';
import { parseExposition, toExposition } from '../support/clients/exposition.ts';
import { parseOpenMetrics } from '../support/clients/open-metrics.ts';
import { startRig, testKey } from '../support/gateways/rig.ts';
import { startFakeUpstream } from '../support/upstreams/fake-upstream.ts';

const teller = { resource: resourceFromAttributes({}), instrumentationScope: { name: 'postern' } };
const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';

async function exemplarsAfterOne(t: TestContext, sample: number | undefined) {
  const upstream = await startFakeUpstream((_request, reply) => reply.json(200, { data: [{}] }));
  t.after(() => upstream.close());
  const meter = createMetrics({ routes, version: '1.2.3' });
  t.after(() => meter.close());
  const tracer = createTracer({ teller, sample: 0, random: () => 0.5, emit: () => undefined });
  const rig = await startRig(
    t,
    {
      upstreams: [{ id: 'up', family: 'openai', base_url: upstream.url, api_key: 'sk-up' }],
      models: [{ id: 'm', operations: ['embeddings'], targets: [{ upstream: 'up' }] }],
      ...(sample === undefined ? {} : { otel: { sample } }),
    },
    {},
    sample === undefined ? { meter } : { meter, tracer },
  );
  const headers: [string, string][] = [
    ['authorization', `Bearer ${testKey}`],
    ['content-type', 'application/json'],
    ['traceparent', `00-${traceId}-00f067aa0ba902b7-01`],
  ];
  assert.equal((await rig.post('/v1/embeddings', { model: 'm', input: 'x' }, { headers })).status, 200);
  await rig.exchange();
  const reading = meter.read();
  const { said, exemplars } = parseOpenMetrics(toExposition(reading, 'openMetrics'));
  assert.deepEqual(said.families, parseExposition(toExposition(reading)).families, 'both forms say the same');
  return exemplars;
}

test('each latency metric of a traced request has its trace as exemplar', async (t) => {
  const exemplars = await exemplarsAfterOne(t, 1);
  assert.deepEqual(
    exemplars.map(({ sample, labels }) => [sample.replace(/_bucket.*/, ''), labels]),
    [
      'postern_request_duration_seconds',
      'postern_first_byte_seconds',
      'postern_overhead_seconds',
      'postern_upstream_first_byte_seconds',
    ].map((name) => [name, `trace_id="${traceId}"`]),
  );
});

test('unsampled requests and disabled tracing give no exemplars', async (t) => {
  assert.deepEqual(await exemplarsAfterOne(t, 0), []);
  assert.deepEqual(await exemplarsAfterOne(t, undefined), []);
});
