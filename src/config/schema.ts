/** The configuration file, key by key: validation, JSON Schema and the reference in the documents all derive from this. */

import * as z from 'zod';
import { operations } from '../core/operation.ts';
import {
  credential,
  duration,
  type FieldFacts,
  filePath,
  flag,
  instant,
  list,
  mapping,
  modelName,
  oneOf,
  ownId,
  size,
  text,
  wholeNumber,
} from './fields.ts';

const is = (
  description: string,
  facts: Omit<FieldFacts, 'description'> = {},
): FieldFacts & Record<string, unknown> => ({
  description,
  ...facts,
});

const fromEnvironment = `Best taken from the environment, as in \`\${NAME}\`.`;

/** For keys whose inner shape belongs to a later version. */
const later = (description: string) =>
  z
    .unknown()
    .optional()
    .meta(is(description, { inForce: false, kind: 'any' }));

const operationList = () =>
  list(oneOf(operations), `a list of ${operations.join(', ')}`).min(1, { error: 'at least one' });

const addressList = () => list(text('an IP address or a CIDR range'), 'a list of IP addresses and CIDR ranges');

const server = mapping({
  host: text('a host name or an IP address', /^[^\s/]+$/)
    .default('127.0.0.1')
    .meta(is('The address to listen on. `0.0.0.0` listens on every interface.', { kind: 'host name or address' })),
  port: wholeNumber(0, 65_535).default(4000).meta(is('The port to listen on; 0 takes any free one.')),
  base_path: z
    .string({ error: 'a path such as /ai, or nothing' })
    .default('')
    .meta(is('Put before every route: `/ai` puts the routes at `/ai/v1/...`.', { kind: 'path' })),
  body_limit: size(1024, 1024 ** 3)
    .prefault('32MiB')
    .meta(is('The largest request body, before and after decompression.', { kind: 'size' })),
  workers: z
    .union([wholeNumber(1, 1024), z.literal('auto')], { error: 'a whole number from 1 to 1024, or auto' })
    .default(1)
    .meta(
      is('How many processes serve. This version runs one: more are refused, and `auto` means one.', {
        kind: 'number or `auto`',
      }),
    ),
  drain: mapping({
    delay: duration(0)
      .prefault('0s')
      .meta(
        is('How long to go on accepting after the signal to stop, while `/readyz` already says no.', { kind: 'time' }),
      ),
    deadline: duration(0)
      .prefault('30s')
      .meta(is('How long running exchanges may take to end after that; what is left is cut.', { kind: 'time' })),
  })
    .prefault({})
    .meta(is('What happens between the signal to stop and the end of the process.')),
  tls: mapping({
    cert: filePath().meta(is('The PEM file with the certificate chain.', { kind: 'file' })),
    key: filePath().meta(is('The PEM file with the private key.', { kind: 'file' })),
  })
    .optional()
    .meta(is('Serve HTTPS instead of HTTP.')),
  trusted_proxies: addressList()
    .default([])
    .meta(
      is('Proxies whose `X-Forwarded-For` is believed: IP addresses and CIDR ranges. None by default.', {
        kind: 'list of addresses',
      }),
    ),
  cors: mapping({
    origins: list(text('an origin such as https://app.example.com, or *'), 'a list of origins')
      .default([])
      .meta(is('The origins whose pages may call from a browser; `*` means any.', { kind: 'list of origins' })),
  })
    .prefault({})
    .meta(is('Calls from web pages of other origins. Off by default.')),
  diagnostics: flag().default(true).meta(is('Whether answers carry `x-postern-*` and `server-timing`.')),
  timeouts: mapping({
    headers: duration()
      .prefault('10s')
      .meta(is('How long a client may take to send its request headers.', { kind: 'time' })),
    request: duration()
      .prefault('60s')
      .meta(is('How long a client may take to send the whole request.', { kind: 'time' })),
    keep_alive: duration()
      .prefault('75s')
      .meta(
        is('How long an idle connection stays open. Keep it longer than that of a load balancer in front.', {
          kind: 'time',
        }),
      ),
  })
    .prefault({})
    .meta(is('The patience with clients.')),
  max_connections: wholeNumber(1, 1_000_000)
    .default(10_000)
    .meta(is('Connections at a time; further ones are closed at once.')),
  max_header_size: size(1024, 1024 ** 2)
    .prefault('32KiB')
    .meta(is('The largest set of request headers.', { kind: 'size' })),
  log_client_address: flag().default(false).meta(is("Whether log lines name the client's address.")),
});

