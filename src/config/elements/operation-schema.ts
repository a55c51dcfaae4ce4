/** The sections `console`, `ledger` and `alerts`, key by key: what operators look at, and what tells them. */

import { durabilities } from '../../core/ledger-row.ts';
import { duration, filePath, is, list, mapping, oneOf, text, wholeNumber } from './fields.ts';
import { oidcSchema } from './oidc/schema.ts';

const dayMs = 86_400_000;

export const consoleSchema = mapping({
  host: text('a host name or an IP address', /^[^\s/]+$/)
    .default('127.0.0.1')
    .meta(
      is('The address to listen on. One that other machines reach needs a `token`.', { kind: 'host name or address' }),
    ),
  port: wholeNumber(0, 65_535)
    .optional()
    .meta(is('The port to listen on; 0 takes any free one.', { defaultText: '`4001`' })),
  token: text('at least 24 visible ASCII characters, without spaces', /^[\x21-\x7e]{24,512}$/)
    .optional()
    .meta(is('What a caller must send as a bearer token.', { secret: true })),
  url: text(
    'an http:// or https:// URL without a path, such as https://postern.example.com',
    /^https?:\/\/[^/?#@\\\s]+\/?$/i,
  )
    .optional()
    .meta(
      is(
        'The address by which people reach the console through a proxy: links are made with it, and its host is answered to.',
        {
          kind: 'URL',
        },
      ),
    ),
  oidc: oidcSchema
    .optional()
    .meta(is('An identity provider through which members may sign in; see [access.md](access.md).')),
});

export const ledgerSchema = mapping({
  journal: filePath()
    .default('data/journal')
    .meta(
      is('The directory of the journal, which every row is written to before it is in the store.', {
        kind: 'directory',
      }),
    ),
  durability: oneOf(durabilities)
    .default('fast')
    .meta(
      is(
        'What a row survives before work goes on: the end of the process (`fast`), or a power cut as well (`strict`).',
      ),
    ),
  retention: retentionField()
    .prefault('90d')
    .meta(is('How long rows are kept; the sums by the hour stay.', { kind: 'time' })),
  redact: redactField()
    .default([])
    .meta(
      is('Names of JSON fields whose values are left out of what is captured, beside what looks like a secret.', {
        kind: 'list of names',
      }),
    ),
});

export function retentionField() {
  return duration(dayMs, 3650 * dayMs);
}

export function redactField() {
  return list(
    text('the name of a JSON field: 1 to 64 letters, digits, dots, underscores and dashes', /^[A-Za-z0-9._-]{1,64}$/),
    'a list of names',
  ).max(100, { error: 'at most 100 names' });
}

const webhook = mapping({
  url: text('an http:// or https:// URL', /^https?:\/\/[^/\\\s][^\\\s]*$/i)
    .refine((url) => URL.canParse(url), { error: 'a valid URL' })
    .refine((url) => !hasUser(url), {
      error: 'an address without a user name and a password, which are not sent; set a secret instead',
    })
    .meta(is('Where a JSON body is posted to.', { kind: 'URL', secret: true })),
  secret: text('at least 16 visible ASCII characters, without spaces', /^[\x21-\x7e]{16,512}$/)
    .optional()
    .meta(is('What the body is signed with.', { secret: true })),
});

function hasUser(url: string): boolean {
  const { username = '', password = '' } = URL.parse(url) ?? {};
  return username !== '' || password !== '';
}

export function webhooksField() {
  return list(webhook).max(20, { error: 'at most 20 webhooks' });
}

export const alertsSchema = mapping({
  webhooks: webhooksField().default([]).meta(is('Who is told over HTTP.')),
});
