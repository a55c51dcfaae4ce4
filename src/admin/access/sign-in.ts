/** Sign-in by e-mail address and password, with the same timing and wording for unknown accounts; successes and failures go to the audit log. */

import { foldEmail, type SessionMethod } from '../../core/store/members.ts';
import type { Store } from '../../core/store/store.ts';
import type { Clock } from '../../lib/clock.ts';
import { actorNamed, actorOf, type MemberCaller } from '../caller.ts';
import { Problem } from '../problem.ts';
import type { Passwords } from './passwords.ts';
import { type OpenedSession, type Origin, type Sessions, signInFailed } from './sessions.ts';
import type { Throttle } from './throttle.ts';

interface SignInDeps {
  readonly store: Pick<Store, 'members' | 'audit'>;
  readonly sessions: Sessions;
  readonly passwords: Passwords;
  readonly throttle: Throttle;
  readonly failures: FailedSignIns;
}

interface Credentials {
  readonly email: string;
  readonly password: string;
}

export function createSignIn({ store, sessions, passwords, throttle, failures }: SignInDeps) {
  return async ({ email, password }: Credentials, origin: Origin): Promise<OpenedSession> => {
    const account = foldEmail(email);
    await throttle.begin(account, origin.address);
    const member = await store.members.findByEmail(account);
    const fits = await passwords.verify(password, member?.passwordHash);
    if (!fits || member === undefined || member.disabledAtMs !== undefined) {
      await failures.addEntry(member?.email, { method: 'password', address: origin.address });
      throw signInFailed();
    }
    await throttle.succeeded(account, origin.address);
    const opened = await sessions.open(member, 'password', origin);
    await logSignIn(store.audit, opened);
    return opened;
  };
}

/** For every way in. */
export async function logSignIn(audit: Store['audit'], { member, session }: OpenedSession): Promise<void> {
  const { email } = member;
  const after = { method: session.method, address: session.address };
  await audit.add({ actor: actorNamed(email), action: 'console.sign_in', subject: email, before: null, after });
}

export async function logSignOut(audit: Store['audit'], caller: MemberCaller): Promise<void> {
  const entry = { action: 'console.sign_out', subject: caller.name, before: null, after: null };
  await audit.add({ actor: actorOf(caller), ...entry });
}

interface Attempt {
  /** As the audit log names it; to sign in, where it is left out. */
  readonly action?: 'console.sign_in_failed' | 'console.proof_failed';
  readonly method: SessionMethod;
  readonly address: string;
}

type FailedSignIns = ReturnType<typeof createFailedSignIns>;

/** Whoever guesses must not fill the audit log: beyond this many failures an hour, only their number is told with the next. */
const mostAnHour = 100;
const hourMs = 60 * 60_000;

/** Attempts to sign in, or to prove who one is, that failed, by whichever way, in the audit log. */
export function createFailedSignIns(audit: Pick<Store['audit'], 'add'>, clock: Clock) {
  let hour = { startedAtMs: clock.monotonicMs(), written: 0 };
  let untold = 0;

  /** `email` of the member, where there is one: what nobody knows may be a password that was typed into the wrong field. */
  async function addEntry(
    email: string | undefined,
    { action = 'console.sign_in_failed', method, address }: Attempt,
  ): Promise<void> {
    const nowMs = clock.monotonicMs();
    if (nowMs - hour.startedAtMs >= hourMs) hour = { startedAtMs: nowMs, written: 0 };
    if (hour.written >= mostAnHour) {
      untold += 1;
      return;
    }
    hour.written += 1;
    const after = { method, address, ...(untold > 0 && { notTold: untold }) };
    untold = 0;
    const subject = email ?? '(no member)';
    await audit.add({ actor: 'console', action, subject, before: null, after });
  }

  return {
    addEntry,
    /** Tells of it where the proof is refused, and passes the refusal on. */
    async watch<T>(attempt: Attempt, prove: () => Promise<T>, email?: string): Promise<T> {
      try {
        return await prove();
      } catch (error) {
        if (error instanceof Problem) await addEntry(email, attempt);
        throw error;
      }
    },
  };
}
