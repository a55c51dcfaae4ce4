/** Relays a response to the client: head, chunks with back-pressure, trailers. A response that broke off stays visibly incomplete. */

import type { Buffer } from 'node:buffer';
import { GatewayError } from '../core/errors.ts';
import type { Exchange } from '../core/exchange.ts';
import type { Answer, AnswerSink, ClientWork, Failure } from '../core/outcome.ts';
import { headerList, headerValue } from '../lib/raw-headers.ts';
import { NamedUsageObserver } from '../plan/usage/named-usage.ts';
import { createUsageObserver, type Texts, type UsageObserver } from '../plan/usage/usage.ts';
import { giveBack, reusedBytes } from '../wire/connect.ts';
import type { AnswerWatcher, Framing, ServerAnswer } from '../wire/server-answer.ts';
import { clientLines, clientTrailers } from './client-head.ts';
import { SeenEventAnswer } from './seen-events.ts';
import type { Settling } from './settling.ts';

export interface Answered {
  readonly answer: Answer;
  readonly lines: string;
}

/** Relays an answer; resolves once it is written or lost. Its end waits for the ledger; a failure before the head rejects. */
export async function relay(
  exchange: Exchange,
  answering: Promise<Answered>,
  response: ServerAnswer,
  settling: Settling,
): Promise<void> {
  try {
    await write(exchange, await answering, response, settling);
  } catch (error) {
    await settling.failed(error);
    throw error;
  }
}

function write(
  exchange: Exchange,
  { answer, lines }: Answered,
  response: ServerAnswer,
  settling: Settling,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const relaying = new Relay(exchange, answer, response, settling, { resolve, reject });
    try {
      relaying.start(lines);
    } catch (error) {
      relaying.fail(error);
    }
  });
}

/** Notified when the relay has ended or failed. */
export interface Handover {
  resolve(): void;
  reject(error: unknown): void;
}

export class Relay implements AnswerSink, AnswerWatcher, ClientWork {
  readonly #exchange: Exchange;
  readonly #answer: Answer;
  readonly #response: ServerAnswer;
  readonly #settling: Settling;
  readonly #waiter: Handover;
  readonly #observer: UsageObserver;
  readonly #lengthBytes: number | undefined;
  readonly #framing: Framing;
  /** Chunks that are still being sent; kept only where nothing else refers to them, so that their memory can be reused. */
  readonly #leaving: Buffer[] | undefined;
  #head: string | undefined = undefined;
  #isOver = false;

  /** `isOnlyReader`: nothing else refers to the answer's chunks, so that their memory can be reused once they are sent. */
  constructor(
    exchange: Exchange,
    answer: Answer,
    response: ServerAnswer,
    settling: Settling,
    waiter: Handover,
    isOnlyReader = false,
  ) {
    this.#exchange = exchange;
    this.#answer = answer;
    this.#response = response;
    this.#settling = settling;
    this.#waiter = waiter;
    this.#observer = answer instanceof SeenEventAnswer ? answer.observer : observerOf(exchange, answer);
    this.#lengthBytes = announcedLength(answer);
    this.#framing = framingOf(answer, this.#lengthBytes, response);
    const mayReuse = isOnlyReader && this.#observer.keepsNothing === true && exchange.captured === undefined;
    this.#leaving = mayReuse ? [] : undefined;
  }

