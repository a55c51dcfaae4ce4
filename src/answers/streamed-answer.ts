/** Converts an upstream's event stream to the client's format, event by event. */

import { Buffer } from 'node:buffer';
import type { Answer, Failure } from '../core/outcome.ts';
import { type StreamReader, type Translated, Unfit } from '../core/translation.ts';
import { EventStreamError, type StreamEvent } from '../lib/event-stream.ts';
import { isJsonObject, type Json, JsonTextError, writeJson } from '../lib/json/json-text.ts';
import { traceOf } from '../lib/thrown.ts';
import { EventAnswer, readEvent } from './event-answer.ts';
import { streamErrorInOurWords } from './foreign-error.ts';
import { repeats, type SecretSearch } from './secret-search.ts';

const done = Buffer.from('data: [DONE]\n\n');

export class StreamedAnswer extends EventAnswer {
  readonly #reader: StreamReader;
  readonly #by: string;
  readonly #ignored: readonly string[];
  readonly #secrets: SecretSearch;

  constructor(answer: Answer, reader: StreamReader, by: string, ignored: readonly string[], secrets: SecretSearch) {
    super(answer, 'text/event-stream');
    this.#reader = reader;
    this.#by = by;
    this.#ignored = ignored;
    this.#secrets = secrets;
  }

  override get translated(): Translated {
    return { by: this.#by, ignored: this.#ignored, isEstimated: false, usage: this.#reader.usage };
  }

  protected writeEvent({ name, data }: StreamEvent, out: Buffer[]): void {
    const read = name === 'error' ? undefined : readEvent(data);
    if (read === undefined || isError(read)) {
      if (repeats(Buffer.from(data), this.#secrets.inErrors))
        throw new Unfit('an error in the stream repeats a credential');
      out.push(toFrame(streamErrorInOurWords(data)));
      throw new Unfit('the upstream ended its stream with an error');
    }
    out.push(...this.#reader.event(read).map(toFrame));
  }

  protected writeEnd(out: Buffer[], wasSaid: boolean): void {
    if (!wasSaid && !this.#reader.isComplete) throw new Unfit('the stream ended before it was complete');
    out.push(...this.#reader.end().map(toFrame), done);
  }

  protected failureOf(error: unknown): Failure {
    if (error instanceof Unfit || error instanceof EventStreamError) return unfit(error.message);
    if (error instanceof JsonTextError) return unfit('an event of the stream is no JSON');
    const cause = traceOf(error);
    return { code: 'internal_error', message: 'Something went wrong in the translation of the stream.', cause };
  }
}

function isError(event: Json): boolean {
  return isJsonObject(event) && ((event.error !== undefined && event.error !== null) || event.object === 'error');
}

function toFrame(event: Json): Buffer {
  return Buffer.concat([Buffer.from('data: '), writeJson(event), Buffer.from('\n\n')]);
}

const unfit = (message: string): Failure => ({ code: 'upstream_protocol_error', message, cause: message });
