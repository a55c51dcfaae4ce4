/** What a device has to sign: made here, good for a few minutes, and once. */

import { randomBytes } from 'node:crypto';
import type { Clock } from '../../lib/clock.ts';

const goodMs = 5 * 60_000;
const mostOpen = 10_000;
const bytes = 32;

export interface Challenges {
  /** For one purpose, such as a member's registration. */
  create(purpose: string): string;
  /** False where it was not made for that, was taken before, or is too old. */
  take(challenge: string, purpose: string): boolean;
}

/** In memory: a sign-in ends where it began, at the same process. */
export function createChallenges(clock: Pick<Clock, 'monotonicMs'>): Challenges {
  const open = new Map<string, { readonly purpose: string; readonly atMs: number }>();

  return {
    create(purpose) {
      const nowMs = clock.monotonicMs();
      for (const [challenge, { atMs }] of open) {
        if (nowMs - atMs < goodMs && open.size < mostOpen) break;
        open.delete(challenge);
      }
      const challenge = randomBytes(bytes).toString('base64url');
      open.set(challenge, { purpose, atMs: nowMs });
      return challenge;
    },

    take(challenge, purpose) {
      const found = open.get(challenge);
      open.delete(challenge);
      return found !== undefined && found.purpose === purpose && clock.monotonicMs() - found.atMs < goodMs;
    },
  };
}
