/** The types of callers of the admin API, a union without a default: a failed sign-in can never count as a member by accident. */

import type { Role } from '../core/role.ts';

export interface MemberCaller {
  readonly kind: 'member';
  readonly memberId: string;
  /** The caller's name in the audit log. */
  readonly name: string;
  readonly role: Role;
  readonly sessionId: string;
  /** The token that writes must have besides the cookie. */
  readonly csrfToken: string;
  /** When the member last proved its identity; see `StoredSession`. */
  readonly provedAtMs: number | undefined;
}

interface TokenCaller {
  readonly kind: 'token';
  readonly tokenId: string;
  readonly memberId: string;
  readonly name: string;
  readonly role: Role;
}

export type Caller = { readonly kind: 'nobody' } | MemberCaller | TokenCaller;

export const nobody: Caller = Object.freeze({ kind: 'nobody' });

/** The caller's name as an actor in the audit log. */
export function actorOf(caller: Caller): string {
  switch (caller.kind) {
    case 'nobody':
      return 'console';
    case 'member':
      return actorNamed(caller.name);
    case 'token':
      return `token: ${caller.name}`;
  }
}

export const actorNamed = (email: string): string => `console: ${email}`;

/** Identifies the caller's session or API token. */
export function identityOf(caller: Caller): string {
  switch (caller.kind) {
    case 'nobody':
      return 'nobody';
    case 'member':
      return `session ${caller.sessionId}`;
    case 'token':
      return `token ${caller.tokenId}`;
  }
}