  start(ownLines: string): void {
    const { target, hasOwnRates } = this.#exchange;
    const rules = { framing: this.#framing, hasOwnRates, listed: target?.upstream.responseHeaders };
    this.#head = clientLines(this.#answer.headers, rules) + ownLines;
    this.#exchange.status = this.#answer.status;
    this.#describeToCapture();
    this.#exchange.client.work = this;
    this.#response.drains = this;
    this.#answer.take(this);
    // The first event of a stream may take long, and its reader waits for the head.
    if (this.#exchange.responseBytes === 0 && !this.#isOver) {
      this.#writeHead();
      this.#response.flush();
    }
  }

  onChunk(chunk: Buffer): boolean {
    this.#observer.push(chunk);
    this.#exchange.responseBytes += chunk.length;
    this.#exchange.captured?.push(chunk);
    if (this.#exchange.responseBytes === this.#lengthBytes) {
      void this.#end(chunk, []);
      return true;
    }
    this.#writeHead();
    const isOpen = this.#response.write(chunk);
    this.#letGo(chunk);
    return isOpen;
  }

  /** Returns sent chunks for reuse; short ones, such as those of event streams, are not reused. */
  #letGo(written?: Buffer): void {
    if (this.#leaving === undefined) return;
    if (written !== undefined && written.length >= reusedBytes) this.#leaving.push(written);
    if (this.#leaving.length === 0 || !this.#response.hasLeft) return;
    for (const chunk of this.#leaving) giveBack(chunk);
    this.#leaving.length = 0;
  }

  onDrain(): void {
    this.#letGo();
    if (!this.#isOver) this.#answer.resume();
  }

  onEnd(trailers: readonly string[]): void {
    if (!this.#isOver) void this.#end(undefined, trailers);
  }

  onBroken(failure: Failure): void {
    if (!this.#isOver) void this.#break(failure);
  }

  clientLeft(): void {
    if (!this.#isOver) void this.#leave();
  }

  /** Settles and ends the response. Where its length was announced, head, body and end are sent in one write. */
  async #end(chunk: Buffer | undefined, trailers: readonly string[]): Promise<void> {
    this.#isOver = true;
    try {
      await this.#settling.answered(this.#answer, this.#observer);
    } catch (error) {
      this.#failToSettle(error);
      return;
    }
    this.#writeHead();
    const passing =
      trailers.length === 0 ? '' : clientTrailers(trailers, this.#exchange.target?.upstream.responseHeaders);
    this.#response.end(chunk, passing);
    this.#letGo(chunk);
    this.#finish();
  }

  async #break(failure: Failure): Promise<void> {
    this.#isOver = true;
    this.#exchange.errorCode = failure.code;
    this.#exchange.errorCause = failure.cause;
    this.#exchange.cut = true;
    await this.#settleAnyway();
    this.#writeHead();
    this.#response.cut(this.#framing === 'none');
    this.#finish();
  }

  async #leave(): Promise<void> {
    this.#isOver = true;
    this.#exchange.errorCode = 'client_closed';
    this.#answer.cancel();
    await this.#settleAnyway();
    this.#finish();
  }

  /** Settles an answer that broke off; a failure to record it is not reported, as a second error would not help the client. */
  async #settleAnyway(): Promise<void> {
    try {
      await this.#settling.answered(this.#answer, this.#observer);
    } catch (error) {
      if (!(error instanceof GatewayError)) this.fail(error);
    }
  }

  #failToSettle(error: unknown): void {
    this.#exchange.client.work = undefined;
    // Nothing is sent yet: the client gets the reason.
    if (this.#head === undefined) {
      this.#exchange.cut = true;
      this.#response.cut(this.#framing === 'none');
    }
    this.fail(error);
  }

  fail(error: unknown): void {
    this.#answer.cancel();
    this.#waiter.reject(error);
  }

  #describeToCapture(): void {
    const { captured } = this.#exchange;
    if (captured === undefined) return;
    captured.contentType = headerValue(this.#answer.headers, 'content-type');
    captured.contentEncoding = headerList(this.#answer.headers, 'content-encoding');
  }

  #writeHead(): void {
    if (this.#head === undefined) return;
    this.#response.writeHeadLines(this.#answer.status, this.#answer.statusText, this.#head, this.#framing);
    this.#head = undefined;
  }

  #finish(): void {
    this.#exchange.client.work = undefined;
    this.#waiter.resolve();
  }
}

export function observerOf(exchange: Exchange, { status, headers }: Answer): UsageObserver {
  const { usage } = exchange.route?.own ?? {};
  if (usage !== undefined && status < 400 && headerList(headers, 'content-encoding') === undefined) {
    return new NamedUsageObserver(usage);
  }
  return createUsageObserver(
    status < 400 ? (headerValue(headers, 'content-type') ?? 'application/json') : undefined,
    headerList(headers, 'content-encoding'),
    textsOf(exchange),
    exchange.route?.row,
    exchange.estimate?.tools !== undefined,
  );
}

function textsOf({ route, estimate }: Exchange): Texts | undefined {
  if (route?.row.yields === 'images') return { names: 'pictures' };
  const names = route?.row.written;
  return names && { names, areMany: (estimate?.choices ?? 1) > 1 };
}

function hasNoBody({ status }: Answer): boolean {
  return status === 204 || status === 304;
}

function framingOf(answer: Answer, lengthBytes: number | undefined, response: ServerAnswer): Framing {
  if (lengthBytes !== undefined) return 'length';
  return hasNoBody(answer) ? 'none' : response.openFraming;
}

function announcedLength(answer: Answer): number | undefined {
  if (hasNoBody(answer)) return undefined;
  const announced = headerValue(answer.headers, 'content-length');
  return announced === undefined ? undefined : Number(announced);
}
