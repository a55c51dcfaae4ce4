/** Defines the schema of an element of `upstreams`. */

import * as z from 'zod';
import { screens } from '../../../core/snapshot.ts';
import { budgetsField, rateFields } from '../caps.ts';
import {
  addressList,
  duration,
  filePath,
  fromEnvironment,
  headers,
  list,
  mapping,
  notes,
  oneOf,
  ownId,
  share,
  text,
  urlPath,
  wantedCredential,
  wholeNumber,
} from '../fields.ts';
import { plainFields } from './settings.ts';

/** The credential as text, mostly one word; it is validated once the family is known. */
const apiKey = () =>
  text(wantedCredential, /^[^\0]+$/)
    .optional()
    .describe(`The credential, or a document such as the JSON of a service account. ${fromEnvironment}`)
    .meta({ secret: true });

const apiKeyFile = () => filePath().optional().describe('File with the credential; watched for changes.');

const pemFile = (description: string) => filePath().optional().describe(description);

export const wantedEndpoint =
  'a host or an address, and a port where it is another, such as 10.0.0.7:8080 or [fd00::7]:8080';
const endpointPattern = /^(?:\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)(?::[1-9]\d{0,4})?$/;

const time = (description: string, defaultText: string) =>
  duration().optional().describe(description).meta({ defaultText });

export const upstreamSchema = mapping({
  id: ownId().describe('ID of the upstream.'),
  family: text('the name of a family')
    .describe('Kind of service; see [families](families.md).')
    .meta({ kind: 'family' }),
  base_url: z
    .string({ error: 'an http or https URL, or unix: and the path of a socket' })
    .optional()
    .describe('Base URL with its version path; in this file also a unix socket, `unix:/path/to.sock:/v1`.')
    .meta({ secret: true, kind: 'URL', defaultText: "the family's own" }),
  api_key: apiKey(),
  api_key_file: apiKeyFile(),
  credentials: list(
    mapping({
      api_key: apiKey(),
      api_key_file: apiKeyFile(),
      weight: wholeNumber(0, 1_000_000).default(1).describe('Share of the calls. 0: never used.'),
    }),
  )
    .min(1, { error: 'at least one' })
    .optional()
    .describe('Several credentials instead of one.'),
  headers: headers()
    .describe('Headers added to every call. A header with the name of the credential header replaces the credential.')
    .meta({ kind: 'names to values' }),
  forward_headers: list(text('the name of a header'), 'a list of header names')
    .default([])
    .describe('Client headers that are forwarded, beside the standard ones.'),
  response_headers: list(text('the name of a header, or its beginning and a *'), 'a list of header names')
    .min(1, { error: 'at least one; content-type alone where nothing else may pass' })
    .optional()
    .describe(
      'Response headers that may pass; `*` at the end is a wildcard. `content-type`, `content-encoding`, `retry-after` and framing always pass.',
    )
    .meta({ defaultText: 'all but those that never do' }),
  timeouts: mapping({
    connect: time('To open a connection.', '`2s`'),
    first_byte: time('From the last request byte sent to the first response header byte.', '`60s`; completions `600s`'),
    idle: time('Between later bytes.', '`60s`'),
    total: time('For the whole call.', '`300s`; completions `900s`'),
  })
    .prefault({})
    .describe('Timeouts of calls. A set value applies to every operation.'),
  limits: mapping({
    concurrency: z
      .union([wholeNumber(1, 1_000_000), oneOf(['auto'])], { error: 'auto, or a whole number from 1 to 1000000' })
      .default(256)
      .describe(
        'Concurrent calls and connections, over all workers (with `redis`, all nodes). `auto`: learned from latency and refusals.',
      )
      .meta({ kind: 'integer or `auto`' }),
    min_concurrency: wholeNumber(1, 1_000_000)
      .optional()
      .describe('With `concurrency: auto`: the smallest limit, per process.')
      .meta({ defaultText: '2' }),
    max_concurrency: wholeNumber(1, 1_000_000)
      .optional()
      .describe('With `concurrency: auto`: the largest limit, over all workers and nodes.')
      .meta({ defaultText: '256' }),
    queue: wholeNumber(0, 1_000_000).default(256).describe('Calls of each lane that may wait, per process.'),
    queue_timeout: time('How long an interactive call may wait; bulk waits until its deadline.', '`5s`'),
    bulk_share: share(1, 90)
      .default({ percent: 10 })
      .describe('Least share of bulk while interactive calls wait.')
      .meta({ defaultText: '10%' }),
    ...rateFields,
  })
    .prefault({})
    .describe('Concurrency, queue and rate limits.'),
  pace: duration(10, 3_600_000)
    .optional()
    .describe('How long a call may wait for a rate limit of the upstream, instead of a 429.')
    .meta({ defaultText: 'not at all' }),
  budgets: budgetsField(),
  tls: mapping({
    ca: pemFile("PEM file of trusted CAs, instead of the system's."),
    cert: pemFile('PEM file of the client certificate chain.'),
    key: pemFile('PEM file of its private key.'),
    server_name: text('a host name', /^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$/)
      .optional()
      .describe('Server name (SNI) that the certificate must have.')
      .meta({ kind: 'host name', defaultText: 'the host of `base_url`' }),
  })
    .optional()
    .describe('TLS settings. Files are watched for changes.'),
  health_check: mapping({
    path: urlPath()
      .describe('Path at the host of `base_url`. A status below 300 is healthy.')
      .meta({ kind: 'path', secret: true }),
    interval: duration(100).prefault('10s').describe('Interval.'),
    timeout: time('Timeout.', '`2s`'),
  })
    .optional()
    .describe('Periodic health check. Off by default.'),
  endpoints: z
    .union(
      [oneOf(['dns', 'srv', 'off']), list(text(wantedEndpoint, endpointPattern)).min(1, { error: 'at least one' })],
      {
        error: 'dns, srv, off, or a list of addresses',
      },
    )
    .optional()
    .describe(
      'The addresses of the upstream, each with its own connections and health: looked up by name or SRV, or a list.',
    )
    .meta({
      kind: '`dns`, `srv`, `off` or list of addresses',
      defaultText: '`dns` if the host has several private addresses',
    }),
  endpoint_zone: addressList().default([]).describe('Preferred endpoints, such as the subnets of this zone.'),
  legacy_engines: oneOf(['native', 'lift'])
    .default('lift')
    .describe('Whether the upstream serves `/engines/{model}/embeddings` itself, or the model is moved into the body.'),
  base64: oneOf(['pass', 'convert']).default('pass').describe('`convert`: base64 vectors are made here from floats.'),
  screen: oneOf(screens)
    .default('all')
    .describe("Which responses are searched for the upstream's credentials: `all`, or only `errors`."),
  options: z
    .record(z.string(), z.union([z.string(), z.number()], { error: 'text or a number' }).transform(String), {
      error: 'a mapping of options to values',
    })
    .default({})
    .describe('Options of the [family](families.md).')
    .meta({ kind: 'options to values' }),
  metadata: notes,
  ...plainFields,
});

export type UpstreamEntry = z.output<typeof upstreamSchema>;
