import assert from 'node:assert/strict';
import { test } from 'node:test';
import { exportSettings } from './settings.ts';

const section = { endpoint: 'http://c:4318', headers: { a: 'b' }, sample: undefined, keys: new Set<string>() };

test('nothing is exported by default', () => {
  assert.equal(exportSettings(undefined, {}), undefined);
  assert.equal(exportSettings(undefined, { OTEL_SERVICE_NAME: 'x', OTEL_EXPORTER_OTLP_ENDPOINT: ' ' }), undefined);
  assert.equal(exportSettings(section, { OTEL_SDK_DISABLED: 'TRUE' }), undefined);
  assert.equal(exportSettings(section, { OTEL_TRACES_EXPORTER: 'none', OTEL_METRICS_EXPORTER: 'none' }), undefined);
});

test('export is enabled by the otel section or an endpoint in the environment', () => {
  assert.deepEqual(exportSettings(section, {}), {
    traces: true,
    metrics: true,
    endpoint: 'http://c:4318',
    headers: { a: 'b' },
    sample: 1,
    serviceName: undefined,
    batch: { scheduledDelayMillis: 1000, maxQueueSize: 16_384, maxExportBatchSize: 512, exportTimeoutMillis: 30_000 },
    metricsEveryMs: 60_000,
  });
  for (const name of ['', 'TRACES_', 'METRICS_']) {
    const found = exportSettings(undefined, { [`OTEL_EXPORTER_OTLP_${name}ENDPOINT`]: 'http://c' });
    // The exporters read it themselves.
    assert.equal(found?.endpoint, undefined);
    assert.equal(found?.traces, true);
  }
});

test('the standard OTEL_ environment variables apply', () => {
  const found = exportSettings(section, {
    OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
    OTEL_TRACES_SAMPLER_ARG: '0.25',
    OTEL_METRICS_EXPORTER: 'none',
    OTEL_SERVICE_NAME: 'gateway',
    OTEL_BSP_MAX_QUEUE_SIZE: '10',
    OTEL_METRIC_EXPORT_INTERVAL: '500',
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/protobuf',
  });
  assert.deepEqual(
    [found?.sample, found?.metrics, found?.serviceName, found?.batch.maxQueueSize, found?.metricsEveryMs],
    [0.25, false, 'gateway', 10, 500],
  );
  assert.equal(exportSettings(section, { OTEL_TRACES_SAMPLER: 'always_off' })?.sample, 0);
});

test('an invalid setting is a configuration fault with the valid values', () => {
  const rows: readonly (readonly [name: string, value: string, message: RegExp])[] = [
    [
      'OTEL_EXPORTER_OTLP_PROTOCOL',
      'grpc',
      /^OTEL_EXPORTER_OTLP_PROTOCOL: "grpc" is not spoken here; .*http\/protobuf.*4318/,
    ],
    ['OTEL_TRACES_EXPORTER', 'zipkin', /^OTEL_TRACES_EXPORTER: "zipkin" is not known here; set otlp or none$/],
    ['OTEL_TRACES_SAMPLER_ARG', '2', /^OTEL_TRACES_SAMPLER_ARG: "2" is no number from 0 to 1$/],
    ['OTEL_BSP_SCHEDULE_DELAY', '-1', /^OTEL_BSP_SCHEDULE_DELAY: "-1" is no whole number from 1 to/],
  ];
  for (const [name, value, message] of rows) {
    assert.throws(() => exportSettings(section, { [name]: value }), { name: 'UserFault', message });
  }
  assert.throws(() => exportSettings(section, { OTEL_TRACES_SAMPLER: 'jaeger_remote', OTEL_TRACES_SAMPLER_ARG: '1' }), {
    name: 'UserFault',
    message: /^OTEL_TRACES_SAMPLER: "jaeger_remote" is not known here/,
  });
});
