/** Implements the endpoints of sign-in through the identity provider: redirect and callback. Errors end on a page of the console. */

import { readJson } from '../../../lib/json/read-json.ts';
import type { Caller } from '../../caller.ts';
import type { AdminContext } from '../../context.ts';
import { type Call, implement } from '../../implement.ts';
import { Problem } from '../../problem.ts';
import * as contract from '../contract/access.ts';
import { admitPerson, isPerson, type OidcMemo, type OidcProver, oidcMemo } from '../oidc.ts';
import { type OpenedSession, readOnlyCookie, signInRefused } from '../sessions.ts';
import { asMember, checkAuthentication } from '../sign-in.ts';

const { path } = contract.beginOidc;
const memoSeconds = 600;

/** The cookie's name. With this prefix no page of a neighbouring host can set the cookie, and complete its own sign-in with it. */
const memoCookieOf = (isSecure: boolean): string => (isSecure ? '__Host-postern_oidc' : 'postern_oidc');
/** The cookie's attributes; the prefix `__Host-` requires those over https. */
const memoAttributesOf = (isSecure: boolean): string =>
  `Path=${isSecure ? '/' : path}; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`;

export const beginOidc = implement(contract.beginOidc, ({ query, context, headers, caller }) =>
  leading(query.proof === undefined ? '/' : toPage(query.page), async () => {
    const url = `${context.access.consoleUrl(headers)}${path}/callback`;
    const prover = query.proof === undefined ? undefined : toProver(caller);
    const begun = await providerOf(context).flow.begin(url, toPage(query.page), prover);
    return leadTo(begun.url, [toMemoCookie(begun.memo, context.access.consoleUrl(headers))]);
  }),
);

export const endOidc = implement(contract.endOidc, async (call) => {
  const isSecure = isSecureAt(call.context.access.consoleUrl(call.headers));
  const kept = readMemo(call.headers, isSecure);
  return leading(kept?.proves === undefined ? '/' : toPage(kept.page), async () => {
    if (kept === undefined) throw signInRefused(tookTooLong);
    const opened = await (kept.proves === undefined ? signIn(kept, call) : prove(kept, kept.proves, call));
    const forget = `${memoCookieOf(isSecure)}=; Max-Age=0; ${memoAttributesOf(isSecure)}`;
    return leadTo(toPage(kept.page), [opened.cookie, forget]);
  });
});

type Callback = Call<typeof contract.endOidc>;

async function signIn(kept: OidcMemo, call: Callback): Promise<OpenedSession> {
  const { store, access } = call.context;
  const { settings, flow } = providerOf(call.context);
  const prove = async () => ({ member: await admitPerson(await flow.end(urlOf(call), kept), settings, store) });
  return access.signIn.enter({ purpose: 'sign_in', method: 'oidc', prove }, call);
}

async function prove(kept: OidcMemo, { memberId, sessionId }: OidcProver, call: Callback): Promise<OpenedSession> {
  const { store, clock, access } = call.context;
  const { settings, flow } = providerOf(call.context);
  const proving = async () => {
    const person = await flow.end(urlOf(call), kept);
    const provedAtMs = checkAuthentication(person.authenticatedAtMs, clock.nowMs());
    if (!(await isPerson(person, memberId, store))) throw signInRefused(notTheSame);
    const member = await admitPerson(person, settings, store);
    // The browser does not send the session's cookie along when it comes from another site: the former one is ended by its ID.
    await store.sessions.end(sessionId, member.id);
    return { member, provedAtMs };
  };
  return access.signIn.enter({ purpose: 'proof', method: 'oidc', prove: proving }, call);
}

const notTheSame =
  'You signed in as another person at the identity provider; sign in there as the member that is signed in here.';
const tookTooLong = 'The sign-in took too long, or began in another browser; begin again.';

/** The session that re-authenticates. As for signing in, the caller needs no role. */
function toProver(caller: Caller): OidcProver {
  const { memberId, sessionId } = asMember(caller);
  return { memberId, sessionId };
}

function providerOf({ oidc }: AdminContext) {
  const found = oidc.current();
  if (found !== undefined) return found;
  throw new Problem('not_found', { detail: 'No identity provider is configured (console.oidc); sign in another way.' });
}

/** The callback's URL as the provider knows it, which a proxy may have changed. */
function urlOf({ context, headers, query }: Callback): URL {
  const url = new URL(`${context.access.consoleUrl(headers)}${path}/callback`);
  for (const [name, value] of Object.entries(query)) if (typeof value === 'string') url.searchParams.set(name, value);
  return url;
}

/** Runs a step of the sign-in; a failure leads to the page, which shows it. */
async function leading(page: string, lead: () => Promise<Response>): Promise<Response> {
  try {
    return await lead();
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    // In the URL fragment, which is never logged.
    return leadTo(`${page}#problem=${encodeURIComponent(error.message)}`, []);
  }
}

function leadTo(location: string, cookies: readonly string[]): Response {
  const headers = new Headers({ location });
  for (const cookie of cookies) headers.append('set-cookie', cookie);
  return new Response(null, { status: 303, headers });
}

/** The page to return to: only a page of this console, whatever the link contained. */
function toPage(written = '/'): string {
  const here = 'http://console.invalid';
  const url = URL.parse(written, here);
  if (url?.origin !== here || !written.startsWith('/')) return '/';
  // `/.//elsewhere` has this origin, but its normalised path leads elsewhere.
  return `${url.pathname.replace(/^\/{2,}/, '/')}${url.search}`;
}

/** The cookie that keeps the state of a sign-in. `SameSite=Lax`, because the browser comes back from another site. */
function toMemoCookie(kept: OidcMemo, consoleUrl: string): string {
  const value = Buffer.from(JSON.stringify(kept)).toString('base64url');
  const isSecure = isSecureAt(consoleUrl);
  return `${memoCookieOf(isSecure)}=${value}; Max-Age=${memoSeconds}; ${memoAttributesOf(isSecure)}`;
}

const isSecureAt = (consoleUrl: string): boolean => consoleUrl.startsWith('https:');

/** The state of the sign-in that this browser began; undefined where it is too old, or began in another browser. */
function readMemo(headers: Headers, isSecure: boolean): OidcMemo | undefined {
  const value = readOnlyCookie(headers, memoCookieOf(isSecure)) ?? '';
  return oidcMemo.safeParse(readJson(Buffer.from(value, 'base64url').toString('utf8'))).data;
}
