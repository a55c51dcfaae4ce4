/** Estimates the number of serving nodes from the store while Redis cannot tell. */

import type { Log } from '../core/log.ts';
import { type HealthStore, reportMaxAgeMs } from '../core/store/health.ts';

const intervalMs = 5_000;

export interface NodeCensusDeps {
  readonly health: Pick<HealthStore, 'nodes'>;
  /** The minimum. */
  readonly workers: number;
  readonly log: Pick<Log, 'warn'>;
}

/** Resolves after the first count, or its failure. */
export async function takeNodeCensus({ health, workers, log }: NodeCensusDeps) {
  let count = workers;
  let isFailing = false;
  let timer: NodeJS.Timeout | undefined;

  async function take(unsaid: number): Promise<void> {
    try {
      count = Math.max(workers, (await health.nodes(reportMaxAgeMs)).length + unsaid);
      isFailing = false;
    } catch (error) {
      if (!isFailing) log.warn('the nodes could not be counted in the store', { error: String(error) });
      isFailing = true;
    }
  }

  // This process has not reported yet.
  await take(1);
  return {
    /** This process included. */
    get count(): number {
      return count;
    },
    /** Continues counting, where no other source knows the number. */
    keepUp(isNeeded: () => boolean): void {
      timer = setInterval(() => {
        if (isNeeded()) void take(0);
      }, intervalMs).unref();
    },
    close: (): void => clearInterval(timer),
  };
}
