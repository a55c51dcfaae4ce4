/** Renews this node's lease at the account store, after which others may take over the money it drew; and watches whether the store answers. */

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
  /** Called when the store has declared this node lost and returned its money. */
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

  isValidAt(nowMs: number): boolean {
    return nowMs - this.#heardAtMs < spendsAloneMs;
  }

  /** Renews the lease when it is due. Called regularly. */
  look(nowMs: number): void {
    if (nowMs - this.#askedAtMs < renewEveryMs) return;
    // The store watch logs the error, and the renewal is retried.
    this.renew().catch(() => undefined);
  }

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

/** Watches whether the store answers: sets timeouts for its calls, and logs when that changes. */
export type StoreWatch = ReturnType<typeof createStoreWatch>;

/** The error for a store that did not answer in time; its answer may still come. */
export class StoreTimeout extends Error {}

export function createStoreWatch(log: Log) {
  let isDoubtful = false;
  function answered(): void {
    if (!isDoubtful) return;
    isDoubtful = false;
    log.info('store reachable again for budgets');
  }

  function failed(error: unknown): void {
    if (isDoubtful) return;
    isDoubtful = true;
    log.warn('store unreachable for budgets', { error: reasonOf(error) });
  }

  return {
    isDoubtful: (): boolean => isDoubtful,

    /** The store's answer, or a rejection after the timeout. A read proves nothing for writes: a store may be readable and take no writes. */
    async ask<T>(call: Promise<T>, timeoutMs: number, isRead = false): Promise<T> {
      const tooLate = (): Error => new StoreTimeout(`The store did not answer within ${Math.round(timeoutMs)} ms.`);
      try {
        const answer = await beforeDeadline(call, timeoutMs, tooLate);
        if (!isRead) answered();
        return answer;
      } catch (error) {
        failed(error);
        throw error;
      }
    },
  };
}