const consoleSettings = mapping({
  host: text('a host name or an IP address', /^[^\s/]+$/)
    .default('127.0.0.1')
    .meta(is('The address that the console listens on.', { kind: 'host name or address' })),
  port: wholeNumber(0, 65_535).default(4001).meta(is('The port that the console listens on.')),
});

const apiKey = () =>
  credential()
    .optional()
    .meta(is(`The key to send upstream. ${fromEnvironment}`, { secret: true }));

const apiKeyFile = () =>
  filePath()
    .optional()
    .meta(is('A file that holds the key to send upstream. It is watched for changes.', { kind: 'file' }));

export const upstreamSchema = mapping({
  id: ownId().meta(is('The name of the upstream, for targets, logs and headers.')),
  family: text('the name of a family').meta(
    is('What kind of service it is, and so how it is spoken to.', { kind: 'family' }),
  ),
  base_url: z
    .string({ error: 'an http or https URL' })
    .optional()
    .meta(
      is('Where it is, up to and including its version path.', {
        secret: true,
        kind: 'URL',
        defaultText: "the family's own",
      }),
    ),
  api_key: apiKey(),
  api_key_file: apiKeyFile(),
  credentials: list(
    mapping({
      api_key: apiKey(),
      api_key_file: apiKeyFile(),
      weight: wholeNumber(0, 1_000_000).default(1).meta(is('Its share of the calls, beside the other credentials.')),
    }),
  )
    .min(1, { error: 'at least one' })
    .optional()
    .meta(is('Several keys instead of one. This version uses the first.')),
  headers: z
    .record(z.string(), z.string({ error: 'text' }).meta({ secret: true }), {
      error: 'a mapping of header names to values',
    })
    .default({})
    .meta(
      is('Sent with every call. One that is named like the credential header replaces it.', {
        kind: 'names to values',
      }),
    ),
  forward_headers: list(text('the name of a header'), 'a list of header names')
    .default([])
    .meta(
      is('Client headers to let through, by name, beside those that always pass.', { kind: 'list of header names' }),
    ),
  timeouts: mapping({
    connect: duration()
      .optional()
      .meta(is('To open a connection.', { kind: 'time', defaultText: '`2s`' })),
    first_byte: duration()
      .optional()
      .meta(
        is('From the last request byte sent to the first response header byte.', {
          kind: 'time',
          defaultText: '`60s`; completions `600s`',
        }),
      ),
    idle: duration()
      .optional()
      .meta(is('Between later bytes.', { kind: 'time', defaultText: '`60s`' })),
    total: duration()
      .optional()
      .meta(is('For the whole call.', { kind: 'time', defaultText: '`300s`; completions `900s`' })),
  })
    .prefault({})
    .meta(is('The patience with the upstream. A value that is set holds for every operation.')),
  limits: mapping({
    concurrency: wholeNumber(1, 1_000_000).default(256).meta(is('Calls at a time.')),
    queue: wholeNumber(0, 1_000_000).default(256).meta(is('Calls that may wait for their turn.')),
  })
    .optional()
    .meta(is('How much is sent at a time.', { inForce: false })),
  legacy_engines: oneOf(['native', 'lift'])
    .default('lift')
    .meta(
      is(
        'Whether the upstream speaks `/engines/{model}/embeddings` itself, or the model is lifted into the body for it.',
      ),
    ),
  base64: oneOf(['pass', 'convert'])
    .default('pass')
    .meta(is('Whether vectors are converted to the `encoding_format` that was asked for.', { inForce: false })),
});

const targetSchema = mapping({
  upstream: ownId().meta(is('The ID of the upstream.')),
  model: modelName()
    .optional()
    .meta(
      is("The upstream's name for the model; `*` in it stands for what the pattern matched.", {
        defaultText: "the model's ID",
      }),
    ),
  priority: wholeNumber(0, 1_000_000)
    .default(0)
    .meta(is('Lower is tried first. This version uses the first target only.')),
  weight: wholeNumber(0, 1_000_000).default(1).meta(is('Its share of the calls among targets of the same priority.')),
  unsupported: later('What to do with parameters that the upstream has no name for.'),
  defaults: later('Parameters that a translated request gains where the client sent none.'),
  bridge: later('Serving one operation by means of another.'),
});

