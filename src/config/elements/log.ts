/** The sections `log`, `metrics` and `otel`: what is written to the log, of whom it is counted, and where traces and metrics go. */

import * as z from 'zod';
import {
  type LogSettings,
  logFields,
  logFormats,
  logLevels,
  type MetricSettings,
  type OtelSettings,
} from '../../core/snapshot.ts';
import { atStart, duration, filePath, fraction, is, list, mapping, oneOf, ownId, text } from './fields.ts';

const sampled = mapping({
  sample: fraction().default(0).meta(is('Which share of the others.')),
  slow: duration()
    .optional()
    .meta(is('And those that took at least so long.', { kind: 'time', defaultText: 'none' })),
});

const accessWords = ['all', 'errors', 'off'] as const;

export const logSchema = mapping({
  level: oneOf(logLevels).default('info').meta(is('The least that is written.')),
  format: oneOf(logFormats)
    .default('json')
    .meta(is('A line of JSON, or of text for people.', { restart: atStart(({ log }) => log.format) })),
  fields: oneOf(logFields)
    .default('postern')
    .meta(
      is(
        "What the fields of a line of JSON are called: our own names, those of Elastic's schema, or of Google Cloud's.",
        {
          restart: atStart(({ log }) => log.fields),
        },
      ),
    ),
  access: z
    .union([oneOf(accessWords), sampled], {
      error: `one of ${accessWords.join(', ')}, or a mapping with sample and slow`,
    })
    .default('all')
    .meta(
      is('Of which requests a line is written: all, those that failed, or none; with a mapping those that failed and', {
        kind: '`all`, `errors`, `off` or mapping',
      }),
    ),
  file: filePath()
    .optional()
    .meta(
      is('The file that is written to. It is opened anew at `SIGHUP` and `SIGUSR2`, so that it can be moved away.', {
        kind: 'file',
        defaultText: 'standard output',
        restart: atStart(({ log }) => log.file),
      }),
    ),
});

const shares = { all: 1, errors: 0, off: 0 } as const;

export function toLogSettings({ access, file, ...rest }: z.output<typeof logSchema>): LogSettings {
  const rule =
    typeof access === 'string'
      ? { errors: access !== 'off', share: shares[access], slowMs: undefined }
      : { errors: true, share: access.sample, slowMs: access.slow };
  return Object.freeze({ ...rest, file, access: Object.freeze(rule) });
}

/** Each is five series more. */
const mostNamed = 1_000;
const named = (what: string) =>
  list(ownId(), `a list of IDs of ${what}`)
    .max(mostNamed, { error: `${mostNamed} at most` })
    .default([])
    .meta(
      is(`The ${what} of which requests, tokens and cost are counted, each under a label of its own.`, {
        kind: 'list of IDs',
      }),
    );

export const metricsSchema = mapping({ keys: named('keys'), projects: named('projects') });

export function toMetricSettings({ keys, projects }: z.output<typeof metricsSchema>): MetricSettings {
  return Object.freeze({ keys: new Set(keys), projects: new Set(projects) });
}

export const otelSchema = mapping({
  endpoint: text('an http:// or https:// URL', /^https?:\/\/[^/\\\s][^\\\s]*$/i)
    .refine((url) => URL.canParse(url), { error: 'a valid URL' })
    .optional()
    .meta(
      is('Where the collector takes OTLP over HTTP; `/v1/traces` and `/v1/metrics` are put behind it.', {
        kind: 'URL',
        secret: true,
        defaultText: '`OTEL_EXPORTER_OTLP_ENDPOINT`, else `http://localhost:4318`',
        restart: atStart(({ otel }) => otel?.endpoint),
      }),
    ),
  headers: z
    .record(z.string(), z.string({ error: 'text' }).meta({ secret: true }), {
      error: 'a mapping of header names to values',
    })
    .default({})
    .meta(
      is('Sent with every export, such as the key of a service that takes traces.', {
        kind: 'names to values',
        restart: atStart(({ otel }) => JSON.stringify(otel?.headers)),
      }),
    ),
  sample: fraction()
    .optional()
    .meta(
      is(
        'Which share of requests is traced: of those that belong to no trace, and at most of those whose client has them traced.',
        { defaultText: '`OTEL_TRACES_SAMPLER_ARG`, else 1' },
      ),
    ),
  keys: list(ownId(), 'a list of IDs of keys')
    .default([])
    .meta(
      is('The keys whose clients may have each of their requests traced, whatever `sample` says.', {
        kind: 'list of IDs',
      }),
    ),
});

export function toOtelSettings({ keys, headers, ...rest }: z.output<typeof otelSchema>): OtelSettings {
  return Object.freeze({
    endpoint: rest.endpoint,
    sample: rest.sample,
    headers: Object.freeze(headers),
    keys: new Set(keys),
  });
}
