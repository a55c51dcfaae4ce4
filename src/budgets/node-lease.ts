/** This node's lease at the account store, once it expires others may take over what it drew; and whether the store answers. */

import type { Log } from '../core/log.ts';
import { type BudgetAccountStore, spendsAloneMs } from '../core/store/budgets.ts';
import type { Clock } from '../lib/clock.ts';
import { beforeDeadline } from '../lib/deadline.ts';
import { reasonOf } from '../lib/thrown.ts';

const renewEveryMs = 10_000;
const timeoutMs = 5_000;

export interface NodeLeaseDeps {
  readonly accountStore: Pick<BudgetAccountStore, 'renew'>;
  readonly node: string;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly watch: StoreWatch;
  /** The account store took it for lost, and gave what it drew to others. */
  onLost(): void;
}

export class NodeLease {
  readonly #deps: NodeLeaseDeps;
  #heardAtMs = Number.NEGATIVE_INFINITY;
  #askedAtMs = Number.NEGATIVE_INFINITY;
  #renewing: Promise<void> | undefined = undefined;

  constructor(deps: NodeLeaseDeps) {
    this.#deps = deps;
  }

  /** What was drawn may be spent. */
  isValidAt(nowMs: number): boolean {
    return nowMs - this.#heardAtMs < spendsAloneMs;
  }

  /** Every now and then. */
  look(nowMs: number): void {
    if (nowMs - this.#askedAtMs < renewEveryMs) return;
    // The watch says so in the log, and it is tried again.
    this.renew().catch(() => undefined);
  }

  /** Resolves when the account store has heard of it. */
  renew(): Promise<void> {
    this.#renewing ??= this.#renew().finally(() => {
      this.#renewing = undefined;
    });
    return this.#renewing;
  }

  async #renew(): Promise<void> {
    const { accountStore, node, clock, watch, onLost } = this.#deps;
    const askedAtMs = clock.monotonicMs();
    this.#askedAtMs = askedAtMs;
    const isKnown = await watch.ask(accountStore.renew(node), timeoutMs);
    if (!isKnown && this.#heardAtMs > Number.NEGATIVE_INFINITY) onLost();
    this.#heardAtMs = askedAtMs;
  }
}

/** Whether the store answers when money is drawn from it: the time limit of each call, and the line in the log when that changes. */
export type StoreWatch = ReturnType<typeof createStoreWatch>;

/** No answer within the time; it may still come. */
export class StoreTimeout extends Error {}

export function createStoreWatch(log: Log) {
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
    /** The last that was heard of it was a failure. */
    isDoubtful: (): boolean => isDoubtful,

    /** The answer of the store to a call, where it comes within the time. */
    async ask<T>(call: Promise<T>, timeoutMs: number): Promise<T> {
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
