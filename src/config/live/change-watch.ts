/** Watches the store for changes, in order and without gaps: polls, and reacts to notifications. */

import type { Change, ChangeFeed } from '../../core/store/store.ts';
import type { Clock } from '../../lib/clock.ts';
import { beforeDeadline } from '../../lib/deadline.ts';
import { repeat } from '../../lib/repeat.ts';

export interface ChangeWatchOptions {
  readonly changes: ChangeFeed;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  /** The last known change. */
  readonly from: Change | undefined;
  readonly intervalMs?: number;
  /** Timeout of one query, after which the store counts as unreachable. */
  readonly timeoutMs?: number;
  /** Undefined where changes were lost, so that anything may have changed. */
  readonly onChanges: (changes: readonly Change[] | undefined) => void;
  /** All changes up to this monotonic time were reported. */
  readonly onConfirmed: (atMs: number) => void;
  /** At the beginning and the end of each outage. */
  readonly onOutage: (state: 'begins' | 'ends', cause?: unknown) => void;
}

const standardIntervalMs = 500;
const standardTimeoutMs = 2_000;

export function watchChanges({
  changes,
  clock,
  from,
  intervalMs = standardIntervalMs,
  timeoutMs = standardTimeoutMs,
  onChanges,
  onConfirmed,
  onOutage,
}: ChangeWatchOptions) {
  let last = from;
  let isOut = false;
  let stopped = false;
  /** The current query: results of overdue ones are ignored. */
  let turn = 0;
  const tooLate = (): Error => new Error(`The store did not answer within ${timeoutMs} ms.`);

  async function look(): Promise<void> {
    const askedAtMs = clock.monotonicMs();
    turn += 1;
    try {
      await beforeDeadline(readOn(turn), timeoutMs, tooLate);
    } catch (cause) {
      turn += 1;
      if (!isOut && !stopped) onOutage('begins', cause);
      isOut = true;
      return;
    }
    if (stopped) return;
    if (isOut) onOutage('ends');
    isOut = false;
    onConfirmed(askedAtMs);
  }

  async function readOn(mine: number): Promise<void> {
    for (;;) {
      const found = await changes.since(last);
      const newest = found === undefined ? await changes.latest() : found.at(-1);
      if (stopped || mine !== turn || found?.length === 0) return;
      last = newest;
      onChanges(found);
    }
  }

  const looking = repeat(look, intervalMs, 0);
  const listening = changes.listen(looking.now);
  return {
    /** Resolves when nothing is running any more. */
    async close() {
      stopped = true;
      await Promise.all([listening.close(), looking.close()]);
    },
  };
}
