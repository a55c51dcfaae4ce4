/** The sections `console`, `ledger` and `alerts`, key by key: what operators look at, and what tells them. */

import { durabilities } from '../core/ledger-row.ts';
import { duration, filePath, is, list, mapping, oneOf, text, wholeNumber } from './fields.ts';

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
  retention: duration(dayMs, 3650 * dayMs)
    .prefault('90d')
    .meta(is('How long rows are kept; the sums by the hour stay.', { kind: 'time' })),
});

const webhook = mapping({
  url: text('an http:// or https:// URL', /^https?:\/\/[^/\\\s][^\\\s]*$/i).meta(
    is('Where a JSON body is posted to.', { kind: 'URL', secret: true }),
  ),
  secret: text('at least 16 visible ASCII characters, without spaces', /^[\x21-\x7e]{16,512}$/)
    .optional()
    .meta(is('What the body is signed with.', { secret: true })),
});

export const alertsSchema = mapping({
  webhooks: list(webhook).default([]).meta(is('Who is told over HTTP.')),
});
