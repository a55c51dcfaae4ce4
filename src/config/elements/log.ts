/** Defines and compiles the `log`, `metrics` and `otel` sections: log output, labels of metrics, and export of traces and metrics. */

import * as z from 'zod';
import {
  type LogSettings,
  logFields,
  logFormats,
  logLevels,
  type MetricSettings,
  type OtelSettings,
} from '../../core/snapshot.ts';
import { atStart, duration, filePath, fraction, headers, list, mapping, oneOf, ownId, url } from './fields.ts';

const sampled = mapping({
  sample: fraction().default(0).describe('Also logs a random share of the other requests.'),
  slow: duration().optional().describe('Also logs requests that took this long.').meta({ defaultText: 'none' }),
});

const accessWords = ['all', 'errors', 'off'] as const;

export const logSchema = mapping({
  level: oneOf(logLevels).default('info').describe('Minimum level.'),
  format: oneOf(logFormats)
    .default('json')
    .describe('JSON lines, or text for people.')
    .meta({ restart: atStart(({ log }) => log.format) }),
  fields: oneOf(logFields)
    .default('postern')
    .describe("Field names: Postern's, Elastic's schema, or Google Cloud's.")
    .meta({ restart: atStart(({ log }) => log.fields) }),
  access: z
    .union([oneOf(accessWords), sampled], {
      error: `one of ${accessWords.join(', ')}, or a mapping with sample and slow`,
    })
    .default('all')
    .describe('Which requests are logged: all, failed ones, or none. A mapping logs the failed ones and others.')
    .meta({ kind: '`all`, `errors`, `off` or mapping' }),
  file: filePath()
    .optional()
    .describe('The log file. Reopened at `SIGHUP` and `SIGUSR2`.')
    .meta({ defaultText: 'standard output', restart: atStart(({ log }) => log.file) }),
});

const shares = { all: 1, errors: 0, off: 0 } as const;

export function toLogSettings({ access, file, ...rest }: z.output<typeof logSchema>): LogSettings {
  const rule =
    typeof access === 'string'
      ? { errors: access !== 'off', share: shares[access], slowMs: undefined }
      : { errors: true, share: access.sample, slowMs: access.slow };
  return Object.freeze({ ...rest, file, access: Object.freeze(rule) });
}

/** Limit of names with a metric label of their own: each one adds five series. */
const mostNamed = 1_000;
const named = (what: string) =>
  list(ownId(), `a list of IDs of ${what}`)
    .max(mostNamed, { error: `${mostNamed} at most` })
    .default([])
    .describe(`The ${what} with a label of their own.`);

export const metricsSchema = mapping({ keys: named('keys'), projects: named('projects') });

export function toMetricSettings({ keys, projects }: z.output<typeof metricsSchema>): MetricSettings {
  return Object.freeze({ keys: new Set(keys), projects: new Set(projects) });
}

export const otelSchema = mapping({
  endpoint: url('an http:// or https:// URL', /^https?:\/\/[^/\\\s][^\\\s]*$/i)
    .optional()
    .describe('OTLP endpoint over HTTP; `/v1/traces` and `/v1/metrics` are appended.')
    .meta({
      kind: 'URL',
      secret: true,
      defaultText: '`OTEL_EXPORTER_OTLP_ENDPOINT`, else `http://localhost:4318`',
      restart: atStart(({ otel }) => otel?.endpoint),
    }),
  headers: headers()
    .describe("Headers of each export, such as a service's key.")
    .meta({ kind: 'names to values', restart: atStart(({ otel }) => JSON.stringify(otel?.headers)) }),
  sample: fraction()
    .optional()
    .describe('Share of requests that are traced: of those without a `traceparent`, and at most of those with one.')
    .meta({ defaultText: '`OTEL_TRACES_SAMPLER_ARG`, else 1' }),
  keys: list(ownId(), 'a list of IDs of keys').default([]).describe('Keys whose clients may trace every request.'),
});

export function toOtelSettings(otel: z.output<typeof otelSchema>): OtelSettings {
  return Object.freeze({ ...otel, keys: new Set(otel.keys) });
}
