/** Attempts to sign in, or to prove who one is, that failed, by whichever way, in the audit log. */

import type { SessionMethod } from '../../core/store/members.ts';
import type { Store } from '../../core/store/store.ts';
import type { Clock } from '../../lib/clock.ts';
import { Problem } from '../problem.ts';

interface Attempt {
  /** As the audit log names it; to sign in, where it is left out. */
  readonly action?: 'console.sign_in_failed' | 'console.proof_failed';
  readonly method: SessionMethod;
  readonly address: string;
}

export interface FailedSignIns {
  /** `email` of the member, where there is one: what nobody knows may be a password that was typed into the wrong field. */
  tell(email: string | undefined, attempt: Attempt): Promise<void>;
  /** Tells of it where the proof is refused, and passes the refusal on. */
  watch<T>(attempt: Attempt, prove: () => Promise<T>, email?: string): Promise<T>;
}

/** Whoever guesses must not fill the audit log: beyond this many failures an hour, only their number is told with the next. */
const mostAnHour = 100;
const hourMs = 60 * 60_000;

export function createFailedSignIns(audit: Pick<Store['audit'], 'add'>, clock: Clock): FailedSignIns {
  let hour = { startedAtMs: clock.monotonicMs(), written: 0 };
  let untold = 0;

  async function tell(
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
    tell,
    async watch(attempt, prove, email) {
      try {
        return await prove();
      } catch (error) {
        if (error instanceof Problem) await tell(email, attempt);
        throw error;
      }
    },
  };
}
