/** Exports traces and metrics over OTLP with the official exporters, loaded when configured. */

import { hostname } from 'node:os';
import { performance } from 'node:perf_hooks';
import { setTimeout as wait } from 'node:timers/promises';
import type { Log } from '../../core/log.ts';
import { reasonOf } from '../../lib/thrown.ts';
import type { Reading } from '../metrics/reading.ts';
import { toResourceMetrics } from './metric-data.ts';
import type { ExportSettings } from './settings.ts';
import { type Teller, toHrTime } from './spans.ts';
import { createTracer, type Tracer } from './tracer.ts';

export interface TelemetryDeps {
  readonly log: Pick<Log, 'warn'>;
  readonly version: string;
  /** ID that distinguishes this process from others of the same service. */
  readonly instance: string;
  readonly readMetrics: () => Reading;
  readonly random: () => number;
}

const closingMs = 3_000;
const failureLogIntervalMs = 60_000;

export async function openTelemetry(settings: ExportSettings, deps: TelemetryDeps) {
  const { setGlobalErrorHandler } = await import('@opentelemetry/core');
  const fault = createFaultTeller(deps.log);
  setGlobalErrorHandler((error) => fault(error));
  const teller = await createTeller(settings, deps);
  const closers: (() => Promise<void>)[] = [];
  const tracer = settings.traces ? await openTraces(settings, deps, teller, closers) : undefined;
  if (settings.metrics) await openMetrics(settings, deps, teller, { closers, fault });
  return {
    tracer,
    /** Exports the remaining data, within a short time, as the process is about to end. */
    async close(): Promise<void> {
      const closing = Promise.allSettled(closers.map((one) => one()));
      await Promise.race([closing, wait(closingMs, undefined, { ref: false })]);
    },
  };
}

async function createTeller({ serviceName }: ExportSettings, { version, instance }: TelemetryDeps): Promise<Teller> {
  const { resourceFromAttributes, detectResources, envDetector } = await import('@opentelemetry/resources');
  const own = resourceFromAttributes({
    'service.name': 'postern',
    'service.version': version,
    'service.instance.id': instance,
    'host.name': hostname(),
  });
  const named = own.merge(detectResources({ detectors: [envDetector] }));
  const resource =
    serviceName === undefined ? named : named.merge(resourceFromAttributes({ 'service.name': serviceName }));
  return { resource, instrumentationScope: { name: 'postern', version } };
}

async function openTraces(
  { endpoint, headers, sample, batch }: ExportSettings,
  { random }: TelemetryDeps,
  teller: Teller,
  closers: (() => Promise<void>)[],
): Promise<Tracer> {
  const { OTLPTraceExporter } = await import('@opentelemetry/exporter-trace-otlp-proto');
  const { BatchSpanProcessor } = await import('@opentelemetry/sdk-trace');
  const exporter = new OTLPTraceExporter(destination(endpoint, 'traces', headers));
  const processor = new BatchSpanProcessor({ exporter, ...batch });
  closers.push(() => processor.shutdown());
  return createTracer({ teller, sample, random, emit: (span) => processor.onEnd(span) });
}

async function openMetrics(
  { endpoint, headers, metricsEveryMs }: ExportSettings,
  { readMetrics }: TelemetryDeps,
  teller: Teller,
  { closers, fault }: { readonly closers: (() => Promise<void>)[]; readonly fault: (error: unknown) => void },
): Promise<void> {
  const { OTLPMetricExporter } = await import('@opentelemetry/exporter-metrics-otlp-proto');
  const { AggregationTemporality, DataPointType } = await import('@opentelemetry/sdk-metrics');
  const { ValueType } = await import('@opentelemetry/api');
  const kinds = { AggregationTemporality, DataPointType, ValueType };
  const exporter = new OTLPMetricExporter(destination(endpoint, 'metrics', headers));
  const startTime = toHrTime(Date.now());
  const send = (): Promise<void> =>
    new Promise((resolve) => {
      const span = { startTime, endTime: toHrTime(Date.now()) };
      exporter.export(toResourceMetrics(readMetrics(), span, teller, kinds), ({ error }) => {
        if (error !== undefined) fault(error);
        resolve();
      });
    });
  const timer = setInterval(() => void send(), metricsEveryMs).unref();
  closers.push(async () => {
    clearInterval(timer);
    await send();
    await exporter.shutdown();
  });
}

/** Where to export to. Where the configuration does not say, the exporters read the environment. */
function destination(endpoint: string | undefined, signal: 'traces' | 'metrics', headers: ExportSettings['headers']) {
  const own = Object.keys(headers).length === 0 ? {} : { headers: { ...headers } };
  return endpoint === undefined ? own : { ...own, url: `${endpoint.replace(/\/+$/, '')}/v1/${signal}` };
}

function createFaultTeller(log: Pick<Log, 'warn'>): (error: unknown) => void {
  let silentUntilMs = 0;
  return (error) => {
    const nowMs = performance.now();
    if (nowMs < silentUntilMs) return;
    silentUntilMs = nowMs + failureLogIntervalMs;
    log.warn('telemetry export failed', { reason: reasonOf(error) });
  };
}
