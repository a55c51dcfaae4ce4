/** Signs people in by any method, or lets them prove their identity again: with throttling, and an audit log entry for each outcome. */

import type { SessionMethod, StoredMember } from '../../core/store/members.ts';
import type { Store } from '../../core/store/store.ts';
import type { Clock } from '../../lib/clock.ts';
import { actorNamed, actorOf, type Caller, type MemberCaller } from '../caller.ts';
import { Problem } from '../problem.ts';
import { type OpenedSession, type Origin, type Sessions, signedOut, signInRefused } from './sessions.ts';
import type { Throttle } from './throttle.ts';

interface SignInDeps {
  readonly store: Pick<Store, 'members' | 'audit'>;
  readonly clock: Clock;
  readonly sessions: Sessions;
  readonly throttle: Throttle;
}

/** What an attempt is for. The audit log's actions are named after it: `console.sign_in`, `console.sign_in_failed`, and so on. */
type Purpose = 'sign_in' | 'proof';

interface Proved {
  readonly member: StoredMember;
  /** When the person last authenticated; the default is that of `sessions.open`. */
  readonly provedAtMs?: number | undefined;
}

export interface Attempt {
  readonly purpose: Purpose;
  readonly method: Exclude<SessionMethod, 'link'>;
  /** The e-mail address whose attempts are counted; attempts from the network address are always counted. */
  readonly account?: string | undefined;
  /** Checks the password or signature. Throws a Problem where it is wrong. */
  prove(): Promise<Proved>;
}

/** Limit of failures per hour in the audit log, which guessing must not fill: of further ones the next entry has only the number. */
const mostAnHour = 100;
const hourMs = 60 * 60_000;

export function createSignIn({ store: { members, audit }, clock, sessions, throttle }: SignInDeps) {
  let hour = { startedAtMs: clock.monotonicMs(), written: 0 };
  let untold = 0;

  async function logFailure({ purpose, method, account }: Attempt, address: string): Promise<void> {
    const nowMs = clock.monotonicMs();
    if (nowMs - hour.startedAtMs >= hourMs) hour = { startedAtMs: nowMs, written: 0 };
    if (hour.written >= mostAnHour) {
      untold += 1;
      return;
    }
    hour.written += 1;
    const after = { method, address, ...(untold > 0 && { notTold: untold }) };
    untold = 0;
    // Only of members: what nobody knows may be a password that was typed into the wrong field.
    const member = account === undefined ? undefined : await members.findByEmail(account);
    const subject = member?.email ?? '(no member)';
    await audit.add({ actor: 'console', action: `console.${purpose}_failed`, subject, before: null, after });
  }

  /** Opens a session for a member who has proved its identity. */
  async function open(
    purpose: Purpose,
    { member, provedAtMs }: Proved,
    method: SessionMethod,
    origin: Origin,
  ): Promise<OpenedSession> {
    const opened = await sessions.open(member, method, origin, provedAtMs);
    const { email } = member;
    const after = { method, address: opened.session.address };
    await audit.add({ actor: actorNamed(email), action: `console.${purpose}`, subject: email, before: null, after });
    return opened;
  }

  return {
    open,

    async enter(attempt: Attempt, origin: Origin): Promise<OpenedSession> {
      const { purpose, method, account } = attempt;
      // Guesses at the identity provider are for it to count.
      const isCounted = method !== 'oidc';
      if (isCounted) await throttle.begin(account, origin.address);
      const proved = await attempt.prove().catch(async (error: unknown) => {
        const isRefused = error instanceof Problem && error.code !== 'too_many_attempts';
        if (isRefused) await logFailure(attempt, origin.address);
        throw error;
      });
      if (isCounted) await throttle.succeeded(account, origin.address);
      return open(purpose, proved, method, origin);
    },

    async logSignOut(caller: MemberCaller, after: unknown = null): Promise<void> {
      const entry = { action: 'console.sign_out', subject: caller.name, before: null, after };
      await audit.add({ actor: actorOf(caller), ...entry });
    },
  };
}

/** How long a proof of identity is valid for sensitive actions (step-up authentication). */
const freshMs = 5 * 60_000;

/** Whether a proof is recent. One in the future is not: a clock that was set back must not extend it. */
const isFresh = (provedAtMs: number | undefined, nowMs: number): boolean =>
  provedAtMs !== undefined && Math.abs(nowMs - provedAtMs) < freshMs;

/** The time of a person's authentication at the provider. Throws a Problem where it is not recent, or not reported. */
export function checkAuthentication(authenticatedAtMs: number | undefined, nowMs: number): number {
  if (authenticatedAtMs === undefined) {
    throw signInRefused(
      'The identity provider does not send the time of your sign-in (auth_time); confirm with a password or a passkey instead.',
    );
  }
  if (isFresh(authenticatedAtMs, nowMs)) return Math.min(authenticatedAtMs, nowMs);
  throw signInRefused('The identity provider did not ask you to sign in again; sign out there, and try again.');
}

/** The caller as a member; the gate has ensured before that it is one. */
export function asMember(caller: Caller): MemberCaller {
  if (caller.kind === 'member') return caller;
  throw signedOut();
}

/** Throws a Problem, with what to do next, where the caller has not proved its identity recently. */
export function checkProof(caller: Caller, nowMs: number): void {
  if (caller.kind === 'token') {
    throw new Problem('not_allowed', {
      detail:
        'API tokens cannot do this, whatever their role. Sign in to do it, or use "postern members" on the machine of the gateway.',
    });
  }
  if (caller.kind === 'member' && isFresh(caller.provedAtMs, nowMs)) return;
  throw new Problem('proof_needed', {
    detail:
      'Confirm your identity with your password, a passkey or a new sign-in at the identity provider; this is valid for five minutes.',
  });
}
