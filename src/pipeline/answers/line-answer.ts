/** A stream of events as lines that clients of an API read, made event by event as it comes. */

import { Buffer } from 'node:buffer';
import type { ApiStream } from '../../core/client-api.ts';
import type { Answer } from '../../core/outcome.ts';
import { Unfit } from '../../core/translation.ts';
import type { StreamEvent } from '../../lib/event-stream.ts';
import { isJsonObject, type Json, writeJson } from '../../lib/json/json-text.ts';
import { errorMessageIn } from '../calls/foreign-error.ts';
import type { UsageObserver } from '../usage/usage.ts';
import { readEvent } from './event-answer.ts';
import { SeenEventAnswer } from './seen-events.ts';

const lineEnd = Buffer.from('\n');

export class LineAnswer extends SeenEventAnswer {
  readonly #stream: ApiStream;

  constructor(answer: Answer, stream: ApiStream, seen: UsageObserver) {
    super(answer, stream.contentType, seen);
    this.#stream = stream;
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
}

const toLines = (values: readonly Json[]): Buffer[] => values.flatMap((value) => [writeJson(value), lineEnd]);
