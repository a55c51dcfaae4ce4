/** Converts the metrics to OTLP. They are those of docs/reference/metrics.md, without `_total`, which receivers add to counters. */

import type { Attributes, HrTime, ValueType } from '@opentelemetry/api';
import type { InstrumentationScope } from '@opentelemetry/core';
import type {
  AggregationTemporality,
  DataPointType,
  HistogramMetricData,
  MetricData,
  ResourceMetrics,
} from '@opentelemetry/sdk-metrics';
import { type Definition, definitions, metricNames } from '../metrics/definitions.ts';
import type { Reading } from '../metrics/reading.ts';
import type { Teller } from './spans.ts';

/** Constants of the OpenTelemetry packages, which are loaded only where metrics are exported. */
export interface MetricKinds {
  readonly DataPointType: typeof DataPointType;
  readonly AggregationTemporality: typeof AggregationTemporality;
  readonly ValueType: typeof ValueType;
}

interface Span {
  readonly startTime: HrTime;
  readonly endTime: HrTime;
}

export function toResourceMetrics(
  reading: Reading,
  span: Span,
  { resource, instrumentationScope }: Teller,
  kinds: MetricKinds,
): ResourceMetrics {
  return { resource, scopeMetrics: [scopeMetricsOf(reading, span, instrumentationScope, kinds)] };
}

function scopeMetricsOf(reading: Reading, span: Span, scope: InstrumentationScope, kinds: MetricKinds) {
  const metrics = metricNames.flatMap((name): MetricData[] => {
    const series = Object.entries(reading[name] ?? {});
    if (series.length === 0) return [];
    const definition = definitions[name];
    const points = series.map(([labels, value]) => ({ ...span, attributes: attributesIn(labels), value }));
    return [toMetric(name, definition, points, kinds)];
  });
  return { scope, metrics };
}

interface Point extends Span {
  readonly attributes: Attributes;
  readonly value: number | readonly number[];
}

function toMetric(
  name: string,
  definition: Definition,
  points: readonly Point[],
  { DataPointType: types, AggregationTemporality: temporality, ValueType: values }: MetricKinds,
): MetricData {
  const base = {
    descriptor: {
      name: name.replace(/_total$/, ''),
      description: definition.help,
      unit: '',
      valueType: values.DOUBLE,
    },
    aggregationTemporality: temporality.CUMULATIVE,
  };
  const numbers = points.flatMap(({ value, ...point }) => (typeof value === 'number' ? [{ ...point, value }] : []));
  switch (definition.type) {
    case 'gauge':
      return { ...base, dataPointType: types.GAUGE, dataPoints: numbers };
    case 'counter':
      return { ...base, dataPointType: types.SUM, dataPoints: numbers, isMonotonic: true };
    case 'histogram':
      return {
        ...base,
        dataPointType: types.HISTOGRAM,
        dataPoints: points.flatMap((one) => toBuckets(one, definition)),
      };
  }
}

function toBuckets({ value, ...point }: Point, { buckets }: Definition): HistogramMetricData['dataPoints'] {
  if (typeof value === 'number') return [];
  const counts = value.slice(0, buckets.length + 1);
  const count = counts.reduce((sum, one) => sum + one, 0);
  return [
    { ...point, value: { buckets: { boundaries: [...buckets], counts }, count, sum: value[buckets.length + 1] ?? 0 } },
  ];
}

const label = /([a-z_]+)="((?:[^"\\]|\\.)*)"/g;
const escapes: Readonly<Record<string, string>> = { '\\n': '\n', '\\"': '"', '\\\\': '\\' };

export function attributesIn(labels: string): Attributes {
  const attributes: Attributes = {};
  for (const [, name = '', value = ''] of labels.matchAll(label)) {
    attributes[name] = value.replace(/\\./g, (written) => escapes[written] ?? written);
  }
  return attributes;
}
