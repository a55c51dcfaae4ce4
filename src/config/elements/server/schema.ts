/** Defines the schema of the `server` section. */

import * as z from 'zod';
import {
  addressList,
  atStart,
  duration,
  filePath,
  flag,
  list,
  mapping,
  oneOf,
  share,
  size,
  text,
  wholeNumber,
} from '../fields.ts';

const account = (owner: string, wants: string) =>
  z
    .union([wholeNumber(0, 2 ** 32 - 2), text(wants, /^[^\s:]{1,64}$/)], { error: wants })
    .optional()
    .describe(`${owner}, by name or number. Only if this process may change it.`)
    .meta({ kind: 'name or number' });

const socketSchema = mapping({
  path: filePath().describe('Absolute path of the socket; at most 103 bytes.').meta({ kind: 'path' }),
  mode: text("three octal digits in quotes, such as '0660'", /^0?[0-7]{3}$/)
    .default('0600')
    .describe('File mode; clients need write permission.')
    .meta({ kind: 'octal text' }),
  owner: account('The user that it belongs to', 'the name of a user, or a number'),
  group: account('The group that it belongs to', 'the name of a group, or a number'),
  trusted: flag()
    .default(false)
    .describe('Whether clients of the socket are proxies whose `X-Forwarded-For` is trusted.'),
})
  .optional()
  .describe('A unix socket to listen on, without TLS, beside the port or instead of it.')
  .meta({ restart: atStart(({ server }) => JSON.stringify(server.socket)) });

