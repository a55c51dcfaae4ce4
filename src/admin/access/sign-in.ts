/** Signing in by e-mail address and password: the same time and the same words whoever it is, and an entry in the audit log. */

import { foldEmail, type StoredMember } from '../../core/member.ts';
import type { Store } from '../../core/store.ts';
import type { Clock } from '../../lib/clock.ts';
import { actorOf, type MemberCaller } from '../caller.ts';
import type { Passwords } from './passwords.ts';
import { type OpenedSession, type Origin, type Sessions, signInFailed } from './sessions.ts';
import type { Throttle } from './throttle.ts';

export interface SignInDeps {
  readonly store: Pick<Store, 'members' | 'audit'>;
  readonly clock: Clock;
  readonly sessions: Sessions;
  readonly passwords: Passwords;
  readonly throttle: Throttle;
}

interface Credentials {
  readonly email: string;
  readonly password: string;
}

export type SignIn = (credentials: Credentials, origin: Origin) => Promise<OpenedSession>;

/** Whoever guesses must not fill the audit log: beyond this many failures an hour, only their number is told with the next. */
const mostFailuresAnHour = 100;
const hourMs = 60 * 60_000;

export function createSignIn({ store, clock, sessions, passwords, throttle }: SignInDeps): SignIn {
  let hour = { startedAtMs: clock.monotonicMs(), written: 0 };
  let untold = 0;

  async function tellFailure(member: StoredMember | undefined, address: string): Promise<void> {
    const nowMs = clock.monotonicMs();
    if (nowMs - hour.startedAtMs >= hourMs) hour = { startedAtMs: nowMs, written: 0 };
    if (hour.written >= mostFailuresAnHour) {
      untold += 1;
      return;
    }
    hour.written += 1;
    const after = { address, ...(untold > 0 && { notTold: untold }) };
    untold = 0;
    // What nobody knows may be a password that was typed into the wrong field.
    const subject = member?.email ?? '(no member)';
    await store.audit.add({ actor: 'console', action: 'console.sign_in_failed', subject, before: null, after });
  }

  return async ({ email, password }, origin) => {
    const account = foldEmail(email);
    await throttle.begin(account, origin.address);
    const member = await store.members.findByEmail(account);
    const fits = await passwords.verify(password, member?.passwordHash);
    if (!fits || member === undefined || member.disabledAtMs !== undefined) {
      await tellFailure(member, origin.address);
      throw signInFailed();
    }
    await throttle.succeeded(account, origin.address);
    const opened = await sessions.open(member, 'password', origin);
    await tellSignIn(store.audit, opened);
    return opened;
  };
}

/** For every way in. */
export async function tellSignIn(audit: Store['audit'], { member, session }: OpenedSession): Promise<void> {
  const { id: memberId, email, role } = member;
  const actor = actorOf({ kind: 'member', memberId, name: email, role, sessionId: session.id, csrfToken: '' });
  const after = { method: session.method, address: session.address };
  await audit.add({ actor, action: 'console.sign_in', subject: email, before: null, after });
}

export async function tellSignOut(audit: Store['audit'], caller: MemberCaller): Promise<void> {
  const entry = { action: 'console.sign_out', subject: caller.name, before: null, after: null };
  await audit.add({ actor: actorOf(caller), ...entry });
}
