/** Whether the bank answers: while it does not, nobody waits for it in vain. */

import type { Clock } from '../../lib/clock.ts';

/** After it left someone waiting, others are refused at once for so long, and then one asks again. */
const restMs = 1_000;

export interface StoreWatch {
  /** It kept someone waiting a moment ago. */
  isSilent(): boolean;
  /** The last that was heard of it was a failure. */
  isDoubtful(): boolean;
  /** The answer of the store to a call, where it comes within the time. */
  ask<T>(call: Promise<T>, timeoutMs: number): Promise<T>;
}

export interface BudgetLog {
  info(message: string, fields?: Record<string, unknown>): void;
  warn(message: string, fields?: Record<string, unknown>): void;
}

export function createStoreWatch(clock: Pick<Clock, 'monotonicMs'>, log: BudgetLog): StoreWatch {
  let silentUntilMs = Number.NEGATIVE_INFINITY;
  let isDoubtful = false;
  function answered(): void {
    silentUntilMs = Number.NEGATIVE_INFINITY;
    if (!isDoubtful) return;
    isDoubtful = false;
    log.info('budgets can be drawn from the store again');
  }

  function failed(error: unknown): void {
    if (isDoubtful) return;
    isDoubtful = true;
    log.warn('budgets cannot be drawn from the store: what was drawn is spent, then requests are refused', {
      error: error instanceof Error ? error.message : String(error),
    });
  }

  return {
    isSilent: () => clock.monotonicMs() < silentUntilMs,
    isDoubtful: () => isDoubtful,

    async ask(call, timeoutMs) {
      const { promise: timeout, reject } = Promise.withResolvers<never>();
      const timer = setTimeout(() => {
        silentUntilMs = clock.monotonicMs() + restMs;
        reject(new Error(`The store did not answer within ${Math.round(timeoutMs)} ms.`));
      }, timeoutMs);
      try {
        const answer = await Promise.race([call, timeout]);
        answered();
        return answer;
      } catch (error) {
        failed(error);
        throw error;
      } finally {
        clearTimeout(timer);
      }
    },
  };
}
