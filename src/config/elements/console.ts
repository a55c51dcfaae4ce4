/** Defines and compiles the `console` section of the configuration: the listener for admin API and console, and sign-in. */

import type * as z from 'zod';
import { roles } from '../../core/role.ts';
import type { ConsoleSettings } from '../../core/snapshot.ts';
import { isLoopback } from '../../lib/addresses/address-range.ts';
import type { Location } from './context.ts';
import { atStart, flag, list, mapping, oneOf, secretFile, secretText, text, wholeNumber } from './fields.ts';
import { checkHost } from './server/compile.ts';

const oidcSchema = mapping({
  issuer: text('an https:// URL, such as https://accounts.example.com', /^https?:\/\/[^\s/?#]+[^\s?#]*$/)
    .describe('The issuer, as in its tokens.')
    .meta({ kind: 'URL' }),
  client_id: text('the ID that the provider gave').describe('The client ID of the console.'),
  client_secret: text('visible ASCII characters, without spaces', /^[\x21-\x7e]+$/)
    .optional()
    .describe('The client secret; public clients have none.')
    .meta({ secret: true }),
  client_secret_file: secretFile('client_secret'),
  title: text('a name of up to 40 characters', /^[^\p{Cc}]{1,40}$/u)
    .default('single sign-on')
    .describe('Label of the button after "Sign in with".'),
  scopes: list(text('a scope', /^[\x21\x23-\x5b\x5d-\x7e]+$/), 'a list of scopes')
    .default(['openid', 'email', 'profile'])
    .describe('Requested scopes.'),
  default_role: oneOf(roles)
    .optional()
    .describe('Role of users without an invitation or a group.')
    .meta({ defaultText: 'nobody gets in without an invitation or a group' }),
  role_claim: text('the name of a claim', /^[^\p{Cc}\s]{1,100}$/u)
    .default('groups')
    .describe(
      "The claim with the user's groups, in the ID token or from the userinfo endpoint. Dots lead into objects: `realm_access.roles`.",
    ),
  roles: mapping({
    viewer: groups('viewers'),
    editor: groups('editors'),
    admin: groups('admins'),
    owner: groups('owners'),
  })
    .prefault({})
    .describe('Groups by role; the highest applies, at each sign-in.'),
  trust_email: flag()
    .default(false)
    .describe('Whether unverified e-mail addresses count. Only if the provider assigns them itself.'),
});

function groups(members: string) {
  return list(text('the name of a group'), 'a list of groups').default([]).describe(`Groups of ${members}.`);
}

export const standardConsolePort = 4001;

export const consoleSchema = mapping({
  host: text('a host name or an IP address', /^[^\s/]+$/)
    .default('127.0.0.1')
    .describe('The address to listen on. Others than loopback need a `token`.')
    .meta({ kind: 'host name or address', restart: atStart(({ console }) => console.host) }),
  port: wholeNumber(0, 65_535)
    .optional()
    .describe('The port to listen on; 0 takes any free one.')
    .meta({
      defaultText: `\`${standardConsolePort}\``,
      restart: atStart(({ console }) => console.port),
    }),
  token: secretText(24)
    .optional()
    .describe('Bearer token for `/metrics` and `/healthz`.')
    .meta({ secret: true, restart: atStart(({ console }) => console.token) }),
  token_file: secretFile('token'),
  url: text(
    'an http:// or https:// URL without a path, such as https://postern.example.com',
    /^https?:\/\/[^/?#@\\\s]+\/?$/i,
  )
    .optional()
    .describe('Public URL of the console behind a proxy: for links and the host check.')
    .meta({ kind: 'URL', restart: atStart(({ console }) => console.url) }),
  trace_url: text(
    'an http:// or https:// URL with {trace_id} in it, such as https://traces.example.com/trace/{trace_id}',
    /^https?:\/\/[^/?#@\\\s{}]+[/?#][^\s\\{}]*\{trace_id\}[^\s\\{}]*$/i,
  )
    .optional()
    .describe('Link to a trace in your tracing tool, with `{trace_id}` in place of the trace ID.')
    .meta({ kind: 'URL' }),
  oidc: oidcSchema.optional().describe('Single sign-on with an identity provider; see [access](../guides/access.md).'),
});

export function toConsoleSettings(
  { host, port, token, url, trace_url: traceUrl, oidc }: z.output<typeof consoleSchema>,
  location: Location,
): ConsoleSettings {
  checkHost(host, location.at('host'));
  // Of names only `localhost` is certainly this machine, because others are resolved elsewhere.
  if (token === undefined && host.toLowerCase() !== 'localhost' && !isLoopback(host)) {
    location
      .at('token')
      .fault(
        'is missing: other machines reach console.host, so set a token of at least 24 characters, or the host 127.0.0.1',
      );
  }
  if (oidc !== undefined) checkOidc(oidc, location.at('oidc'));
  return Object.freeze({
    host,
    port: port ?? standardConsolePort,
    isPortGiven: port !== undefined,
    token,
    url: toOrigin(url, location.at('url')),
    traceUrl,
    oidc,
  });
}

function toOrigin(written: string | undefined, location: Location): string | undefined {
  if (written === undefined) return undefined;
  const url = URL.parse(written);
  if (url === null) location.fault('is not a valid URL');
  return url?.origin;
}

function checkOidc(oidc: z.output<typeof oidcSchema>, location: Location): void {
  const issuer = URL.parse(oidc.issuer);
  if (issuer === null) location.at('issuer').fault('is not a valid URL');
  else if (issuer.protocol === 'http:' && !/^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(issuer.hostname)) {
    location.at('issuer').fault('wanted: https://; plain http:// is good for a provider on this machine alone');
  }
  if (!oidc.scopes.includes('openid')) location.at('scopes').fault('wanted: openid among them');
}
