/** The configuration file, key by key: validation, JSON Schema and the reference in the documents all derive from this. */

import * as z from 'zod';
import type { operations } from '../../core/operation.ts';
import {
  addressList,
  duration,
  filePath,
  flag,
  is,
  list,
  mapping,
  modelName,
  oneOf,
  share,
  size,
  text,
  wholeNumber,
} from './fields.ts';
import { keySchema } from './key/schema.ts';
import { modelSchema } from './model/schema.ts';
import { alertsSchema, consoleSchema, ledgerSchema } from './operation-schema.ts';
import { projectSchema } from './project/schema.ts';
import { upstreamSchema } from './upstream/schema.ts';

const account = (whose: string, wants: string) =>
  z
    .union([wholeNumber(0, 2 ** 32 - 2), text(wants, /^[^\s:]{1,64}$/)], { error: wants })
    .optional()
    .meta(is(`${whose}, by name or number, where this process may give it away.`, { kind: 'name or number' }));

const socketSchema = mapping({
  path: filePath().meta(is('Where its file is, from the root; 103 bytes at most.', { kind: 'path' })),
  mode: text("three octal digits in quotes, such as '0660'", /^0?[0-7]{3}$/)
    .default('0600')
    .meta(is('Who may read and write it; a client needs to write.', { kind: 'octal text' })),
  owner: account('The user that it belongs to', 'the name of a user, or a number'),
  group: account('The group that it belongs to', 'the name of a group, or a number'),
  trusted: flag()
    .default(false)
    .meta(is('Whether whoever comes by it is a proxy whose `X-Forwarded-For` is believed.')),
})
  .optional()
  .meta(is('A unix-domain socket to listen on, without TLS, beside the port or instead of it.'));

