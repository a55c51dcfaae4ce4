/** Watches the store for changes by polling and by notifications, and reports them in order and without gaps. */

import type { Change, ChangeFeed } from '../../core/store/store.ts';
import type { Clock } from '../../lib/clock.ts';
import { beforeDeadline } from '../../lib/deadline.ts';
import { repeat } from '../../lib/repeat.ts';

export interface ChangeWatchOptions {
  readonly changes: ChangeFeed;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  /** The last change that is known already. */
  readonly from: Change | undefined;
  readonly intervalMs: number;
  /** After this time of one query the store counts as unreachable. */
  readonly timeoutMs?: number;
  /** Called with new changes; with undefined where some were lost, so that anything may have changed. */
  readonly onChanges: (changes: readonly Change[] | undefined) => void;
  /** Called with the monotonic time up to which all changes are known to be reported. */
  readonly onConfirmed: (atMs: number) => void;
  /** Called at the beginning and at the end of each outage of the store. */
  readonly onOutage: (state: 'begins' | 'ends', cause?: unknown) => void;
}

const standardTimeoutMs = 2_000;

export function watchChanges({
  changes,
  clock,
  from,
  intervalMs,
  timeoutMs = standardTimeoutMs,
  onChanges,
  onConfirmed,
  onOutage,
}: ChangeWatchOptions) {
  let last = from;
  let isOut = false;
  let stopped = false;
  /** The number of the current query; results of earlier ones, which are overdue, are ignored. */
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
    async close() {
      stopped = true;
      await Promise.all([listening.close(), looking.close()]);
    },
  };
}
