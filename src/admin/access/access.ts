/** Authenticates callers of the admin API by session, API token, password or one-time link, and limits their attempts. */

import { lowerOf } from '../../core/role.ts';
import type { Store } from '../../core/store/store.ts';
import type { Clock } from '../../lib/clock.ts';
import { digestOf, isSecretWith } from '../../lib/secrets/key-secret.ts';
import { type Caller, nobody } from '../caller.ts';
import { createLinks } from './links.ts';
import { createPasswords, type ScryptCost, standardCost } from './passwords.ts';
import { createSessions } from './sessions.ts';
import { createSignIn } from './sign-in.ts';
import { createThrottle } from './throttle.ts';

export type Access = ReturnType<typeof createAccess>;

export interface AccessDeps {
  readonly store: Store;
  readonly clock: Clock;
  /** The setting `console.url`, an origin; undefined where it is not configured. */
  url(): string | undefined;
  readonly cost?: ScryptCost;
}

/** The use of a token is recorded at most this often. It is not recorded while the store can be read but takes no writes. */
const usedEveryMs = 60_000;

export function createAccess({ store, clock, url, cost = standardCost }: AccessDeps) {
  const isSecure = (): boolean => url()?.startsWith('https:') === true;
  const sessions = createSessions({ store, clock, isSecure });
  const passwords = createPasswords(cost);
  const throttle = createThrottle({ attempts: store.attempts, clock });

  async function byToken(secret: string): Promise<Caller> {
    if (!isSecretWith('psa_', secret)) return nobody;
    const found = await store.tokens.find(digestOf(secret));
    if (found === undefined || found.member.disabledAtMs !== undefined) return nobody;
    const { token, member } = found;
    const nowMs = clock.nowMs();
    if (token.revokedAtMs !== undefined || (token.expiresAtMs ?? Number.POSITIVE_INFINITY) <= nowMs) return nobody;
    if (nowMs - (token.lastUsedAtMs ?? 0) >= usedEveryMs) await store.tokens.used(token.id).catch(() => undefined);
    // Its creator may have a lower role now.
    const role = lowerOf(token.role, member.role);
    // Members may give tokens the same name: the audit log must show whose it was.
    const name = `${token.name} of ${member.email}`;
    return { kind: 'token', tokenId: token.id, memberId: member.id, name, role };
  }

  async function bySession(headers: Headers): Promise<Caller> {
    const found = await sessions.find(headers);
    if (found === undefined) return nobody;
    const { member, session, csrfToken } = found;
    const { id: memberId, email: name, role } = member;
    const { id: sessionId, provedAtMs } = session;
    return { kind: 'member', memberId, name, role, sessionId, csrfToken, provedAtMs };
  }

  return {
    /** Finds the caller by the session cookie or an API token; anonymous without a valid one. */
    identify(headers: Headers): Promise<Caller> {
      const given = /^bearer +(\S+) *$/i.exec(headers.get('authorization') ?? '')?.[1];
      // A request with a token never falls back to a cookie that it also has.
      return given === undefined ? bySession(headers) : byToken(given);
    },
    sessions,
    signIn: createSignIn({ store, clock, sessions, throttle }),
    passwords,
    throttle,
    links: createLinks(store.invitations, clock),
    /** The console's URL without a slash at its end: as configured, else by the request's host. */
    consoleUrl: (headers: Headers) => url() ?? `http://${headers.get('host') ?? 'localhost'}`,
  };
}
