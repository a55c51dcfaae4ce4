/** Counts the serving nodes by their reports in the store, while Redis cannot tell their number. */

import type { Log } from '../core/log.ts';
import { type HealthStore, reportMaxAgeMs } from '../core/store/health.ts';

const intervalMs = 5_000;

export interface NodeCensusDeps {
  readonly health: Pick<HealthStore, 'nodes'>;
  /** Number of worker processes on this machine: the minimum of the count. */
  readonly workers: number;
  readonly log: Pick<Log, 'warn'>;
}

/** Starts counting; resolves after the first count, or its failure. */
export async function takeNodeCensus({ health, workers, log }: NodeCensusDeps) {
  let count = workers;
  let isFailing = false;
  let timer: NodeJS.Timeout | undefined;

  async function take(unsaid: number): Promise<void> {
    try {
      count = Math.max(workers, (await health.nodes(reportMaxAgeMs)).length + unsaid);
      isFailing = false;
    } catch (error) {
      if (!isFailing) log.warn('node count unavailable', { error: String(error) });
      isFailing = true;
    }
  }

  // This process has not reported yet, so it is added.
  await take(1);
  return {
    get count(): number {
      return count;
    },
    /** Goes on counting at intervals, while no other source knows the number. */
    keepUp(isNeeded: () => boolean): void {
      timer = setInterval(() => {
        if (isNeeded()) void take(0);
      }, intervalMs).unref();
    },
    close: (): void => clearInterval(timer),
  };
}
