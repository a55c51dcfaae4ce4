/** Base class that transforms an upstream's event stream for the client, event by event. */

import { Buffer } from 'node:buffer';
import type { Answer, Failure } from '../core/outcome.ts';
import { EventStream, type StreamEvent } from '../lib/event-stream.ts';
import { type Json, parseJson } from '../lib/json/json-text.ts';
import { withoutBodyHeaders } from './made-answer.ts';
import { PassingAnswer } from './passing-answer.ts';

/** How long an upstream may keep the connection after its final event. */
const hangUpAfterMs = 1_000;
/** Limit of JSON values in one event, more than any completion has; each event is parsed without a pause. */
const mostValues = 100_000;

/** Base class for converted event streams. `write` may throw what `failureOf` can convert; earlier output is still sent. */
export abstract class EventAnswer extends PassingAnswer {
  readonly #events = new EventStream();
  protected isOver = false;
  #hangUp: NodeJS.Timeout | undefined = undefined;

  constructor(answer: Answer, contentType: string) {
    super(answer, [...withoutBodyHeaders(answer.headers), 'content-type', contentType]);
  }

  /** No bytes wait: the client's body begins with the first converted event. */
  override get waiting(): readonly Buffer[] {
    return [];
  }

  override get ended(): boolean {
    return false;
  }

  override cancel(): void {
    this.isOver = true;
    super.cancel();
  }

  onChunk(chunk: Buffer): boolean {
    if (this.isOver) return true;
    const isOpen = this.#pass(this.#events.push(chunk), false);
    // Anything after the final event is not for the client.
    if (this.isOver) this.#hangUp = setTimeout(() => this.answer.cancel(), hangUpAfterMs).unref();
    return isOpen;
  }

  onEnd(): void {
    clearTimeout(this.#hangUp);
    if (!this.isOver) this.#pass(this.#events.end(), true);
  }

  onBroken(failure: Failure): void {
    clearTimeout(this.#hangUp);
    if (this.isOver) return;
    this.isOver = true;
    this.sink?.onBroken(failure);
  }

  protected abstract writeEvent(event: StreamEvent, out: Buffer[]): void;

  /** Writes the end of the client's stream: after the upstream's end mark (`wasSaid`), or where its stream ended without one. */
  protected abstract writeEnd(out: Buffer[], wasSaid: boolean): void;

  protected abstract failureOf(error: unknown): Failure;

  /** Passes converted events on; false where the client wants a pause. */
  #pass(events: Iterable<StreamEvent>, isEnd: boolean): boolean {
    const out: Buffer[] = [];
    const failure = this.#write(events, isEnd, out);
    const isOpen = this.handOn(Buffer.concat(out));
    if (failure === undefined) {
      if (this.isOver) this.sink?.onEnd([]);
      return isOpen;
    }
    // The head is sent already: the only signal left is to break off.
    this.isOver = true;
    this.answer.cancel();
    this.sink?.onBroken(failure);
    return true;
  }

  #write(events: Iterable<StreamEvent>, isEnd: boolean, out: Buffer[]): Failure | undefined {
    try {
      for (const event of events) {
        if (event.data.trim() !== '[DONE]') {
          this.writeEvent(event, out);
          continue;
        }
        this.writeEnd(out, true);
        this.isOver = true;
        return undefined;
      }
      if (isEnd) {
        this.writeEnd(out, false);
        this.isOver = true;
      }
      return undefined;
    } catch (error) {
      return this.failureOf(error);
    }
  }
}

export const readEvent = (data: string): Json => parseJson(Buffer.from(data), { maxValues: mostValues });
