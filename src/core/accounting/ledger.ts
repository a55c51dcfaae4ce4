/** Interface of the ledger: a start record before a request is sent, and a settlement before the client sees the end. */

import type { Exchange } from '../exchange.ts';
import type { Reservation } from './spending.ts';

export interface LedgerWaiter {
  onWritten(): void;
  /** `error` is a `store_unavailable`. */
  onNotWritten(error: unknown): void;
}

export interface Ledger {
  /** Resolves when the intent is as durable as configured; rejects with `store_unavailable` where it cannot be. */
  open(exchange: Exchange, reservation: Reservation): Promise<void>;
  /** The same for the result; also for a request refused before anything was sent, where the key is known. */
  settle(exchange: Exchange, reservation: Reservation | undefined): Promise<void>;
  /** As `open` and `settle`. */
  openFor(waiter: LedgerWaiter, exchange: Exchange, reservation: Reservation): void;
  settleFor(waiter: LedgerWaiter, exchange: Exchange, reservation: Reservation | undefined): void;
}
