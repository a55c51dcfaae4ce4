/** The section `otel`: where traces and metrics go. */

import * as z from 'zod';
import type { OtelSettings } from '../../core/snapshot.ts';
import { atStart, fraction, is, list, mapping, ownId, text } from './fields.ts';

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
