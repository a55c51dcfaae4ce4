/** Makes one call through the endpoints of an upstream: tries another if one is unreachable, and updates their health. */

import type { Buffer } from 'node:buffer';
import { performance } from 'node:perf_hooks';
import type { CallEnd, Failure, Outcome, OutcomeWaiter } from '../../core/outcome.ts';
import { reasonOf } from '../../lib/thrown.ts';
import type { HeadMemo } from '../../wire/answer-head.ts';
import type { AnswerHandler, ClientCall, ClientRequest } from '../../wire/client-call.ts';
import { isStaleConnection } from '../failures.ts';
import type { Endpoint, EndpointSet } from './endpoint-set.ts';

interface CallReader extends AnswerHandler {
  call: ClientCall | undefined;
}

/** Statuses of an endpoint that cannot serve now, or has no backend. */
const unavailable: ReadonlySet<number> = new Set([502, 503]);

/** Passes events from the connection to the reader of the answer, or sends the call again to another endpoint. */
export class EndpointCall implements AnswerHandler, CallEnd, OutcomeWaiter {
  readonly #set: EndpointSet;
  readonly #isOnce: boolean;
  readonly #end: CallEnd;
  readonly #waiter: OutcomeWaiter;
  /** The request; undefined once it cannot be sent again. */
  #request: ClientRequest | undefined;
  #reader: CallReader | undefined = undefined;
  #endpoint: Endpoint | undefined = undefined;
  #tried: readonly Endpoint[] = [];
  #ticket = 0;
  #hasSentBytes = false;
  #isJudged = false;
  #hasAnswer = false;
  #isOver = false;
  /** Whether the call broke off at one of several endpoints, so that another one may be tried. */
  #elsewhere = false;

  constructor(set: EndpointSet, request: ClientRequest, end: CallEnd, waiter: OutcomeWaiter) {
    this.#set = set;
    this.#request = request;
    this.#isOnce = request.isOnce === true;
    this.#end = end;
    this.#waiter = waiter;
  }

  begin(reader: CallReader): void {
    this.#reader = reader;
    if (!this.#send()) reader.onError(new Error('the upstream has no endpoint'));
  }

  #send(): boolean {
    const request = this.#request;
    const nowMs = performance.now();
    const endpoint = request === undefined || this.#isOver ? undefined : this.#set.choose(this.#tried, nowMs);
    if (endpoint === undefined || request === undefined || this.#reader === undefined) return false;
    this.#endpoint = endpoint;
    this.#hasSentBytes = false;
    this.#isJudged = false;
    this.#ticket = endpoint.circuit.begin(nowMs);
    endpoint.inFlight += 1;
    try {
      this.#reader.call = endpoint.pool.send(request, this);
    } catch (error) {
      this.#reader.onError(error instanceof Error ? error : new Error(String(error)));
    }
    return true;
  }

  // Events of the connection.

  onStart(): void {
    this.#hasSentBytes = true;
    this.#reader?.onStart();
  }

  onSent(): void {
    this.#reader?.onSent();
  }

  onFirstByte(atMs: number): void {
    this.#request = undefined;
    this.#reader?.onFirstByte(atMs);
  }

  onHead(status: number, statusText: string, headers: readonly string[], memo: HeadMemo | undefined): void {
    this.#hasAnswer = true;
    const endpoint = this.#judge();
    const nowMs = performance.now();
    if (endpoint !== undefined) {
      const isUnavailable = unavailable.has(status);
      if (status < 500) this.#set.succeeded(endpoint, this.#ticket, nowMs);
      else this.#set.failed(endpoint, this.#ticket, `answered ${status}`, isUnavailable, nowMs);
    }
    this.#reader?.onHead(status, statusText, headers, memo);
  }

  onBody(piece: Buffer, atMs: number): void {
    this.#reader?.onBody(piece, atMs);
  }

  onEnd(trailers: readonly string[]): void {
    this.#reader?.onEnd(trailers);
  }

  onError(error: Error): void {
    if (!this.#hasAnswer && this.#goesElsewhere(error)) return;
    this.#reader?.onError(error);
  }

  /** Whether the call may be sent to another endpoint as if it were the first, as the failed one read nothing. */
  #goesElsewhere(error: Error): boolean {
    const endpoint = this.#judge();
    if (endpoint === undefined) return false;
    const nowMs = performance.now();
    const isStale = this.#hasSentBytes && isStaleConnection(error);
    if (isStale) endpoint.circuit.abandoned(this.#ticket);
    else this.#set.broke(endpoint, this.#ticket, reasonOf(error), nowMs);
    const mayRepeat = !this.#hasSentBytes || (isStale && !this.#isOnce);
    if (mayRepeat) {
      endpoint.inFlight -= 1;
      this.#endpoint = undefined;
      this.#tried = [...this.#tried, endpoint];
      const sinceMs = this.#hasSentBytes ? undefined : this.#reader?.call?.waitsSinceMs;
      if (this.#send()) {
        if (this.#reader?.call !== undefined && sinceMs !== undefined) this.#reader.call.waitsSinceMs = sinceMs;
        return true;
      }
      this.#endpoint = endpoint;
      endpoint.inFlight += 1;
    } else this.#elsewhere = this.#set.hasOther(endpoint, nowMs);
    return false;
  }

  /** The endpoint whose health is to be updated; undefined if this call already updated it. */
  #judge(): Endpoint | undefined {
    if (this.#isJudged) return undefined;
    this.#isJudged = true;
    return this.#endpoint;
  }

  // Events of the answer's reader.

  onOutcome(outcome: Outcome): void {
    const endpoint = this.#judge();
    if (endpoint !== undefined) {
      const isSilent = outcome.kind === 'unknown' && outcome.failure.ours === undefined;
      if (isSilent) this.#set.failed(endpoint, this.#ticket, outcome.failure.cause, false, performance.now());
      else endpoint.circuit.abandoned(this.#ticket);
    }
    if (!this.#elsewhere || outcome.kind !== 'unknown') this.#waiter.onOutcome(outcome);
    else this.#waiter.onOutcome({ kind: 'unknown', failure: { ...outcome.failure, elsewhere: true } });
  }

  over(broken: Failure | undefined): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#request = undefined;
    const endpoint = this.#endpoint;
    if (endpoint !== undefined) {
      endpoint.inFlight -= 1;
      if (broken !== undefined && broken.ours === undefined)
        this.#set.failed(endpoint, 0, broken.cause, false, performance.now());
    }
    this.#end.over(broken);
  }
}