export const serverSchema = mapping({
  host: text('a host name or an IP address', /^[^\s/]+$/)
    .optional()
    .describe('The address to listen on. `0.0.0.0` listens on every interface.')
    .meta({ kind: 'host name or address', defaultText: '`127.0.0.1`', restart: atStart(({ server }) => server.host) }),
  port: wholeNumber(0, 65_535)
    .optional()
    .describe('The port to listen on; 0 takes any free one. With `socket` and without `host` and `port`, none.')
    .meta({ defaultText: '`4000`', restart: atStart(({ server }) => server.port) }),
  socket: socketSchema,
  base_path: z
    .string({ error: 'a path such as /ai, or nothing' })
    .default('')
    .describe('Prefix of every route: `/ai` serves them at `/ai/v1/...`.')
    .meta({ kind: 'path' }),
  body_limit: size(1024, 1024 ** 3)
    .prefault('32MiB')
    .describe('The largest request body, before and after decompression.'),
  upload_limit: size(1024, 16 * 1024 ** 3)
    .prefault('256MiB')
    .describe('The largest form (`multipart/form-data`), with all files.'),
  upload_disk: size(1024, 1024 ** 4)
    .optional()
    .describe(
      'Disk space of all forms in flight, per process; at least `upload_limit`. Forms over 1 MiB are kept there until answered.',
    )
    .meta({ defaultText: 'four of `upload_limit`' }),
  upload_directory: filePath()
    .default('data/uploads')
    .describe('Directory of the forms over 1 MiB. Their files vanish when the process ends.')
    .meta({ kind: 'directory', restart: atStart(({ server }) => server.uploadDirectory) }),
  body_memory: z
    .union([size(2048, 1024 ** 4), share(1)], {
      error: 'a size from 2KiB to 1024GiB, or a percentage from 1% to 100%',
    })
    .optional()
    .describe(
      'Memory of all request bodies in flight, and the same again for translated responses; at least two `body_limit`. A percentage is of the available memory, divided by `workers`.',
    )
    .meta({ kind: 'size or percentage', defaultText: 'an eighth of it, or two of `body_limit`' }),
  body_wait: duration(0, 600_000)
    .prefault('5s')
    .describe('How long a request may wait for that memory; at most half of `timeouts.request`.'),
  workers: z
    .union([wholeNumber(1, 1024), z.literal('auto')], { error: 'a whole number from 1 to 1024, or auto' })
    .default(1)
    .describe(
      'Number of serving processes; `auto`: one per processor. They share limits; several machines need `redis` for that.',
    )
    .meta({ kind: 'number or `auto`', restart: atStart(({ server }) => server.workers) }),
  drain: mapping({
    delay: duration(0)
      .optional()
      .describe(
        'How long to keep accepting after the signal, while `/readyz` already fails. A second signal ends it, unless it repeats the first within 200 ms.',
      )
      .meta({ defaultText: '`5s` in Kubernetes (`KUBERNETES_SERVICE_HOST` is set), else `0s`' }),
    deadline: duration(0).prefault('30s').describe('How long running requests may then take, before they are cut.'),
  })
    .prefault({})
    .describe('Graceful shutdown.'),
  tls: mapping({
    cert: filePath().describe('The PEM file with the certificate chain.'),
    key: filePath().describe('The PEM file with the private key.'),
  })
    .optional()
    .describe('Serve HTTPS instead of HTTP.')
    .meta({
      restart: atStart(
        ({ server }) => server.tls !== undefined,
        'Turning TLS on or off needs a restart; renewed files do not.',
      ),
    }),
  trusted_proxies: addressList()
    .default([])
    .describe('Proxies whose `X-Forwarded-For` is trusted: IP addresses and CIDR ranges.'),
  cors: mapping({
    origins: list(text('an origin such as https://app.example.com, or *'), 'a list of origins')
      .default([])
      .describe('Allowed origins; `*` means any.'),
  })
    .prefault({})
    .describe('CORS for browsers. Off by default.'),
  reveal_models: flag().default(false).describe('Whether a model that the key may not use gives 403 instead of 404.'),
  diagnostics: flag().default(true).describe('Whether responses carry `x-postern-*` and `server-timing`.'),
  timeouts: mapping({
    headers: duration().prefault('10s').describe('For the request headers.'),
    request: duration().prefault('60s').describe('For the whole request.'),
    keep_alive: duration()
      .prefault('75s')
      .describe('For idle connections. Longer than that of a load balancer in front.'),
  })
    .prefault({})
    .describe('Timeouts of clients.'),
  max_connections: wholeNumber(1, 1_000_000)
    .default(10_000)
    .describe(
      'Maximum of open connections. Beyond it, the longest idle one is closed for a new one; if none is idle, the new one is closed.',
    ),
  max_connections_per_address: wholeNumber(1, 1_000_000)
    .optional()
    .describe(
      'Maximum of open connections per client address (IPv6: /64). The default applies only while more than 80 % of `max_connections` are open, and not to loopback. `trusted_proxies` are not counted.',
    )
    .meta({ defaultText: 'a tenth of `max_connections`' }),
  max_header_size: size(1024, 1024 ** 2)
    .prefault('32KiB')
    .describe('The largest set of request headers.')
    .meta({ restart: atStart(({ server }) => server.maxHeaderBytes) }),
  half_close: oneOf(['leave', 'answer'])
    .default('leave')
    .describe(
      'What a half-closed connection means: the client has disconnected (`leave`), or waits for the response (`answer`).',
    ),
  shedding: mapping({
    loop_delay: duration(10, 60_000).prefault('500ms').describe('Maximum delay of the event loop.'),
    memory: z
      .union([size(64 * 1024 ** 2, 1024 ** 4), share(10)], {
        error: 'a size from 64MiB to 1024GiB, or a percentage from 10% to 100%',
      })
      .prefault('85%')
      .describe('Maximum memory of the process; a percentage is of the container or machine.')
      .meta({ kind: 'size or percentage' }),
  })
    .prefault({})
    .describe('Load shedding: beyond these, new requests get 503.'),
  first_key: oneOf(['print', 'file'])
    .optional()
    .describe('Where a first start puts its key: standard output, or a file (0600) beside the store.')
    .meta({ defaultText: '`print`, or `file` where a service manager collects the output' }),
  log_client_address: flag().default(false).describe("Whether log lines name the client's address."),
});

export type ServerSection = z.output<typeof serverSchema>;
