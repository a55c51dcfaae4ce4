/** Chooses the response when no target has a good one: an upstream's own error, the newest failure, or why no target was called. */

import type { Denial } from '../core/accounting/spending.ts';
import type { NoTarget, TargetLease } from '../core/dispatch.ts';
import { GatewayError } from '../core/errors.ts';
import type { Exchange } from '../core/exchange.ts';
import type { Answer, Failure } from '../core/outcome.ts';
import { discard } from './discard.ts';
import type { Verdict } from './verdict.ts';

/** An error answer of an upstream, kept in case no target has a better one. */
export interface Held {
  readonly answer: Answer;
  readonly lease: TargetLease;
  readonly verdict: Verdict;
}

export class FallbackResponse {
  #held: Held | undefined = undefined;
  #failure: Failure | undefined = undefined;
  #refusal: GatewayError | undefined = undefined;
  #denial: Denial | undefined = undefined;

  /** Keeps the newest error answer, except that the refusal of our credential never replaces another: it helps a client least. */
  hold(next: Held): void {
    // The next target may be at the same upstream, and needs the slot.
    next.lease.over(undefined);
    const stays = this.#held !== undefined && this.#held.verdict !== 'rejected' && next.verdict === 'rejected';
    if (stays) {
      discard(next.answer);
      return;
    }
    this.clear();
    this.#held = next;
  }

  failed(failure: Failure): void {
    this.#failure = failure;
  }

  /** Notes that a target cannot serve the request and was not called. The first reason is kept. */
  refused(refusal: GatewayError): void {
    this.#refusal ??= refusal;
  }

  /** Notes that an upstream's limit refuses the call. The denial with the shortest wait is kept. */
  denied(denial: Denial): void {
    if (this.#denial === undefined || denial.retryAfterMs < this.#denial.retryAfterMs) this.#denial = denial;
  }

  /** Notes a failure after which the call may have been executed. It replaces earlier answers, which say that nothing was done. */
  failedForGood(failure: Failure): void {
    this.clear();
    this.#failure = failure;
  }

  clear(): void {
    if (this.#held !== undefined) discard(this.#held.answer);
    this.#held = undefined;
  }

  /** The kept answer; throws the best known reason where there is none. */
  best(none: NoTarget | undefined, exchange: Exchange): Held {
    const held = this.#held;
    this.#held = undefined;
    if (held !== undefined) return held;
    // A target that was not called might have served it.
    const isRefusedByAll = none?.kind === 'tried' && exchange.tries.length === 0;
    if (this.#refusal !== undefined && isRefusedByAll) throw this.#refusal;
    if (this.#failure === undefined && this.#denial !== undefined) throw this.#denial.error ?? tooMany(this.#denial);
    if (this.#failure === undefined) throw refusal(none, exchange, this.#refusal !== undefined);
    const { code, message, cause, retryAfterS } = this.#failure;
    const headers = retryAfterS === undefined ? [] : ['Retry-After', String(retryAfterS)];
    throw new GatewayError(code, { message, headers, cause: withReasons(cause, none) });
  }
}

function tooMany({ limit, retryAfterMs }: Denial): GatewayError {
  const seconds = Math.max(1, Math.ceil(retryAfterMs / 1_000));
  return new GatewayError('rate_limit_exceeded', {
    message: `The limit of ${limit} is reached, and no other upstream of this model can be asked; try again in ${seconds} s.`,
    headers: ['Retry-After', String(seconds)],
  });
}

/** The error where no target was called. `isNarrowed`: some targets can never serve this request. */
function refusal(none: NoTarget | undefined, { tries }: Exchange, isNarrowed: boolean): GatewayError {
  const seconds = Math.max(1, Math.ceil((none?.retryAfterMs ?? 1_000) / 1_000));
  const details = { headers: ['Retry-After', String(seconds)], cause: withReasons(none?.kind ?? 'no time left', none) };
  if (none?.kind === 'full' || tries.some(({ outcome }) => outcome === 'queue')) {
    return new GatewayError('overloaded', {
      message: `The upstreams of this model have as many calls as they may have at a time, and their queues are full or too slow (upstreams[].limits); try again in ${seconds} s.`,
      ...details,
    });
  }
  if (none?.isLimited === true) {
    return new GatewayError('rate_limit_exceeded', {
      message: `Every upstream of this model ${isNarrowed ? 'that can serve this ' : ''}has had too many calls and asked for a pause; try again in ${seconds} s.`,
      ...details,
    });
  }
  const message =
    none?.kind === 'resting'
      ? `Every upstream of this model ${isNarrowed ? 'that can serve this ' : ''}has asked for a pause; try again in ${seconds} s.`
      : undefined;
  return new GatewayError('no_upstream_available', message === undefined ? details : { message, ...details });
}

function withReasons(cause: string, none: NoTarget | undefined): string {
  return none === undefined || none.why.length === 0 ? cause : `${cause}; ${none.why.join('; ')}`;
}
