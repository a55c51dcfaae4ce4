/** The caller of the admin API, as a union without a default: a failed sign-in can never count as a member by accident. */

import type { Role } from './roles.ts';

export interface MemberCaller {
  readonly kind: 'member';
  readonly memberId: string;
  /** The caller's name in the audit log. */
  readonly name: string;
  readonly role: Role;
  readonly sessionId: string;
  /** Required in writes beside the cookie. */
  readonly csrfToken: string;
  /** See StoredSession. */
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

/** The actor in the audit log. */
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

/** Of the session or the token. */
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
