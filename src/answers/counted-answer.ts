/** Reads and removes the usage event of a stream where the gateway requested that event and the client did not. */

import { Buffer } from 'node:buffer';
import type { Usage } from '../core/accounting/usage.ts';
import type { Answer, Failure } from '../core/outcome.ts';
import { EventStream } from '../lib/event-stream.ts';
import { codingsOf, headersWithout, headerValue } from '../lib/raw-headers.ts';
import { usageIn } from '../plan/usage/usage-reader.ts';
import { PassingAnswer } from './passing-answer.ts';
import { EventEnds } from './seen-events.ts';

/** Limit of held bytes: a usage event is far shorter, so a longer event passes without being examined. */
const mostHeldBytes = 64 * 1024;
const usageKey = Buffer.from('"usage"');
const nothing = Buffer.alloc(0);

/** The answer without its usage event; the answer itself where it is no readable stream of events. */
export function withoutUsageEvent(answer: Answer): Answer {
  const isStream = /^text\/event-stream\b/i.test(headerValue(answer.headers, 'content-type') ?? '');
  const isReadable = isStream && answer.status === 200 && codingsOf(answer.headers).length === 0;
  return isReadable ? new CountedAnswer(answer) : answer;
}

class CountedAnswer extends PassingAnswer {
  countedApart: Usage | undefined = undefined;

  readonly #ends = new EventEnds();
  #incompleteEvent: Buffer = nothing;
  #isLongEventPassing = false;
  #isLeftOut = false;

  constructor(answer: Answer) {
    // The removed event is not part of the length.
    super(
      answer,
      headersWithout(answer.headers, (name) => name.toLowerCase() === 'content-length'),
    );
  }

  override onChunk(chunk: Buffer): boolean {
    const heldBytes = this.#incompleteEvent.length;
    const bytes = heldBytes === 0 ? chunk : Buffer.concat([this.#incompleteEvent, chunk]);
    let isOpen = true;
    /** Offsets of the first byte not yet passed on, and of the current event. */
    let from = 0;
    let start = 0;
    for (const endInChunk of this.#ends.in(chunk)) {
      const end = heldBytes + endInChunk;
      // A line feed alone belongs to the event before it: its CR came in the chunk before.
      if (end - start > 1 || this.#isLongEventPassing)
        this.#isLeftOut = !this.#isLongEventPassing && this.#isCount(bytes.subarray(start, end));
      this.#isLongEventPassing = false;
      if (this.#isLeftOut) {
        isOpen = this.handOn(bytes.subarray(from, start)) && isOpen;
        from = end;
      }
      start = end;
    }
    this.#isLongEventPassing ||= bytes.length - start > mostHeldBytes;
    const to = this.#isLongEventPassing ? bytes.length : start;
    this.#incompleteEvent = bytes.subarray(to);
    return this.handOn(bytes.subarray(from, to)) && isOpen;
  }

  override onEnd(trailers: readonly string[]): void {
    this.#release();
    this.sink?.onEnd(trailers);
  }

  override onBroken(failure: Failure): void {
    this.#release();
    this.sink?.onBroken(failure);
  }

  /** Passes on an incomplete event at the end of the stream: it is the upstream's own. */
  #release(): void {
    const held = this.#incompleteEvent;
    this.#incompleteEvent = nothing;
    if (!this.#isCount(held)) this.handOn(held);
  }

  /** Whether the event has usage and no choice; its usage is kept. */
  #isCount(event: Buffer): boolean {
    const data = event.includes(usageKey) ? countIn(event) : undefined;
    if (data === undefined) return false;
    this.countedApart = usageIn(Buffer.from(data)) ?? this.countedApart;
    return true;
  }
}

function countIn(event: Buffer): string | undefined {
  try {
    const events = new EventStream();
    const [read] = [...events.push(event), ...events.end()];
    if (read === undefined) return undefined;
    const { choices, usage } = JSON.parse(read.data);
    const isCount = Array.isArray(choices) && choices.length === 0 && typeof usage === 'object' && usage !== null;
    return isCount ? read.data : undefined;
  } catch {
    return undefined; // no event, or its data is no JSON
  }
}
