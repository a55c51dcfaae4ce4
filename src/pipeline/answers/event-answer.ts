/** Transforms an event stream for the client, event by event. */

import { Buffer } from 'node:buffer';
import type { Answer, Failure } from '../../core/outcome.ts';
import { EventStream, type StreamEvent } from '../../lib/event-stream.ts';
import { type Json, parseJson } from '../../lib/json/json-text.ts';
import { withoutBodyHeaders } from './made-answer.ts';
import { PassingAnswer } from './passing-answer.ts';

/** How long an upstream may keep the connection behind its last word. */
const hangUpAfterMs = 1_000;
/** No event of a completion has more of them, and each is read in one go. */
const mostValues = 100_000;

/** What is written may throw whatever `failureOf` has words for; what was written before still goes out. */
export abstract class EventAnswer extends PassingAnswer {
  readonly #events = new EventStream();
  /** The client has all that it gets. */
  protected isOver = false;
  #hangUp: NodeJS.Timeout | undefined = undefined;

  constructor(answer: Answer, contentType: string) {
    super(answer, [...withoutBodyHeaders(answer.headers), 'content-type', contentType]);
  }

  /** What the client reads begins with the first event. */
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
    // Whatever the upstream does after its last word is no longer for the client.
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

  /** Behind the last event: the upstream said that it is done, or its stream is at its end. */
  protected abstract writeEnd(out: Buffer[], wasSaid: boolean): void;

  protected abstract failureOf(error: unknown): Failure;

  /** Hands on what becomes of the events; false where the client wants a pause. */
  #pass(events: Iterable<StreamEvent>, isEnd: boolean): boolean {
    const out: Buffer[] = [];
    const failure = this.#write(events, isEnd, out);
    const isOpen = this.handOn(Buffer.concat(out));
    if (failure === undefined) {
      if (this.isOver) this.sink?.onEnd([]);
      return isOpen;
    }
    // The head is out: nothing can be said any more, but that this is not all.
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
