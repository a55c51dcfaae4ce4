/** Whether the store answers when money is drawn from it: the time limit of each call, and the line in the log when that changes. */

import type { Log } from '../core/log.ts';
import { beforeDeadline } from '../lib/deadline.ts';
import { reasonOf } from '../lib/thrown.ts';

export interface StoreWatch {
  /** The last that was heard of it was a failure. */
  isDoubtful(): boolean;
  /** The answer of the store to a call, where it comes within the time. */
  ask<T>(call: Promise<T>, timeoutMs: number): Promise<T>;
}

/** No answer within the time; it may still come. */
export class StoreTimeout extends Error {}

export function createStoreWatch(log: Log): StoreWatch {
  let isDoubtful = false;
  function answered(): void {
    if (!isDoubtful) return;
    isDoubtful = false;
    log.info('budgets can be drawn from the store again');
  }

  function failed(error: unknown): void {
    if (isDoubtful) return;
    isDoubtful = true;
    log.warn('budgets cannot be drawn from the store: what was drawn is spent, then requests are refused', {
      error: reasonOf(error),
    });
  }

  return {
    isDoubtful: () => isDoubtful,

    async ask(call, timeoutMs) {
      const tooLate = (): Error => new StoreTimeout(`The store did not answer within ${Math.round(timeoutMs)} ms.`);
      try {
        const answer = await beforeDeadline(call, timeoutMs, tooLate);
        answered();
        return answer;
      } catch (error) {
        failed(error);
        throw error;
      }
    },
  };
}
