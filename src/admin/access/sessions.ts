/** Opens, finds and ends sessions: each sign-in gets a new secret in a cookie, which expires when it is idle or too old. */

import { hash, randomBytes } from 'node:crypto';
import type { SessionMethod, StoredMember, StoredSession } from '../../core/store/members.ts';
import type { Store } from '../../core/store/store.ts';
import type { Clock } from '../../lib/clock.ts';
import { digestOf } from '../../lib/secrets/key-secret.ts';
import { Problem } from '../problem.ts';

export interface Origin {
  readonly headers: Headers;
  readonly address: string;
}

export interface LiveSession {
  readonly session: StoredSession;
  readonly member: StoredMember;
  readonly csrfToken: string;
}

export interface OpenedSession extends LiveSession {
  /** The value of `Set-Cookie`. */
  readonly cookie: string;
}

export type Sessions = ReturnType<typeof createSessions>;

interface SessionDeps {
  readonly store: Pick<Store, 'sessions' | 'members'>;
  readonly clock: Clock;
  /** Whether people reach the console over https. */
  isSecure(): boolean;
}

const secretBytes = 32;
const hourMs = 60 * 60_000;
const idleMs = 12 * hourMs;
const longestMs = 7 * 24 * hourMs;
/** Use of a session is recorded at most this often. It is not recorded while the store can be read but takes no writes. */
const seenEveryMs = 60_000;
const mostUserAgentCharacters = 300;

export function createSessions({ store: { sessions, members }, clock, isSecure }: SessionDeps) {
  /** The session of a request; undefined where none is valid, or its member may not sign in any more. */
  async function find(headers: Headers): Promise<LiveSession | undefined> {
    const secret = readOnlyCookie(headers, nameOf(isSecure()));
    if (secret === undefined || secret === '') return undefined;
    const found = await sessions.find(digestOf(secret));
    if (found === undefined || found.member.disabledAtMs !== undefined) return undefined;
    const nowMs = clock.nowMs();
    if (!isAlive(found.session, nowMs)) return undefined;
    if (nowMs - found.session.seenAtMs >= seenEveryMs) {
      await Promise.allSettled([sessions.seen(found.session.id), members.seen(found.member.id)]);
    }
    return { ...found, csrfToken: toCsrfToken(secret) };
  }

  return {
    find,
    isAlive,

    /** Opens a session and ends the browser's previous one, which an attacker may have planted. `provedAtMs`: OIDC may not report it. */
    async open(
      member: StoredMember,
      method: SessionMethod,
      { headers, address }: Origin,
      provedAtMs: number | undefined = method === 'oidc' ? undefined : clock.nowMs(),
    ): Promise<OpenedSession> {
      const former = await find(headers);
      if (former !== undefined) await sessions.end(former.session.id, former.session.memberId);
      await sessions.prune(clock.nowMs() - idleMs);
      const secret = randomBytes(secretBytes).toString('base64url');
      const userAgent = (headers.get('user-agent') ?? '').slice(0, mostUserAgentCharacters);
      const facts = { memberId: member.id, method, address, userAgent, provedAtMs };
      const expiresAtMs = clock.nowMs() + longestMs;
      const session = await sessions.open({ ...facts, digest: digestOf(secret), expiresAtMs });
      if (session === undefined) throw signInFailed();
      return { session, member, csrfToken: toCsrfToken(secret), cookie: toCookie(secret, isSecure()) };
    },

    clearingCookie: () => toCookie('', isSecure(), 0),
  };
}

/** Whether a session is neither too old nor idle for too long. */
const isAlive = ({ expiresAtMs, seenAtMs }: StoredSession, nowMs: number): boolean =>
  expiresAtMs > nowMs && seenAtMs + idleMs > nowMs;

export const signInRefused = (detail: string): Problem => new Problem('sign_in_failed', { detail });

/** The error for a failed sign-in, the same for every account and cause, so that it reveals nothing. */
export const signInFailed = (): Problem =>
  signInRefused('The e-mail address or the password is wrong, or the member is disabled; check both.');

export const signedOut = () => new Problem('sign_in_needed', { detail: 'You are signed out; sign in again.' });

/** The CSRF token of a session: derived from the cookie's secret, so that it need not be stored; it does not reveal the secret. */
const toCsrfToken = (secret: string): string => hash('sha256', `csrf token of ${secret}`, 'base64url');

/** The cookie's name. Over https no other host, path or plain http page can set one with this prefix; plain http cannot have it. */
const nameOf = (isSecure: boolean): string => (isSecure ? '__Host-postern' : 'postern_session');

/** The cookie's attributes. `SameSite=Strict` suffices: pages need no cookie, and they send all requests to their own site. */
const attributesOf = (isSecure: boolean): string => `Path=/; HttpOnly; SameSite=Strict${isSecure ? '; Secure' : ''}`;

/** The `Set-Cookie` value of a session; the server may end the session before the cookie expires. */
const toCookie = (secret: string, isSecure: boolean, seconds = longestMs / 1_000): string =>
  `${nameOf(isSecure)}=${secret}; Max-Age=${seconds}; ${attributesOf(isSecure)}`;

/** The value of a cookie that occurs exactly once; a second one of that name may come from another site, so neither is used. */
export function readOnlyCookie(headers: Headers, cookie: string): string | undefined {
  const name = `${cookie}=`;
  const found = (headers.get('cookie') ?? '')
    .split(/[;,]/)
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(name))
    .map((pair) => pair.slice(name.length));
  return found.length === 1 ? found[0] : undefined;
}
