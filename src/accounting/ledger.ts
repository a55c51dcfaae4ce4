/** The ledger as the pipeline sees it: intents and settlements for the journal. */

import type { Ledger, LedgerWaiter } from '../core/accounting/ledger.ts';
import type { Reservation } from '../core/accounting/spending.ts';
import type { Exchange } from '../core/exchange.ts';
import type { Journal } from '../journal/journal.ts';
import type { RowItem } from '../journal/journal-items.ts';
import type { Clock } from '../lib/clock.ts';
import { captureOf, withoutBodies } from './capture.ts';
import { RowWriter } from './row.ts';

export interface LedgerDeps {
  readonly journal: Pick<Journal, 'open' | 'settle' | 'note' | 'fits'>;
  readonly node: string;
  readonly clock: Clock;
}

export function createLedger({ journal, node, clock }: LedgerDeps): Ledger {
  const rows = new RowWriter(node);

  function toItem(exchange: Exchange, reservation: Reservation | undefined): RowItem {
    const capture = captureOf(exchange, clock.nowMs());
    const item = rows.settlement(exchange, reservation, clock.monotonicMs(), capture);
    // Space is reserved for rows, not for what was said: where that would take it, the row goes without.
    if (capture === undefined || journal.fits(item)) return item;
    return rows.settlement(exchange, reservation, clock.monotonicMs(), withoutBodies(capture));
  }

  function settle(exchange: Exchange, reservation: Reservation | undefined, waiter?: LedgerWaiter): Promise<void> {
    const item = toItem(exchange, reservation);
    return reservation === undefined ? journal.note(item, waiter) : journal.settle(exchange.id, item, waiter);
  }

  return {
    open: (exchange, reservation) => journal.open(exchange.id, rows.intent(exchange, reservation)),
    settle,
    openFor(waiter, exchange, reservation) {
      journal.open(exchange.id, rows.intent(exchange, reservation), waiter);
    },
    settleFor(waiter, exchange, reservation) {
      settle(exchange, reservation, waiter);
    },
  };
}
