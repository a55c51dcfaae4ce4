/** Ends a request: settles its usage and records it, once, before the client sees the end. */

import { Buffer } from 'node:buffer';
import type { RowOutcome } from '../core/accounting/ledger-row.ts';
import type { Ledger, LedgerWaiter, Reservation, Spending } from '../core/accounting/spending.ts';
import type { Usage, Written } from '../core/accounting/usage.ts';
import { believableIn } from '../core/believable.ts';
import { GatewayError } from '../core/errors.ts';
import type { Exchange } from '../core/exchange.ts';
import type { KeyRecord } from '../core/key.ts';
import type { Answer } from '../core/outcome.ts';
import { readJson } from '../lib/json/read-json.ts';
import { headerValue } from '../lib/raw-headers.ts';
import { countTokens } from '../lib/token-count.ts';
import { vocabularyOf } from '../lib/token-ids.ts';
import type { UsageObserver } from '../plan/usage/usage.ts';

export interface SettlingDeps {
  readonly ledger: Ledger;
  bill(exchange: Exchange): void;
  /** Takes over the reservation where the work continues in the background after the response. */
  readonly background: { takeOver(exchange: Exchange, reservation: Reservation | undefined): void };
}

/** With more bytes of text per event than this, events clearly hold several tokens each. */
const mostBytesPerEvent = 16;

export class Settling {
  readonly #exchange: Exchange;
  readonly #deps: SettlingDeps;
  #reservation: Reservation | undefined = undefined;
  #isDone = false;
  /** True where the answer is an error although its status is a good one. */
  #isError = false;

  constructor(exchange: Exchange, deps: SettlingDeps) {
    this.#exchange = exchange;
    this.#deps = deps;
  }

  reserved(reservation: Reservation): void {
    this.#exchange.begun?.over();
    this.#reservation = reservation;
    this.#exchange.hasOwnRates = reservation.rateLines !== '';
  }

  /** Settles an answer that ended or broke off. Resolves when that is recorded; rejects where it cannot be. */
  answered(answer: Answer, observer: UsageObserver): Promise<void> {
    const { cut, errorCode } = this.#exchange;
    this.#isError = (answer.meantStatus ?? 0) >= 400;
    const counted = observer.finish(cut || errorCode !== undefined);
    return counted instanceof Promise
      ? counted.then((usage) => this.#settleWith(usage, answer, observer))
      : this.#settleWith(counted, answer, observer);
  }

  #settleWith(usage: Usage | null, answer: Answer, observer: UsageObserver): Promise<void> {
    const exchange = this.#exchange;
    if (exchange.route?.isFree === true) return this.#settle();
    // A translated answer's usage may be an estimate. A list that ends in an error is billed by its parts.
    exchange.usage =
      (answer.translated === undefined
        ? (answer.countedApart ?? usage ?? countedInHeader(exchange, answer))
        : answer.translated.usage) ?? exchange.usage;
    exchange.decodedBytes = observer.decodedLength();
    exchange.pictures = observer.pictures();
    if (isTextWorthReading(exchange)) exchange.written = observer.written();
    const { written } = exchange;
    this.#isError ||= written?.isError === true;
    if (written === undefined || !needsTokens(exchange, written, answer)) return this.#settle();
    return likelyTokens(written, exchange.target?.model ?? '').then((tokens) => {
      exchange.written = { ...written, tokens };
      return this.#settle();
    });
  }