export const modelSchema = mapping({
  id: modelName().meta(is('The name that clients use. One `*` makes it a pattern: `gpt-*`.')),
  aliases: list(modelName(), 'a list of names')
    .default([])
    .meta(is('Further names for the same model.', { kind: 'list of names' })),
  operations: operationList()
    .optional()
    .meta(is('What the model serves.', { kind: 'list of operations', defaultText: 'what the family offers' })),
  visible: flag()
    .default(true)
    .meta(is('Whether lists show it. A hidden model does not answer on the rerank and embeddings routes.')),
  space: modelName()
    .optional()
    .meta(is('The vector space of its embeddings, the same for every target.', { defaultText: "the target's model" })),
  accepts_messages: flag()
    .default(false)
    .meta(is("Whether vLLM's `messages` may stand in for `input` on the embeddings route.")),
  targets: list(targetSchema).min(1, { error: 'at least one' }).meta(is('Who serves it.')),
  balance: later('How calls are shared among targets.'),
  retry: later('When another target is tried after a failure.'),
  hedge: later('Sending a slow call to a second target.'),
  cache: later('Answering repeated items without a call.'),
  coalesce: later('Joining small calls into one.'),
  price: later('What the model costs.'),
});

export const keySchema = mapping({
  id: ownId().meta(is('The name of the key, for lists and logs.')),
  secret: text('at least 24 visible ASCII characters, without spaces', /^[\x21-\x7e]{24,512}$/).meta(
    is(`What the client sends. ${fromEnvironment}`, { secret: true }),
  ),
  models: list(modelName(), 'a list of model IDs')
    .default(['*'])
    .meta(is('The models it may use, by public ID; each may hold one `*`.', { kind: 'list of IDs' })),
  operations: operationList()
    .optional()
    .meta(is('The operations it may use.', { kind: 'list of operations', defaultText: 'all' })),
  addresses: addressList()
    .optional()
    .meta(
      is('Where it may be used from: IP addresses and CIDR ranges.', {
        kind: 'list of addresses',
        defaultText: 'anywhere',
      }),
    ),
  expires: instant()
    .optional()
    .meta(
      is('When it ends: a date (the beginning of that day in UTC) or a time with its zone.', {
        kind: 'date or time',
        defaultText: 'never',
      }),
    ),
});

const defaultFor = () =>
  modelName()
    .optional()
    .meta(is('The model to use where the client names none.', { kind: 'model' }));

const defaultModel = mapping({
  completions: defaultFor(),
  edits: defaultFor(),
  rerank: defaultFor(),
  moderations: defaultFor(),
  embeddings: defaultFor(),
} satisfies Record<(typeof operations)[number], unknown>);

const anything = list(z.unknown()).default([]);

/** Everything but what is inside the three lists, whose elements are judged one by one. */
export const settingsSchema = mapping({
  $schema: z.string({ error: 'text' }).optional().meta(is('Where editors find the schema of this file.')),
  server: server.prefault({}).meta(is('The gateway itself.')),
  console: consoleSettings.prefault({}).meta(is('The web console.', { inForce: false })),
  store: text('sqlite:<path of the database file>')
    .default('sqlite:data/postern.db')
    .meta(is('Where keys are kept: `sqlite:` and a path.', { secret: true })),
  redis: text('a redis:// or rediss:// URL', /^rediss?:\/\/\S+$/)
    .optional()
    .meta(is('Limits and caches that all nodes share.', { inForce: false, secret: true, kind: 'URL' })),
  upstreams: anything,
  models: anything,
  keys: anything,
  default_model: defaultModel
    .prefault({})
    .meta(is('The model of each operation for requests that name none. Off by default.')),
});

export const configurationSchema = settingsSchema.extend({
  upstreams: list(upstreamSchema).default([]).meta(is('The services that calls go to.')),
  models: list(modelSchema).default([]).meta(is('What clients may ask for, and who serves it.')),
  keys: list(keySchema)
    .default([])
    .meta(is('The keys that clients come with. Further ones are made with `postern keys create`.')),
});

export type Settings = z.output<typeof settingsSchema>;
export type UpstreamEntry = z.output<typeof upstreamSchema>;
export type TargetEntry = z.output<typeof targetSchema>;
export type ModelEntry = z.output<typeof modelSchema>;
export type KeyEntry = z.output<typeof keySchema>;
