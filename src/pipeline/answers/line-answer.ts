/** A stream of events as lines that the clients of a front door read, made event by event as it comes. */

import { Buffer } from 'node:buffer';
import type { DoorStream } from '../../core/door.ts';
import type { Answer, Failure } from '../../core/outcome.ts';
import { Unfit } from '../../core/translation.ts';
import { EventStreamError, type StreamEvent } from '../../lib/event-stream.ts';
import { isJsonObject, type Json, JsonTextError, writeJson } from '../../lib/json/json-text.ts';
import { errorMessageIn } from '../calls/foreign-error.ts';
import { inside, toFailure } from '../calls/translation-faults.ts';
import type { UsageObserver } from '../usage/usage.ts';
import { EventAnswer, readEvent } from './event-answer.ts';

const lineEnd = Buffer.from('\n');

export class LineAnswer extends EventAnswer {
  /** Of the events, whatever they become: whoever hands on the lines does not push them. */
  readonly observer: UsageObserver;

  readonly #stream: DoorStream;
  readonly #seen: UsageObserver;

  /** `seen` is for the events as they come. */
  constructor(answer: Answer, stream: DoorStream, seen: UsageObserver) {
    super(answer, stream.contentType);
    this.#stream = stream;
    this.#seen = seen;
    this.observer = {
      push: () => undefined,
      finish: (cut) => seen.finish(cut),
      decodedLength: () => seen.decodedLength(),
      written: () => seen.written(),
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

  protected writeEvent({ name, data }: StreamEvent, out: Buffer[]): void {
    const read = readEvent(data);
    if (name === 'error' || (isJsonObject(read) && read.error !== undefined && read.error !== null)) {
      out.push(...toLines([this.#stream.error(errorMessageIn(500, Buffer.from(data)))]));
      throw new Unfit('the upstream ended its stream with an error');
    }
    out.push(...toLines(this.#stream.event(read)));
  }

  protected writeEnd(out: Buffer[]): void {
    out.push(...toLines(this.#stream.end()));
  }

  protected failureOf(error: unknown): Failure {
    if (error instanceof Unfit) return toFailure(error);
    const isNoStream = error instanceof JsonTextError || error instanceof EventStreamError;
    return isNoStream ? toFailure(new Unfit(`its stream cannot be read: ${error.message}`)) : inside(error);
  }
}

const toLines = (values: readonly Json[]): Buffer[] => values.flatMap((value) => [writeJson(value), lineEnd]);
