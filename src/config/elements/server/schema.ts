/** The section `server`, key by key. */

import * as z from 'zod';
import {
  addressList,
  atStart,
  duration,
  filePath,
  flag,
  is,
  list,
  mapping,
  oneOf,
  share,
  size,
  text,
  wholeNumber,
} from '../fields.ts';

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
  .meta(
    is('A unix-domain socket to listen on, without TLS, beside the port or instead of it.', {
      restart: atStart(({ server }) => JSON.stringify(server.socket)),
    }),
  );

export const serverSchema = mapping({
  host: text('a host name or an IP address', /^[^\s/]+$/)
    .optional()
    .meta(
      is('The address to listen on. `0.0.0.0` listens on every interface.', {
        kind: 'host name or address',
        defaultText: '`127.0.0.1`',
        restart: atStart(({ server }) => server.host),
      }),
    ),
  port: wholeNumber(0, 65_535)
    .optional()
    .meta(
      is('The port to listen on; 0 takes any free one. With `socket`, none where neither it nor `host` is written.', {
        defaultText: '`4000`',
        restart: atStart(({ server }) => server.port),
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
  upload_limit: size(1024, 16 * 1024 ** 3)
    .prefault('256MiB')
    .meta(is('The largest form (`multipart/form-data`), all its files together.', { kind: 'size' })),
  upload_disk: size(1024, 1024 ** 4)
    .optional()
    .meta(
      is(
        'How much of the disk forms in flight may take together, in each process; at least `upload_limit`. What is longer than 1 MiB waits there until it is answered.',
        { kind: 'size', defaultText: 'four of `upload_limit`' },
      ),
    ),
  upload_directory: filePath()
    .default('data/uploads')
    .meta(
      is('Where they wait; in files without a name, which nobody else can open.', {
        kind: 'directory',
        restart: atStart(({ server }) => server.uploadDirectory),
      }),
    ),
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
          restart: atStart(({ server }) => server.workers),
        },
      ),
    ),
  drain: mapping({
    delay: duration(0)
      .optional()
      .meta(
        is(
          'How long to go on accepting after the signal to stop, while `/readyz` already says no. A second signal ends it.',
          { kind: 'time', defaultText: '`5s` in Kubernetes (`KUBERNETES_SERVICE_HOST` is set), else `0s`' },
        ),
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
    .meta(
      is('Serve HTTPS instead of HTTP.', {
        restart: atStart(
          ({ server }) => server.tls !== undefined,
          'Switched on or off by a restart; renewed files are taken up without.',
        ),
      }),
    ),
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
  reveal_models: flag()
    .default(false)
    .meta(
      is(
        'Whether a request for a model that its key may not use is told so (403), in place of an unknown model (404).',
      ),
    ),
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
    .meta(
      is(
        'Connections at a time. Beyond them, the longest idle connection is closed for each new one; where none is idle, the new one is closed.',
      ),
    ),
  max_connections_per_address: wholeNumber(1, 1_000_000)
    .optional()
    .meta(
      is(
        'Connections at a time from one address (IPv6: its /64); further ones are closed at once. The default holds while more than 80 % of `max_connections` are open, and never for loopback. `trusted_proxies` are never counted.',
        { defaultText: 'a tenth of `max_connections`' },
      ),
    ),
  max_header_size: size(1024, 1024 ** 2)
    .prefault('32KiB')
    .meta(
      is('The largest set of request headers.', {
        kind: 'size',
        restart: atStart(({ server }) => server.maxHeaderBytes),
      }),
    ),
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
  first_key: oneOf(['print', 'file'])
    .optional()
    .meta(
      is(
        'Where the key goes that a first start makes: to standard output, or into a file beside the store that its owner alone can read.',
        { defaultText: '`print`, or `file` where a service manager collects the output' },
      ),
    ),
  log_client_address: flag().default(false).meta(is("Whether log lines name the client's address.")),
});

export type ServerSection = z.output<typeof serverSchema>;
