/** The section `console`: the admin listener. */

import type * as z from 'zod';
import type { ConsoleSettings } from '../../core/snapshot.ts';
import { isLoopback } from '../../lib/addresses/address-range.ts';
import type { CompileContext } from './context.ts';
import { atStart, is, mapping, secretFile, text, wholeNumber } from './fields.ts';
import { toOidcSettings } from './oidc/compile.ts';
import { oidcSchema } from './oidc/schema.ts';
import { checkHost } from './server/compile.ts';

export const standardConsolePort = 4001;

export const consoleSchema = mapping({
  host: text('a host name or an IP address', /^[^\s/]+$/)
    .default('127.0.0.1')
    .meta(
      is('The address to listen on. One that other machines reach needs a `token`.', {
        kind: 'host name or address',
        restart: atStart(({ console }) => console.host),
      }),
    ),
  port: wholeNumber(0, 65_535)
    .optional()
    .meta(
      is('The port to listen on; 0 takes any free one.', {
        defaultText: `\`${standardConsolePort}\``,
        restart: atStart(({ console }) => console.port),
      }),
    ),
  token: text('at least 24 visible ASCII characters, without spaces', /^[\x21-\x7e]{24,512}$/)
    .optional()
    .meta(
      is('What a caller must send as a bearer token.', {
        secret: true,
        restart: atStart(({ console }) => console.token),
      }),
    ),
  token_file: secretFile('token'),
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
          restart: atStart(({ console }) => console.url),
        },
      ),
    ),
  oidc: oidcSchema
    .optional()
    .meta(is('An identity provider through which members may sign in; see [access.md](../guides/access.md).')),
});

export function toConsoleSettings(
  { host, port, token, url, oidc }: z.output<typeof consoleSchema>,
  context: CompileContext,
): ConsoleSettings {
  checkHost(host, ['console', 'host'], context);
  if (token === undefined && !isOwnHost(host)) {
    context.faults.add(
      ['console', 'token'],
      `is missing: other machines reach console.host, so set a token of at least 24 characters, or the host 127.0.0.1`,
    );
  }
  return Object.freeze({
    host,
    port: port ?? standardConsolePort,
    isPortGiven: port !== undefined,
    token,
    url: toOrigin(url, context),
    oidc: toOidcSettings(oidc, context),
  });
}

function toOrigin(written: string | undefined, { faults }: CompileContext): string | undefined {
  if (written === undefined) return undefined;
  const url = URL.parse(written);
  if (url === null) faults.add(['console', 'url'], 'is not a valid URL');
  return url?.origin;
}

/** Of names only this one: where others lead to is for someone else to say. */
function isOwnHost(host: string): boolean {
  return host.toLowerCase() === 'localhost' || isLoopback(host);
}
