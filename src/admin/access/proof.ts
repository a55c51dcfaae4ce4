/** Step-up authentication: sensitive actions need a proof of identity from the last minutes, not only a session. */

import type { Caller, MemberCaller } from '../caller.ts';
import { Problem } from '../problem.ts';
import { signedOut } from './sessions.ts';

/** How long a proof is valid. */
const freshMs = 5 * 60_000;

/** In both directions: a clock that was set back must not extend it. */
const isFresh = (provedAtMs: number | undefined, nowMs: number): boolean =>
  provedAtMs !== undefined && Math.abs(nowMs - provedAtMs) < freshMs;

/** The person's authentication at the provider. Throws a Problem where it is not recent, or not reported. */
export function checkAuthentication(authenticatedAtMs: number | undefined, nowMs: number): number {
  if (authenticatedAtMs === undefined) {
    throw new Problem('sign_in_failed', {
      detail:
        'The identity provider does not say when you signed in there (auth_time); prove it by a password or a passkey instead.',
    });
  }
  if (isFresh(authenticatedAtMs, nowMs)) return Math.min(authenticatedAtMs, nowMs);
  throw new Problem('sign_in_failed', {
    detail: 'The identity provider did not ask anew who you are; sign out there, and prove it again.',
  });
}

/** The gate has ensured that it is one. */
export function asMember(caller: Caller): MemberCaller {
  if (caller.kind === 'member') return caller;
  throw signedOut();
}

/** Throws a Problem with the next step. */
export function checkProof(caller: Caller, nowMs: number): void {
  if (caller.kind === 'token') {
    throw new Problem('not_allowed', {
      detail:
        'An API token does not do this, whatever its role. Sign in to do it, or use "postern members" on the machine of the gateway.',
    });
  }
  if (caller.kind === 'member' && isFresh(caller.provedAtMs, nowMs)) return;
  throw new Problem('proof_needed', {
    detail:
      'Prove that it is you, by your password, a passkey or a new sign-in at the identity provider; it holds for five minutes.',
  });
}
