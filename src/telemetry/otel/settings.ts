/** Reads export settings from the `otel` section and from the standard variables, most of which the exporters read themselves. */

import type { OtelSettings } from '../../core/snapshot.ts';
import { UserFault } from '../../core/user-fault.ts';

type Environment = Readonly<Record<string, string | undefined>>;

export interface ExportSettings {
  readonly traces: boolean;
  readonly metrics: boolean;
  readonly endpoint: string | undefined;
  readonly headers: OtelSettings['headers'];
  /** Share of requests that are traced, where the configuration sets no other one. */
  readonly sample: number;
  readonly serviceName: string | undefined;
  readonly batch: {
    readonly scheduledDelayMillis: number;
    readonly maxQueueSize: number;
    readonly maxExportBatchSize: number;
    readonly exportTimeoutMillis: number;
  };
  readonly metricsEveryMs: number;
}

const endpointVariables = [
  'OTEL_EXPORTER_OTLP_ENDPOINT',
  'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT',
  'OTEL_EXPORTER_OTLP_METRICS_ENDPOINT',
];
const protocolVariables = [
  'OTEL_EXPORTER_OTLP_PROTOCOL',
  'OTEL_EXPORTER_OTLP_TRACES_PROTOCOL',
  'OTEL_EXPORTER_OTLP_METRICS_PROTOCOL',
];

/** The export settings; undefined where nothing is configured. Throws a UserFault for an invalid variable. */
export function exportSettings(otel: OtelSettings | undefined, env: Environment): ExportSettings | undefined {
  const read = (name: string): string => env[name]?.trim() ?? '';
  const isAsked = otel !== undefined || endpointVariables.some((name) => read(name) !== '');
  if (!isAsked || read('OTEL_SDK_DISABLED').toLowerCase() === 'true') return undefined;
  for (const name of protocolVariables) checkProtocol(name, read(name));
  const traces = exports('OTEL_TRACES_EXPORTER', read);
  const metrics = exports('OTEL_METRICS_EXPORTER', read);
  if (!traces && !metrics) return undefined;
  const whole = (name: string, standard: number): number => wholeNumber(name, read(name)) ?? standard;
  return {
    traces,
    metrics,
    endpoint: otel?.endpoint,
    headers: otel?.headers ?? {},
    sample: samplerShare(read),
    serviceName: read('OTEL_SERVICE_NAME') || undefined,
    batch: {
      scheduledDelayMillis: whole('OTEL_BSP_SCHEDULE_DELAY', 1000),
      maxQueueSize: whole('OTEL_BSP_MAX_QUEUE_SIZE', 16_384),
      maxExportBatchSize: whole('OTEL_BSP_MAX_EXPORT_BATCH_SIZE', 512),
      exportTimeoutMillis: whole('OTEL_BSP_EXPORT_TIMEOUT', 30_000),
    },
    metricsEveryMs: whole('OTEL_METRIC_EXPORT_INTERVAL', 60_000),
  };
}

function checkProtocol(name: string, protocol: string): void {
  if (protocol === '' || protocol === 'http/protobuf') return;
  throw new UserFault(
    `${name}: "${protocol}" is not spoken here; take it out, or set http/protobuf, which collectors take at port 4318`,
  );
}

function exports(name: string, read: (name: string) => string): boolean {
  const exporter = read(name);
  if (exporter === '' || exporter === 'otlp') return true;
  if (exporter === 'none') return false;
  throw new UserFault(`${name}: "${exporter}" is not known here; set otlp or none`);
}

function samplerShare(read: (name: string) => string): number {
  const sampler = read('OTEL_TRACES_SAMPLER').replace(/^parentbased_/, '');
  if (sampler === 'always_off') return 0;
  const share = read('OTEL_TRACES_SAMPLER_ARG');
  if (sampler === 'always_on' || share === '') return 1;
  if (sampler !== '' && sampler !== 'traceidratio') {
    throw new UserFault(
      `OTEL_TRACES_SAMPLER: "${sampler}" is not known here; set always_on, always_off or traceidratio`,
    );
  }
  const number = Number(share);
  if (number >= 0 && number <= 1) return number;
  throw new UserFault(`OTEL_TRACES_SAMPLER_ARG: "${share}" is no number from 0 to 1`);
}

const largest = 2 ** 31 - 1;

function wholeNumber(name: string, text: string): number | undefined {
  if (text === '') return undefined;
  const number = Number(text);
  if (Number.isInteger(number) && number > 0 && number <= largest) return number;
  throw new UserFault(`${name}: "${text}" is no whole number from 1 to ${largest}`);
}
