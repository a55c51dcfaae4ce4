import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ValueType } from '@opentelemetry/api';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { AggregationTemporality, DataPointType } from '@opentelemetry/sdk-metrics';
import { definitions } from '../metrics/definitions.ts';
import { toLabels } from '../metrics/reading.ts';
import { attributesIn, toResourceMetrics } from './metric-data.ts';

const teller = { resource: resourceFromAttributes({}), instrumentationScope: { name: 'postern' } };
const kinds = { AggregationTemporality, DataPointType, ValueType };
const span = { startTime: [1, 0] as [number, number], endTime: [2, 0] as [number, number] };

test('attributes have the label values unchanged, with any special characters', () => {
  const values = ['a "quoted" one', 'back\\slash', 'two\nlines', '{x="y"}', ''];
  const names = values.map((_, index) => `label_${'abcde'.charAt(index)}`);
  assert.deepEqual(
    attributesIn(toLabels(names, values)),
    Object.fromEntries(names.map((name, at) => [name, values[at]])),
  );
  assert.deepEqual(attributesIn(''), {});
});

test('counters, gauges and histograms become their OTLP types', () => {
  const { buckets } = definitions.postern_first_byte_seconds;
  const counts = buckets.map((_, index) => index);
  const reading = {
    postern_attempts_total: { '{upstream="u",outcome="answered"}': 3 },
    postern_workers: { '': 2 },
    postern_first_byte_seconds: { '{route="/v1/embeddings"}': [...counts, 7, 1.5] },
  };
  const { metrics = [] } = toResourceMetrics(reading, span, teller, kinds).scopeMetrics[0] ?? {};
  const byName = new Map(metrics.map((metric) => [metric.descriptor.name, metric]));
  assert.deepEqual([...byName.keys()].sort(), ['postern_attempts', 'postern_first_byte_seconds', 'postern_workers']);
  const attempts = byName.get('postern_attempts');
  assert.equal(attempts?.dataPointType === DataPointType.SUM && attempts.isMonotonic, true);
  assert.equal(attempts?.aggregationTemporality, AggregationTemporality.CUMULATIVE);
  assert.deepEqual(attempts?.dataPoints, [{ ...span, attributes: { upstream: 'u', outcome: 'answered' }, value: 3 }]);
  assert.equal(byName.get('postern_workers')?.dataPointType, DataPointType.GAUGE);
  const [point] = byName.get('postern_first_byte_seconds')?.dataPoints ?? [];
  const sum = counts.reduce((total, one) => total + one, 7);
  assert.deepEqual(point?.value, {
    buckets: { boundaries: [...buckets], counts: [...counts, 7] },
    count: sum,
    sum: 1.5,
  });
});