  /** Settles an answer that was only read for its usage; the waiter is notified when that is recorded. */
  counted(answer: Answer, usage: Usage | null, waiter: LedgerWaiter): void {
    if (this.#isDone) throw new TypeError('an exchange is settled once');
    const exchange = this.#exchange;
    exchange.usage = answer.countedApart ?? usage ?? countedInHeader(exchange, answer) ?? exchange.usage;
    this.#close();
    this.#deps.ledger.settleFor(waiter, exchange, this.#reservation);
  }

  /** Records that the request ended with an error of the gateway. A failure to record it causes no second error. */
  async failed(error: unknown): Promise<void> {
    this.#exchange.begun?.over();
    if (this.#isDone) return;
    const { recordedAs, status } = error instanceof GatewayError ? error : new GatewayError('internal_error');
    this.#exchange.status = status;
    this.#exchange.errorCode = recordedAs;
    // Requests without a key or a route are only logged.
    if (this.#exchange.key === undefined) return;
    try {
      await this.#settle();
    } catch (cause) {
      if (!(cause instanceof GatewayError)) throw cause;
    }
  }

  #settle(): Promise<void> {
    if (this.#isDone) return Promise.resolve();
    this.#close();
    return this.#deps.ledger.settle(this.#exchange, this.#reservation);
  }

  #close(): void {
    this.#isDone = true;
    const exchange = this.#exchange;
    exchange.outcome = outcomeOf(exchange, this.#isError);
    if (exchange.goesOn) {
      exchange.usage = null;
      this.#deps.background.takeOver(exchange, this.#reservation);
    } else {
      this.#deps.bill(exchange);
      this.#reservation?.settle(exchange);
    }
  }
}

/** Whether the written text must be read to count tokens: usage reports none, or covers several choices. */
function isTextWorthReading(exchange: Exchange): boolean {
  const { outputTokens } = believableIn(exchange);
  return outputTokens === null || outputTokens === 0 || exchange.estimate?.choices !== undefined;
}

/** Whether tokens must be estimated from the text: the answer reports no plausible number, and events do not equal tokens. */
function needsTokens(exchange: Exchange, { texts, bytes }: Written, { translated }: Answer): boolean {
  if (texts === 0 || exchange.status >= 400 || believableIn(exchange).outputTokens !== null) return false;
  if (exchange.estimate?.isStream !== true || translated !== undefined) return true;
  const { streamEvents } = exchange.target?.upstream.family ?? {};
  return streamEvents === 'any' || bytes > texts * mostBytesPerEvent;
}

function outcomeOf({ cut, errorCode, attempts, status }: Exchange, isError: boolean): RowOutcome {
  if (errorCode === 'client_closed') return 'aborted';
  if (cut) return 'cut';
  if (errorCode !== undefined && attempts === 0) return 'refused';
  return errorCode === undefined && status < 400 && !isError ? 'ok' : 'error';
}

/** The token count in a good answer's header, on routes whose answers have it there. */
function countedInHeader({ route }: Exchange, { status, headers }: Answer): Usage | null {
  const name = route?.row.countedInHeader;
  if (name === undefined || status >= 400) return null;
  const said = headerValue(headers, name) ?? '';
  if (!/^\d{1,15}$/.test(said)) return null;
  const tokens = Number(said);
  return { promptTokens: tokens, completionTokens: 0, totalTokens: tokens, searchUnits: null };
}

async function likelyTokens({ sample, bytes }: Written, model: string): Promise<number> {
  const tokens = await countTokens(vocabularyOf(model), toText(sample));
  return Math.max(1, Math.round((tokens * bytes) / Math.max(1, sample.length)));
}

/** Decodes a sample of JSON text; an escape or character cut off at its end does not matter. */
function toText(sample: string): string {
  const json = Buffer.from(sample, 'latin1').toString('utf8');
  // Where it is no JSON, its bytes count as they are.
  return String(readJson(`"${json.replace(/\\(?:u[0-9a-fA-F]{0,3})?$/, '')}"`) ?? json);
}

export interface LettingIn {
  checkPressure(exchange: Exchange): void;
  readonly spending: Spending;
}

/** Records that the key was admitted to the route, unless the process is overloaded. */
export function letIn(exchange: Exchange, key: KeyRecord, { checkPressure, spending }: LettingIn): void {
  exchange.key = key;
  exchange.shape ??= key.shape;
  // A request with a valid key has a row even if it is refused for lack of memory.
  checkPressure(exchange);
  exchange.begun = spending.begin(key);
}
