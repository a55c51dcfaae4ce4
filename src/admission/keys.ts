/** The keys of the store as requests ask for them: remembered for a moment, and for longer while the store is out. */

import { GatewayError } from '../core/errors.ts';
import type { KeyRecord } from '../core/key.ts';
import type { KeyStore } from '../core/store.ts';
import type { Clock } from '../lib/clock.ts';

export interface KeyDirectory {
  /** Synchronous when the answer is at hand (no promise on the hot path). */
  find(digest: string): KeyRecord | undefined | Promise<KeyRecord | undefined>;
}

export interface KeyDirectoryDeps {
  readonly store: Pick<KeyStore, 'find'>;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  /** How long an answer holds without another look: a revocation is in force after this and one look-up. */
  readonly freshMs?: number;
  /** How long a key that was known keeps working while the store does not answer. */
  readonly staleMs?: number;
  /** How long one look-up may take before the store counts as out. */
  readonly lookUpTimeoutMs?: number;
  /** Of known keys, and of unknown ones: strangers' keys are counted apart, so they push no known key out. */
  readonly maxEntries?: number;
}

interface Known {
  readonly record: KeyRecord;
  readonly readAtMs: number;
  /** When the store last failed to confirm it; long ago where it did not. */
  failedAtMs: number;
}

type Answer =
  | { readonly kind: 'answered'; readonly record: KeyRecord | undefined }
  | { readonly kind: 'failed'; readonly cause: unknown };

export function createKeyDirectory({
  store,
  clock,
  freshMs = 1_000,
  staleMs = 600_000,
  lookUpTimeoutMs = 1_000,
  maxEntries = 10_000,
}: KeyDirectoryDeps): KeyDirectory {
  // Both in the order of their last reading, the oldest first.
  const known = new Map<string, Known>();
  const unknownAtMs = new Map<string, number>();
  const running = new Map<string, Promise<Answer>>();

  function find(digest: string): KeyRecord | undefined | Promise<KeyRecord | undefined> {
    const nowMs = clock.monotonicMs();
    const entry = known.get(digest);
    if (entry !== undefined) {
      if (nowMs - entry.readAtMs < freshMs) return entry.record;
      // The store is out: nobody waits for it, and it is asked again behind the scenes.
      const sinceFailureMs = nowMs - entry.failedAtMs;
      if (sinceFailureMs < freshMs + lookUpTimeoutMs && nowMs - entry.readAtMs < staleMs) {
        if (sinceFailureMs >= freshMs) void ask(digest);
        return entry.record;
      }
    } else if (nowMs - (unknownAtMs.get(digest) ?? Number.NEGATIVE_INFINITY) < freshMs) {
      return undefined;
    }
    return findInStore(digest);
  }

  async function findInStore(digest: string): Promise<KeyRecord | undefined> {
    const answer = await ask(digest);
    if (answer.kind === 'answered') return answer.record;
    const entry = known.get(digest);
    if (entry !== undefined && clock.monotonicMs() - entry.readAtMs < staleMs) return entry.record;
    // Not "unknown": it may well be a valid key.
    throw new GatewayError('store_unavailable', { headers: ['Retry-After', '1'], cause: answer.cause });
  }

  /** One look-up at a time for each digest; whoever else asks meanwhile shares its answer. */
  function ask(digest: string): Promise<Answer> {
    let answer = running.get(digest);
    if (answer === undefined) {
      answer = readStore(digest).finally(() => running.delete(digest));
      running.set(digest, answer);
    }
    return answer;
  }

  async function readStore(digest: string): Promise<Answer> {
    // An answer is as old as its question: what is revoked in between must not pass for fresh.
    const askedAtMs = clock.monotonicMs();
    let record: KeyRecord | undefined;
    try {
      record = await withinTime(store.find(digest), lookUpTimeoutMs);
    } catch (cause) {
      const entry = known.get(digest);
      if (entry !== undefined) entry.failedAtMs = clock.monotonicMs();
      return { kind: 'failed', cause };
    }
    known.delete(digest);
    unknownAtMs.delete(digest);
    if (record === undefined) {
      unknownAtMs.set(digest, askedAtMs);
      dropOldest(unknownAtMs, (atMs) => askedAtMs - atMs >= freshMs);
    } else {
      known.set(digest, { record, readAtMs: askedAtMs, failedAtMs: Number.NEGATIVE_INFINITY });
      dropOldest(known, ({ readAtMs }) => askedAtMs - readAtMs >= staleMs);
    }
    return { kind: 'answered', record };
  }

  function dropOldest<T>(entries: Map<string, T>, isOver: (entry: T) => boolean): void {
    for (const [digest, entry] of entries) {
      if (entries.size <= maxEntries && !isOver(entry)) return;
      entries.delete(digest);
    }
  }

  return { find };
}

async function withinTime<T>(promise: Promise<T>, timeoutMs: number): Promise<T> {
  const { promise: timeout, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`The store did not answer within ${timeoutMs} ms.`)), timeoutMs);
  try {
    return await Promise.race([promise, timeout]);
  } finally {
    clearTimeout(timer);
  }
}
