/** The response when no target has a good one: an upstream's own error, the newest failure, or the reason why no target was called. */

import type { Denial } from '../core/accounting/spending.ts';
import type { NoTarget, TargetLease } from '../core/dispatch.ts';
import { GatewayError } from '../core/errors.ts';
import type { Exchange } from '../core/exchange.ts';
import type { Answer, Failure } from '../core/outcome.ts';
import { discard } from './discard.ts';
import type { Verdict } from './verdict.ts';

/** An error answer, kept in case no target has a better one. */
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

  /** Keeps the newest, except that a refused credential of ours is the least useful to a client. */
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

  /** A target cannot serve the request, and was not called. The first reason is kept. */
  refused(refusal: GatewayError): void {
    this.#refusal ??= refusal;
  }

  /** An upstream's limit refuses the call. The one with the shortest wait is kept. */
  denied(denial: Denial): void {
    if (this.#denial === undefined || denial.retryAfterMs < this.#denial.retryAfterMs) this.#denial = denial;
  }

  /** The result of a call is unknown: earlier answers, which say that nothing was done, are obsolete. */
  failedForGood(failure: Failure): void {
    this.clear();
    this.#failure = failure;
  }

  clear(): void {
    if (this.#held !== undefined) discard(this.#held.answer);
    this.#held = undefined;
  }

  /** The kept answer; throws where there is none. */
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

/** No target was called; `isNarrowed`: some cannot serve it at any time. */
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
