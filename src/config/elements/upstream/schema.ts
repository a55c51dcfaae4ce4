/** An element of `upstreams`, key by key. */

import * as z from 'zod';
import { screens } from '../../../core/snapshot.ts';
import { budgetsField, rateFields } from '../caps.ts';
import {
  duration,
  filePath,
  fromEnvironment,
  is,
  list,
  mapping,
  notes,
  oneOf,
  ownId,
  text,
  urlPath,
  wantedCredential,
  wholeNumber,
} from '../fields.ts';
import { plainFields } from './settings.ts';

/** Of most families it is one word, which is judged where the family is known. */
const apiKey = () =>
  text(wantedCredential, /^[^\0]+$/)
    .optional()
    .meta(
      is(
        `The key to send upstream, or the document that stands for one, such as the JSON of a service account. ${fromEnvironment}`,
        { secret: true },
      ),
    );

const apiKeyFile = () =>
  filePath()
    .optional()
    .meta(is('A file that holds the key to send upstream. It is watched for changes.', { kind: 'file' }));

const pemFile = (description: string) =>
  filePath()
    .optional()
    .meta(is(description, { kind: 'file' }));

const time = (description: string, defaultText: string, fromMs?: number) =>
  duration(fromMs)
    .optional()
    .meta(is(description, { kind: 'time', defaultText }));

export const upstreamSchema = mapping({
  id: ownId().meta(is('The name of the upstream, for targets, logs and headers.')),
  family: text('the name of a family').meta(
    is('What kind of service it is, and so how it is spoken to.', { kind: 'family' }),
  ),
  base_url: z
    .string({ error: 'an http or https URL, or unix: and the path of a socket' })
    .optional()
    .meta(
      is(
        'Where it is, up to and including its version path; in this file also `unix:/path/to.sock:/v1`, a socket of this machine.',
        {
          secret: true,
          kind: 'URL',
          defaultText: "the family's own",
        },
      ),
    ),
  api_key: apiKey(),
  api_key_file: apiKeyFile(),
  credentials: list(
    mapping({
      api_key: apiKey(),
      api_key_file: apiKeyFile(),
      weight: wholeNumber(0, 1_000_000)
        .default(1)
        .meta(is('Its share of the calls, beside the other credentials. One with 0 is never used.')),
    }),
  )
    .min(1, { error: 'at least one' })
    .optional()
    .meta(is('Several keys instead of one. Where one is refused for a while, the others go on.')),
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
  response_headers: list(text('the name of a header, or its beginning and a *'), 'a list of header names')
    .min(1, { error: 'at least one; content-type alone where nothing else may pass' })
    .optional()
    .meta(
      is(
        'The headers of its answers that may pass, by name; `*` at the end stands for any. What a client cannot do without passes anyway: `content-type`, `content-encoding`, `retry-after` and framing.',
        { kind: 'list of header names', defaultText: 'all but those that never do' },
      ),
    ),
  timeouts: mapping({
    connect: time('To open a connection.', '`2s`'),
    first_byte: time('From the last request byte sent to the first response header byte.', '`60s`; completions `600s`'),
    idle: time('Between later bytes.', '`60s`'),
    total: time('For the whole call.', '`300s`; completions `900s`'),
  })
    .prefault({})
    .meta(is('The patience with the upstream. A value that is set holds for every operation.')),
  limits: mapping({
    concurrency: wholeNumber(1, 1_000_000).default(256).meta(is('Calls at a time, and connections.')),
    queue: wholeNumber(0, 1_000_000).default(256).meta(is('Calls that may wait for their turn.')),
    queue_timeout: time('How long each of them may wait.', '`5s`'),
    ...rateFields,
  })
    .prefault({})
    .meta(is('How much is sent at a time, which each process counts for itself, and within a minute and a day.')),
  budgets: budgetsField(),
  tls: mapping({
    ca: pemFile('The PEM file with the certificates to trust, instead of those that the platform trusts.'),
    cert: pemFile('The PEM file with the certificate chain to show to the upstream.'),
    key: pemFile('The PEM file with the private key of `cert`.'),
    server_name: text('a host name', /^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$/)
      .optional()
      .meta(
        is('The name to ask for, and that its certificate must have.', {
          kind: 'host name',
          defaultText: 'the host of `base_url`',
        }),
      ),
  })
    .optional()
    .meta(is('How HTTPS is spoken with it, where the usual way is not enough. The files are watched for changes.')),
  health_check: mapping({
    path: urlPath().meta(
      is('What is asked for, directly under the host of `base_url`. Any status below 300 is a yes.', {
        kind: 'path',
        secret: true,
      }),
    ),
    interval: duration(100)
      .prefault('10s')
      .meta(is('How often.', { kind: 'time' })),
    timeout: time('How long the answer may take.', '`2s`'),
  })
    .optional()
    .meta(is('Asks the upstream from time to time whether it is there. Off by default.')),
  legacy_engines: oneOf(['native', 'lift'])
    .default('lift')
    .meta(
      is(
        'Whether the upstream speaks `/engines/{model}/embeddings` itself, or the model is lifted into the body for it.',
      ),
    ),
  base64: oneOf(['pass', 'convert'])
    .default('pass')
    .meta(
      is(
        '`convert`: where a client wants base64, floats are asked for and made into it here, by every family that otherwise passes what comes.',
      ),
    ),
  screen: oneOf(screens)
    .default('all')
    .meta(
      is(
        'Which answers are searched for the credentials of the upstream, so that no client sees one: `all`, or `errors` alone.',
      ),
    ),
  options: z
    .record(z.string(), z.union([z.string(), z.number()], { error: 'text or a number' }).transform(String), {
      error: 'a mapping of options to values',
    })
    .default({})
    .meta(is("The family's own settings; see the table of families.", { kind: 'options to values' })),
  metadata: notes,
  ...plainFields,
});

export type UpstreamEntry = z.output<typeof upstreamSchema>;
