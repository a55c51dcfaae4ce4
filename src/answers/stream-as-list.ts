/** Converts an event stream to a list for clients that expect one: the data of each event becomes an element, byte for byte. */

import { Buffer } from 'node:buffer';
import type { ApiStream } from '../core/client-api.ts';
import type { Answer } from '../core/outcome.ts';
import { Unfit } from '../core/translation.ts';
import type { StreamEvent } from '../lib/event-stream.ts';
import { isJsonObject, type Json, parseJson, writeJson } from '../lib/json/json-text.ts';
import { codingsOf, headerValue } from '../lib/raw-headers.ts';
import type { UsageObserver } from '../plan/usage/usage.ts';
import { readEvent } from './event-answer.ts';
import { errorMessageIn } from './foreign-error.ts';
import { EventEnds, SeenEventAnswer } from './seen-events.ts';

const opening = Buffer.from('[');
const comma = Buffer.from(',\n');
const closing = Buffer.from(']\n');
/** Limit of the held bytes behind the last event, which may be an error without the form of an event; errors are far shorter. */
const mostLooseBytes = 64 * 1024;

/** The answer as a list; the answer itself where it is no readable stream of events. */
export function asList(answer: Answer, observe: () => UsageObserver): Answer {
  const type = headerValue(answer.headers, 'content-type') ?? '';
  const isReadable = /^text\/event-stream\b/i.test(type) && codingsOf(answer.headers).length === 0;
  return isReadable ? new ListAnswer(answer, observe()) : answer;
}

class ListAnswer extends SeenEventAnswer {
  readonly #ends = new EventEnds();
  #loose: Buffer[] = [];
  #looseBytes = 0;
  #isEmpty = true;

  constructor(answer: Answer, seen: UsageObserver) {
    super(answer, 'application/json', seen);
  }

  override onChunk(chunk: Buffer): boolean {
    let from = 0;
    for (const end of this.#ends.in(chunk)) {
      from = end;
      this.#loose = [];
      this.#looseBytes = 0;
    }
    if (this.#looseBytes <= mostLooseBytes) {
      this.#loose.push(chunk.subarray(from));
      this.#looseBytes += chunk.length - from;
    }
    return super.onChunk(chunk);
  }

  protected writeEvent({ data }: StreamEvent, out: Buffer[]): void {
    this.#write(Buffer.from(data), out);
  }

  protected writeEnd(out: Buffer[]): void {
    const loose = this.#looseBytes > mostLooseBytes ? '' : Buffer.concat(this.#loose).toString().trim();
    // An error in the middle of a stream may come without the frame of an event.
    if (loose.startsWith('{')) this.#write(Buffer.from(errorIn(loose)), out);
    out.push(...(this.#isEmpty ? [opening] : []), closing);
  }

  #write(element: Buffer, out: Buffer[]): void {
    out.push(this.#isEmpty ? opening : comma, element);
    this.#isEmpty = false;
  }
}

function errorIn(text: string): string {
  const read = parseJson(Buffer.from(text));
  if (!isJsonObject(read) || read.error === undefined) throw new Unfit('its stream ends with what is no event');
  return text;
}

const lineEnd = Buffer.from('\n');

/** Converts a stream of events to lines, as some client APIs have them, event by event. */
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
