/** The end of an exchange: what it used is settled and written down, once, before its client sees the end. */

import { GatewayError } from '../core/errors.ts';
import type { Exchange } from '../core/exchange.ts';
import type { Ledger } from '../core/ledger.ts';
import type { RowOutcome } from '../core/ledger-row.ts';
import type { Answer } from '../core/outcome.ts';
import type { Reservation } from '../core/spending.ts';
import type { UsageObserver } from './usage.ts';

export interface SettlingDeps {
  readonly ledger: Ledger;
  bill(exchange: Exchange): void;
}

export class Settling {
  readonly #exchange: Exchange;
  readonly #deps: SettlingDeps;
  #reservation: Reservation | undefined = undefined;
  #isDone = false;

  constructor(exchange: Exchange, deps: SettlingDeps) {
    this.#exchange = exchange;
    this.#deps = deps;
  }

  reserved(reservation: Reservation): void {
    this.#reservation = reservation;
  }

  /** An answer is over, or broke off. Resolves when that is written down; rejects where it cannot be. */
  async answered(answer: Answer, observer: UsageObserver): Promise<void> {
    const exchange = this.#exchange;
    const counted = observer.finish(exchange.cut || exchange.errorCode !== undefined);
    const usage = counted instanceof Promise ? await counted : counted;
    // What a translated answer shows may be an estimate.
    exchange.usage = answer.translated === undefined ? usage : answer.translated.usage;
    exchange.decodedBytes = observer.decodedLength();
    await this.#settle();
  }

  /** It ended with an error of ours. That it cannot be written down is no reason for another error. */
  async failed(error: unknown): Promise<void> {
    if (this.#isDone) return;
    const { code, status } = error instanceof GatewayError ? error : new GatewayError('internal_error');
    this.#exchange.status = status;
    this.#exchange.errorCode = code;
    // Strangers and slips of the path are for the log; nothing was promised to anyone.
    if (this.#exchange.key === undefined) return;
    try {
      await this.#settle();
    } catch (cause) {
      if (!(cause instanceof GatewayError)) throw cause;
    }
  }

  #settle(): Promise<void> {
    if (this.#isDone) return Promise.resolve();
    this.#isDone = true;
    const exchange = this.#exchange;
    exchange.outcome = outcomeOf(exchange);
    this.#deps.bill(exchange);
    this.#reservation?.settle(exchange);
    return this.#deps.ledger.settle(exchange, this.#reservation);
  }
}

function outcomeOf({ cut, errorCode, attempts, status }: Exchange): RowOutcome {
  if (errorCode === 'client_closed') return 'aborted';
  if (cut) return 'cut';
  if (errorCode !== undefined && attempts === 0) return 'refused';
  return errorCode === undefined && status < 400 ? 'ok' : 'error';
}
