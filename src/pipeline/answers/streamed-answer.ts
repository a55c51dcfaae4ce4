/** A stream of events in the client's shape, made event by event of the upstream's as it comes. */

import { Buffer } from 'node:buffer';
import type { Answer, AnswerSink, Failure } from '../../core/outcome.ts';
import { type StreamReader, type Translated, Unfit } from '../../core/translation.ts';
import { EventStream, EventStreamError, type StreamEvent } from '../../lib/event-stream.ts';
import { isJsonObject, type Json, JsonTextError, parseJson, writeJson } from '../../lib/json/json-text.ts';
import { traceOf } from '../../lib/thrown.ts';
import { streamErrorInOurWords } from '../calls/foreign-error.ts';
import { withoutBodyHeaders } from './made-answer.ts';
import { repeats, type SecretSearch } from './secret-search.ts';

const done = Buffer.from('data: [DONE]\n\n');
/** How long an upstream may keep the connection behind its last word. */
const hangUpAfterMs = 1_000;

/** No event of a completion has more of them, and each is read in one go. */
const mostValues = 100_000;

export class StreamedAnswer implements Answer, AnswerSink {
  readonly status: number;
  readonly statusText: string;
  readonly headers: readonly string[];
  readonly sentAtMs: number;
  readonly firstByteAtMs: number;
  readonly waiting = [];
  readonly ended = false;

  readonly #answer: Answer;
  readonly #reader: StreamReader;
  readonly #by: string;
  readonly #ignored: readonly string[];
  readonly #secrets: SecretSearch;
  readonly #events = new EventStream();
  #sink: AnswerSink | undefined = undefined;
  #isOver = false;
  #hangUp: NodeJS.Timeout | undefined = undefined;

  constructor(answer: Answer, reader: StreamReader, by: string, ignored: readonly string[], secrets: SecretSearch) {
    this.status = answer.status;
    this.statusText = answer.statusText;
    this.headers = [...withoutBodyHeaders(answer.headers), 'content-type', 'text/event-stream'];
    this.sentAtMs = answer.sentAtMs;
    this.firstByteAtMs = answer.firstByteAtMs;
    this.#answer = answer;
    this.#reader = reader;
    this.#by = by;
    this.#ignored = ignored;
    this.#secrets = secrets;
  }

  get broken(): Failure | undefined {
    return this.#answer.broken;
  }

  get translated(): Translated {
    return { by: this.#by, ignored: this.#ignored, isEstimated: false, usage: this.#reader.usage };
  }

  take(sink: AnswerSink): void {
    this.#sink = sink;
    this.#answer.take(this);
  }

  resume(): void {
    this.#answer.resume();
  }

  cancel(): void {
    this.#isOver = true;
    this.#answer.cancel();
  }

  onChunk(chunk: Buffer): boolean {
    if (this.#isOver) return true;
    const isOpen = this.#pass(this.#events.push(chunk), false);
    // Whatever the upstream does after its last word is no longer for the client.
    if (this.#isOver) this.#hangUp = setTimeout(() => this.#answer.cancel(), hangUpAfterMs).unref();
    return isOpen;
  }

  onEnd(): void {
    clearTimeout(this.#hangUp);
    if (!this.#isOver) this.#pass(this.#events.end(), true);
  }

  onBroken(failure: Failure): void {
    clearTimeout(this.#hangUp);
    if (this.#isOver) return;
    this.#isOver = true;
    this.#sink?.onBroken(failure);
  }

  /** Hands on what becomes of the events; false where the client wants a pause. */
  #pass(events: Iterable<StreamEvent>, isEnd: boolean): boolean {
    const frames: Buffer[] = [];
    const failure = this.#translate(events, isEnd, frames);
    const isOpen = frames.length === 0 || this.#sink?.onChunk(Buffer.concat(frames)) !== false;
    if (failure === undefined) {
      if (this.#isOver) this.#sink?.onEnd([]);
      return isOpen;
    }
    // The head is out: nothing can be said any more, but that this is not all.
    this.#isOver = true;
    this.#answer.cancel();
    this.#sink?.onBroken(failure);
    return true;
  }

  #translate(events: Iterable<StreamEvent>, isEnd: boolean, frames: Buffer[]): Failure | undefined {
    try {
      for (const event of events) {
        this.#event(event, frames);
        if (this.#isOver) return undefined;
      }
      if (!isEnd) return undefined;
      if (!this.#reader.isComplete) throw new Unfit('the stream ended before it was complete');
      this.#finish(frames);
      return undefined;
    } catch (error) {
      return toFailure(error);
    }
  }

  #event({ name, data }: StreamEvent, frames: Buffer[]): void {
    if (data.trim() === '[DONE]') {
      this.#finish(frames);
      return;
    }
    const read = name === 'error' ? undefined : parseJson(Buffer.from(data), { maxValues: mostValues });
    if (read === undefined || isError(read)) {
      if (repeats(Buffer.from(data), this.#secrets.inErrors))
        throw new Unfit('an error in the stream repeats a credential');
      frames.push(toFrame(streamErrorInOurWords(data)));
      throw new Unfit('the upstream ended its stream with an error');
    }
    frames.push(...this.#reader.event(read).map(toFrame));
  }

  #finish(frames: Buffer[]): void {
    frames.push(...this.#reader.end().map(toFrame), done);
    this.#isOver = true;
  }
}

function isError(event: Json): boolean {
  return isJsonObject(event) && ((event.error !== undefined && event.error !== null) || event.object === 'error');
}

function toFrame(event: Json): Buffer {
  return Buffer.concat([Buffer.from('data: '), writeJson(event), Buffer.from('\n\n')]);
}

function toFailure(error: unknown): Failure {
  if (error instanceof Unfit || error instanceof EventStreamError) return unfit(error.message);
  if (error instanceof JsonTextError) return unfit('an event of the stream is no JSON');
  const cause = traceOf(error);
  return { code: 'internal_error', message: 'Something went wrong in the translation of the stream.', cause };
}

const unfit = (message: string): Failure => ({ code: 'upstream_protocol_error', message, cause: message });
