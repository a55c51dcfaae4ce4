/** Transforms an event stream for the client, and counts usage from the original. */

import type { Buffer } from 'node:buffer';
import type { Answer, Failure } from '../core/outcome.ts';
import { Unfit } from '../core/translation.ts';
import { EventStreamError } from '../lib/event-stream.ts';
import { JsonTextError } from '../lib/json/json-text.ts';
import { LINE_FEED, RETURN } from '../lib/json/json-tokens.ts';
import type { UsageObserver } from '../plan/usage/usage.ts';
import { EventAnswer } from './event-answer.ts';
import { inside, toFailure } from './translation-faults.ts';

export abstract class SeenEventAnswer extends EventAnswer {
  /** What the pipeline counts with; converted events do not go into it, as `seen` gets the original ones. */
  readonly observer: UsageObserver;

  readonly #seen: UsageObserver;

  /** `seen` counts usage and gets the original events. */
  constructor(answer: Answer, contentType: string, seen: UsageObserver) {
    super(answer, contentType);
    this.#seen = seen;
    this.observer = {
      push: () => undefined,
      finish: (cut) => seen.finish(cut),
      decodedLength: () => seen.decodedLength(),
      written: () => seen.written(),
      pictures: () => undefined,
    };
  }

  get ignored(): readonly string[] | undefined {
    return this.answer.ignored;
  }

  get countedApart(): Answer['countedApart'] {
    return this.answer.countedApart;
  }

  override onChunk(chunk: Buffer): boolean {
    if (!this.isOver) this.#seen.push(chunk);
    return super.onChunk(chunk);
  }

  protected failureOf(error: unknown): Failure {
    if (error instanceof Unfit) return toFailure(error);
    const isNoStream = error instanceof JsonTextError || error instanceof EventStreamError;
    return isNoStream ? toFailure(new Unfit(`its stream cannot be read: ${error.message}`)) : inside(error);
  }
}

/** Finds the ends of events in pieces of a stream: after each empty line, with any line ends. */
export class EventEnds {
  #isAtLineStart = true;
  #isBehindReturn = false;
  #isBehindEvent = false;

  /** The offsets, in the chunk, behind each event that ends in it, and behind the line feed of a CRLF whose CR ended the chunk before. */
  *in(chunk: Buffer): Generator<number> {
    for (let at = 0; at < chunk.length; at += 1) {
      const byte = chunk[at];
      // The line feed of a CRLF ends no line: its CR did.
      if (byte !== LINE_FEED || !this.#isBehindReturn) {
        const isLineEnd = byte === LINE_FEED || byte === RETURN;
        this.#isBehindEvent = isLineEnd && this.#isAtLineStart;
        this.#isAtLineStart = isLineEnd;
      }
      this.#isBehindReturn = byte === RETURN;
      if (this.#isBehindEvent && !(byte === RETURN && chunk[at + 1] === LINE_FEED)) yield at + 1;
    }
  }
}
