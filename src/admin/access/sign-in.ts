/** Signing in by e-mail address and password: the same time and the same words whoever it is, and an entry in the audit log. */

import { foldEmail } from '../../core/store/members.ts';
import type { Store } from '../../core/store/store.ts';
import { actorNamed, actorOf, type MemberCaller } from '../caller.ts';
import type { FailedSignIns } from './failed-sign-ins.ts';
import type { Passwords } from './passwords.ts';
import { type OpenedSession, type Origin, type Sessions, signInFailed } from './sessions.ts';
import type { Throttle } from './throttle.ts';

export interface SignInDeps {
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

export type SignIn = (credentials: Credentials, origin: Origin) => Promise<OpenedSession>;

export function createSignIn({ store, sessions, passwords, throttle, failures }: SignInDeps): SignIn {
  return async ({ email, password }, origin) => {
    const account = foldEmail(email);
    await throttle.begin(account, origin.address);
    const member = await store.members.findByEmail(account);
    const fits = await passwords.verify(password, member?.passwordHash);
    if (!fits || member === undefined || member.disabledAtMs !== undefined) {
      await failures.tell(member?.email, { method: 'password', address: origin.address });
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
  const { email } = member;
  const after = { method: session.method, address: session.address };
  await audit.add({ actor: actorNamed(email), action: 'console.sign_in', subject: email, before: null, after });
}

export async function tellSignOut(audit: Store['audit'], caller: MemberCaller): Promise<void> {
  const entry = { action: 'console.sign_out', subject: caller.name, before: null, after: null };
  await audit.add({ actor: actorOf(caller), ...entry });
}
