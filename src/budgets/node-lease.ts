/** This node's lease at the account store: once it expires, other nodes may take over what the node drew. */

import { type BudgetAccountStore, spendsAloneMs } from '../core/store/budgets.ts';
import type { Clock } from '../lib/clock.ts';
import type { StoreWatch } from './store-watch.ts';

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
