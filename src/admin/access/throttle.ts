/** Slows down guessing of passwords: counts attempts per account in the store, for all nodes, and per address in memory. */

import type { AttemptStore } from '../../core/store/members.ts';
import { toNetwork } from '../../lib/addresses/network-of.ts';
import type { Clock } from '../../lib/clock.ts';
import { digestOf } from '../../lib/secrets/key-secret.ts';
import { Problem } from '../problem.ts';

export type Throttle = ReturnType<typeof createThrottle>;

export interface ThrottleDeps {
  readonly attempts: AttemptStore;
  readonly clock: Pick<Clock, 'monotonicMs'>;
}

/** Limits for one account: at most a minute, because guessing must not lock the account's owner out for long. */
const account = { free: 5, longestMs: 60_000 };
/** Limits for one network address, which several people may share. */
const addressRule = { free: 20, longestMs: 5 * 60_000 };
const firstMs = 1_000;
const forgottenMs = 15 * 60_000;
const mostAddresses = 10_000;

interface Tries {
  attempts: number;
  atMs: number;
  blockedUntilMs: number;
}

export function createThrottle({ attempts, clock }: ThrottleDeps) {
  /** Addresses with failed attempts, the one seen longest ago first. */
  const addresses = new Map<string, Tries>();

  function waitOf(address: string): number {
    const nowMs = clock.monotonicMs();
    for (const [known, { atMs }] of addresses) {
      if (nowMs - atMs < forgottenMs && addresses.size <= mostAddresses) break;
      addresses.delete(known);
    }
    const tries = addresses.get(address) ?? { attempts: 0, atMs: nowMs, blockedUntilMs: 0 };
    if (tries.blockedUntilMs > nowMs) return tries.blockedUntilMs - nowMs;
    tries.attempts += 1;
    tries.atMs = nowMs;
    tries.blockedUntilMs = nowMs + backOffMs(tries.attempts, addressRule);
    addresses.delete(address);
    addresses.set(address, tries);
    return 0;
  }

  return {
    /** Counts an attempt before it is checked, so that parallel ones gain nothing. Throws a Problem where it must wait. */
    async begin(name: string | undefined, address: string) {
      refuseAfter(waitOf(toNetwork(address)));
      if (name !== undefined) refuseAfter(await attempts.begin(subjectOf(name), (count) => backOffMs(count, account)));
    },

    async succeeded(name: string | undefined, address: string) {
      // Not all of them: a member could guess at others and reset the count by an own sign-in.
      const tries = addresses.get(toNetwork(address));
      if (tries !== undefined) tries.attempts -= 1;
      if (name !== undefined) await attempts.succeeded(subjectOf(name));
    },
  };
}

/** The wait after some failed attempts: none for the first few, then a second, doubled each time. */
function backOffMs(count: number, { free, longestMs }: { free: number; longestMs: number }): number {
  return count < free ? 0 : Math.min(longestMs, firstMs * 2 ** Math.min(count - free, 30));
}

function refuseAfter(waitMs: number): void {
  if (waitMs <= 0) return;
  const seconds = Math.ceil(waitMs / 1_000);
  throw new Problem('too_many_attempts', {
    detail: `There were too many attempts; try again in ${seconds === 1 ? 'a second' : `${seconds} seconds`}.`,
    headers: { 'retry-after': String(seconds) },
  });
}

/** The name under which an account's attempts are stored: a digest, because people type passwords into the address field by mistake. */
const subjectOf = (name: string): string => `account ${digestOf(name)}`;
