/** Looks up stored keys through a cache. An entry is valid for a second, while the store confirms that nothing changed, and for ten minutes in an outage. */

import { GatewayError } from '../core/errors.ts';
import type { KeyRecord } from '../core/key.ts';
import type { KeyStore } from '../core/store/keys.ts';
import type { Clock } from '../lib/clock.ts';
import { beforeDeadline } from '../lib/deadline.ts';
import { getOrMake } from '../lib/get-or-make.ts';

export interface KeyDirectory {
  /** Finds a key by its secret's digest. Returns no promise where the answer is cached. */
  find(digest: string): KeyRecord | undefined | Promise<KeyRecord | undefined>;
  /** Notes that keys in the store changed: these IDs, or any. To be called before `confirmed`. */
  changed(ids?: Iterable<string>): void;
  /** Notes that a query at this monotonic time found all changes, which were passed to `changed`. */
  confirmed(atMs: number): void;
}

/** How long an answer, or a confirmation that nothing changed, is valid: a revocation takes effect after this and one look-up. */
const freshMs = 1_000;
/** How long a known key works while the store is unreachable. */
const staleMs = 600_000;

export interface KeyDirectoryDeps {
  readonly store: Pick<KeyStore, 'find'>;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  /** Timeout of a look-up; after it the store counts as unreachable. */
  readonly lookUpTimeoutMs?: number;
  /** Limit of known keys, and of unknown ones, in the cache: separate, so that strangers' keys cannot evict known ones. */
  readonly maxEntries?: number;
}

interface Known {
  readonly record: KeyRecord;
  readAtMs: number;
  /** All changes since the key was read were received. */
  isFollowed: boolean;
  /** When the store last failed to confirm the key; long ago where it never did. */
  failedAtMs: number;
}

type Answer =
  | { readonly kind: 'answered'; readonly record: KeyRecord | undefined }
  | { readonly kind: 'failed'; readonly cause: unknown };

export function createKeyDirectory({
  store,
  clock,
  lookUpTimeoutMs = 1_000,
  maxEntries = 10_000,
}: KeyDirectoryDeps): KeyDirectory {
  const tooLate = (): Error => new Error(`The store did not answer within ${lookUpTimeoutMs} ms.`);
  // Both maps are in the order of the last reading, the oldest first.
  const known = new Map<string, Known>();
  const unknownAtMs = new Map<string, number>();
  const running = new Map<string, Promise<Answer>>();
  let confirmedAtMs = Number.NEGATIVE_INFINITY;
  /** Counts changes: an answer that was requested before a change may be outdated. */
  let changes = 0;

  function find(digest: string): KeyRecord | undefined | Promise<KeyRecord | undefined> {
    const nowMs = clock.monotonicMs();
    const entry = known.get(digest);
    if (entry !== undefined) {
      const trueAtMs = lastConfirmedAtMs(entry);
      if (nowMs - trueAtMs < freshMs) return entry.record;
      // During an outage requests do not wait: they use the cached key, and the store is asked in the background.
      const sinceFailureMs = nowMs - entry.failedAtMs;
      if (sinceFailureMs < freshMs + lookUpTimeoutMs && nowMs - trueAtMs < staleMs) {
        if (sinceFailureMs >= freshMs) void ask(digest);
        return entry.record;
      }
    } else {
      const readAtMs = unknownAtMs.get(digest);
      if (readAtMs !== undefined && nowMs - Math.max(readAtMs, confirmedAtMs) < freshMs) return undefined;
    }
    return findInStore(digest);
  }

  function lastConfirmedAtMs({ isFollowed, readAtMs }: Known): number {
    return isFollowed ? Math.max(readAtMs, confirmedAtMs) : readAtMs;
  }

  function changed(ids?: Iterable<string>): void {
    changes += 1;
    // Keys that were unknown may have been created.
    unknownAtMs.clear();
    const listed = ids === undefined ? undefined : new Set(ids);
    for (const entry of known.values()) {
      if (listed !== undefined && !listed.has(entry.record.id)) continue;
      // The next request waits for the store; during an outage the key stays valid as a known one.
      entry.readAtMs = Math.min(lastConfirmedAtMs(entry), clock.monotonicMs() - freshMs);
      entry.isFollowed = false;
      entry.failedAtMs = Number.NEGATIVE_INFINITY;
    }
  }

  async function findInStore(digest: string): Promise<KeyRecord | undefined> {
    const answer = await ask(digest);
    if (answer.kind === 'answered') return answer.record;
    const entry = known.get(digest);
    if (entry !== undefined && clock.monotonicMs() - lastConfirmedAtMs(entry) < staleMs) return entry.record;
    // The key is not reported as unknown, as it may be valid.
    throw new GatewayError('store_unavailable', {
      message: 'The API key cannot be looked up just now; try again in a moment.',
      headers: ['Retry-After', '1'],
      cause: answer.cause,
    });
  }

  /** Asks the store. One look-up at a time per digest; concurrent requests share its answer. */
  function ask(digest: string): Promise<Answer> {
    return getOrMake(running, digest, () => readStore(digest).finally(() => running.delete(digest)));
  }

  async function readStore(digest: string): Promise<Answer> {
    // An answer is as old as its query: a revocation in between must not be missed.
    const askedAtMs = clock.monotonicMs();
    const changesBefore = changes;
    let record: KeyRecord | undefined;
    try {
      record = await beforeDeadline(store.find(digest), lookUpTimeoutMs, tooLate);
    } catch (cause) {
      const entry = known.get(digest);
      if (entry !== undefined) entry.failedAtMs = clock.monotonicMs();
      return { kind: 'failed', cause };
    }
    known.delete(digest);
    unknownAtMs.delete(digest);
    const isFollowed = changes === changesBefore;
    if (record !== undefined) {
      known.set(digest, { record, readAtMs: askedAtMs, isFollowed, failedAtMs: Number.NEGATIVE_INFINITY });
      dropOldest(known, (entry) => askedAtMs - lastConfirmedAtMs(entry) >= staleMs);
    } else if (isFollowed) {
      unknownAtMs.set(digest, askedAtMs);
      dropOldest(unknownAtMs, (atMs) => askedAtMs - Math.max(atMs, confirmedAtMs) >= freshMs);
    }
    return { kind: 'answered', record };
  }

  function dropOldest<T>(entries: Map<string, T>, isOver: (entry: T) => boolean): void {
    for (const [digest, entry] of entries) {
      if (entries.size <= maxEntries && !isOver(entry)) return;
      entries.delete(digest);
    }
  }

  return {
    find,
    changed,
    confirmed(atMs) {
      confirmedAtMs = Math.max(confirmedAtMs, atMs);
    },
  };
}