const server = mapping({
  host: text('a host name or an IP address', /^[^\s/]+$/)
    .optional()
    .meta(
      is('The address to listen on. `0.0.0.0` listens on every interface.', {
        kind: 'host name or address',
        defaultText: '`127.0.0.1`',
      }),
    ),
  port: wholeNumber(0, 65_535)
    .optional()
    .meta(
      is('The port to listen on; 0 takes any free one. With `socket`, none where neither it nor `host` is written.', {
        defaultText: '`4000`',
      }),
    ),
  socket: socketSchema,
  base_path: z
    .string({ error: 'a path such as /ai, or nothing' })
    .default('')
    .meta(is('Put before every route: `/ai` puts the routes at `/ai/v1/...`.', { kind: 'path' })),
  body_limit: size(1024, 1024 ** 3)
    .prefault('32MiB')
    .meta(is('The largest request body, before and after decompression.', { kind: 'size' })),
  body_memory: z
    .union([size(2048, 1024 ** 4), share(1)], {
      error: 'a size from 2KiB to 1024GiB, or a percentage from 1% to 100%',
    })
    .optional()
    .meta(
      is(
        'How much memory the request bodies in flight may hold together, and as much again for answers that are translated; at least two of `body_limit`. A percentage is of what the process may use, divided by `workers`.',
        { kind: 'size or percentage', defaultText: 'an eighth of it, or two of `body_limit`' },
      ),
    ),
  body_wait: duration(0, 600_000)
    .prefault('5s')
    .meta(
      is('How long a request may wait for room in it; half of `timeouts.request` at most.', {
        kind: 'time',
      }),
    ),
  workers: z
    .union([wholeNumber(1, 1024), z.literal('auto')], { error: 'a whole number from 1 to 1024, or auto' })
    .default(1)
    .meta(
      is(
        'How many processes serve; `auto`: as many as there are processors. They share limits; several machines want `redis` for that.',
        {
          kind: 'number or `auto`',
        },
      ),
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
  max_connections_per_address: wholeNumber(1, 1_000_000)
    .optional()
    .meta(
      is(
        'Connections at a time from one address (IPv6: its /64); further ones are closed at once. Off by default; `trusted_proxies` are never counted.',
      ),
    ),
  max_header_size: size(1024, 1024 ** 2)
    .prefault('32KiB')
    .meta(is('The largest set of request headers.', { kind: 'size' })),
  half_close: oneOf(['leave', 'answer'])
    .default('leave')
    .meta(
      is(
        'What it means that a client ends its side of the connection behind a request: that it has left, or that it waits for the answer.',
      ),
    ),
  shedding: mapping({
    loop_delay: duration(10, 60_000)
      .prefault('500ms')
      .meta(is('How far the process may fall behind with its work.', { kind: 'time' })),
    memory: z
      .union([size(64 * 1024 ** 2, 1024 ** 4), share(10)], {
        error: 'a size from 64MiB to 1024GiB, or a percentage from 10% to 100%',
      })
      .prefault('85%')
      .meta(
        is('How much memory the process may hold; a percentage is of what its container or the machine has.', {
          kind: 'size or percentage',
        }),
      ),
  })
    .prefault({})
    .meta(is('Beyond these, new requests are refused before the process suffers.')),
  log_client_address: flag().default(false).meta(is("Whether log lines name the client's address.")),
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

export const standardStore = 'sqlite:data/postern.db';

/** Everything but what is inside the three lists, whose elements are judged one by one. */
export const settingsSchema = mapping({
  $schema: z.string({ error: 'text' }).optional().meta(is('Where editors find the schema of this file.')),
  server: server.prefault({}).meta(is('The gateway itself.')),
  console: consoleSchema.prefault({}).meta(is('The listener for operators: metrics, and the console.')),
  store: text('sqlite:<path of the database file>, or a postgres:// URL')
    .default(standardStore)
    .meta(
      is('Where keys, budgets and the ledger are kept: `sqlite:` and a path, or the URL of a PostgreSQL database.', {
        secret: true,
      }),
    ),
  redis: text('a redis:// or rediss:// URL', /^rediss?:\/\/[^/\s]\S*$/)
    .optional()
    .meta(
      is('The URL of Redis or Valkey, where limits are counted for all nodes together.', { secret: true, kind: 'URL' }),
    ),
  redis_deadline: duration(1, 10_000)
    .prefault('30ms')
    .meta(
      is(
        'How long a decision about limits waits for Redis; then the process decides by what it knows. Longer than the usual answer over your network.',
        { kind: 'time' },
      ),
    ),
  ledger: ledgerSchema.prefault({}).meta(is('Who asked for what, and what it cost.')),
  alerts: alertsSchema.prefault({}).meta(is('Where operators are told of budgets that run out, beside the log.')),
  upstream_addresses: mapping({
    allow: addressList()
      .default([])
      .meta(is('Ranges admitted beyond the standard, such as `100.64.0.0/10`.', { kind: 'list of addresses' })),
    deny: addressList()
      .default([])
      .meta(is('Ranges refused, whatever else is said.', { kind: 'list of addresses' })),
  })
    .prefault({})
    .meta(
      is(
        'Where upstreams of the store may be, as IP addresses and CIDR ranges; those of this file may be anywhere. See [upstream-addresses.md](upstream-addresses.md).',
      ),
    ),
  upstreams: anything,
  models: anything,
  projects: anything,
  keys: anything,
  default_model: defaultModel
    .prefault({})
    .meta(is('The model of each operation for requests that name none. Off by default.')),
});

export const configurationSchema = settingsSchema.extend({
  upstreams: list(upstreamSchema).default([]).meta(is('The services that calls go to.')),
  models: list(modelSchema).default([]).meta(is('What clients may ask for, and who serves it.')),
  projects: list(projectSchema)
    .default([])
    .meta(is('What several keys have in common: limits and budgets for all of them.')),
  keys: list(keySchema)
    .default([])
    .meta(is('The keys that clients come with. Further ones are made with `postern keys create`.')),
});

export type Settings = z.output<typeof settingsSchema>;
