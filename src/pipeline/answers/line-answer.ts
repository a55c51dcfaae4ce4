/** A stream of events as lines that the clients of a front door read, made event by event as it comes. */

import { Buffer } from 'node:buffer';
import type { DoorStream } from '../../core/door.ts';
import type { Answer, AnswerSink, Failure } from '../../core/outcome.ts';
import type { Translated } from '../../core/translation.ts';
import { Unfit } from '../../core/translation.ts';
import { EventStream, EventStreamError, type StreamEvent } from '../../lib/event-stream.ts';
import { isJsonObject, type Json, JsonTextError, parseJson, writeJson } from '../../lib/json/json-text.ts';
import { errorMessageIn } from '../calls/foreign-error.ts';
import { inside, toFailure } from '../calls/translation-faults.ts';
import type { UsageObserver } from '../usage/usage.ts';
import { withoutBodyHeaders } from './made-answer.ts';

const lineEnd = Buffer.from('\n');
/** No event has more of them, and each is read in one go. */
const mostValues = 100_000;
/** How long an upstream may keep the connection behind its last word. */
const hangUpAfterMs = 1_000;

export class LineAnswer implements Answer, AnswerSink {
  readonly status: number;
  readonly statusText: string;
  readonly headers: readonly string[];
  readonly sentAtMs: number;
  readonly firstByteAtMs: number;
  readonly waiting = [];
  readonly ended = false;
  /** Of the events, whatever they become: whoever hands on the lines does not push them. */
  readonly observer: UsageObserver;

  readonly #answer: Answer;
  readonly #stream: DoorStream;
  readonly #seen: UsageObserver;
  readonly #events = new EventStream();
  #sink: AnswerSink | undefined = undefined;
  #isOver = false;
  #hangUp: NodeJS.Timeout | undefined = undefined;

  /** `seen` is for the events as they come. */
  constructor(answer: Answer, stream: DoorStream, seen: UsageObserver) {
    this.status = answer.status;
    this.statusText = answer.statusText;
    this.headers = [...withoutBodyHeaders(answer.headers), 'content-type', stream.contentType];
    this.sentAtMs = answer.sentAtMs;
    this.firstByteAtMs = answer.firstByteAtMs;
    this.#answer = answer;
    this.#stream = stream;
    this.#seen = seen;
    this.observer = {
      push: () => undefined,
      finish: (cut) => seen.finish(cut),
      decodedLength: () => seen.decodedLength(),
      written: () => seen.written(),
    };
  }

  get broken(): Failure | undefined {
    return this.#answer.broken;
  }

  get translated(): Translated | undefined {
    return this.#answer.translated;
  }

  get ignored(): readonly string[] | undefined {
    return this.#answer.ignored;
  }

  get countedApart(): Answer['countedApart'] {
    return this.#answer.countedApart;
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
    this.#seen.push(chunk);
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
    const lines: Buffer[] = [];
    const failure = this.#write(events, isEnd, lines);
    const isOpen = lines.length === 0 || this.#sink?.onChunk(Buffer.concat(lines)) !== false;
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

  #write(events: Iterable<StreamEvent>, isEnd: boolean, lines: Buffer[]): Failure | undefined {
    try {
      for (const event of events) {
        this.#event(event, lines);
        if (this.#isOver) return undefined;
      }
      if (isEnd) this.#finish(lines);
      return undefined;
    } catch (error) {
      return failureOf(error);
    }
  }

  #event({ name, data }: StreamEvent, lines: Buffer[]): void {
    if (data.trim() === '[DONE]') {
      this.#finish(lines);
      return;
    }
    const read = parseJson(Buffer.from(data), { maxValues: mostValues });
    if (name === 'error' || (isJsonObject(read) && read.error !== undefined && read.error !== null)) {
      lines.push(...toLines([this.#stream.error(errorMessageIn(500, Buffer.from(data)))]));
      throw new Unfit('the upstream ended its stream with an error');
    }
    lines.push(...toLines(this.#stream.event(read)));
  }

  #finish(lines: Buffer[]): void {
    lines.push(...toLines(this.#stream.end()));
    this.#isOver = true;
  }
}

const toLines = (values: readonly Json[]): Buffer[] => values.flatMap((value) => [writeJson(value), lineEnd]);

function failureOf(error: unknown): Failure {
  if (error instanceof Unfit) return toFailure(error);
  const isNoStream = error instanceof JsonTextError || error instanceof EventStreamError;
  return isNoStream ? toFailure(new Unfit(`its stream cannot be read: ${error.message}`)) : inside(error);
}
