/** Sends server-sent events to the console, with heartbeats and backpressure, and ends them with the session. */

import { reaches } from '../../core/role.ts';
import { withMasks } from '../../lib/secrets/secret-shapes.ts';
import { type Caller, identityOf } from '../caller.ts';
import type { Needed } from '../endpoint.ts';
import { Problem } from '../problem.ts';

export interface ServerEvent {
  /** Name of the event; default `message`. */
  readonly name?: string;
  /** The event's ID, which the browser sends back as `Last-Event-ID` when it reconnects. */
  readonly id?: string;
  /** The event's data, sent as JSON. */
  readonly data: unknown;
}

/** The reader of a stream, and how to check the reader's permission again. */
interface Onlooker {
  readonly caller: Caller;
  readonly headers: Headers;
  readonly signal: AbortSignal;
  readonly context: { readonly access: { identify(headers: Headers): Promise<Caller> } };
}

export type EventStreams = ReturnType<typeof createEventStreams>;

export interface EventStreamLimits {
  /** Limit of streams for one session or one API token. */
  readonly each: number;
  readonly all: number;
}

interface Controls {
  beat(): void;
  end(): void;
}

interface OpenStream extends Controls {
  readonly onlooker: Onlooker;
  readonly needs: Needed;
  readonly caller: string;
}

const standardLimits: EventStreamLimits = { each: 8, all: 64 };
const lookEveryMs = 1_000;
/** Permission checks between two heartbeats; the resulting interval is well below proxies' idle timeouts. */
const looksPerBeat = 15;
/** The pause after which a browser reconnects. */
const comeAgainMs = 2_000;

export function createEventStreams(limits: EventStreamLimits = standardLimits) {
  const streams = new Set<OpenStream>();
  let timer: ReturnType<typeof setInterval> | undefined;
  let looks = 0;
  let isLooking = false;

  function add(stream: OpenStream): void {
    streams.add(stream);
    timer ??= setInterval(() => void look(), lookEveryMs).unref();
  }

  function remove(stream: OpenStream): void {
    streams.delete(stream);
    if (streams.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  }

  async function look(): Promise<void> {
    looks += 1;
    if (looks % looksPerBeat === 0) for (const stream of streams) stream.beat();
    if (isLooking) return;
    isLooking = true;
    const groups = Map.groupBy(streams, ({ caller }) => caller);
    await Promise.all([...groups.values()].map(endUnauthorised));
    isLooking = false;
  }

  return {
    /** Sends the events as fast as the reader takes them; `events` must end soon after its signal. Throws a Problem beyond the limits. */
    open(onlooker: Onlooker, needs: Needed, events: (signal: AbortSignal) => AsyncIterable<ServerEvent>) {
      const caller = identityOf(onlooker.caller);
      const own = [...streams].filter((stream) => stream.caller === caller).length;
      if (own >= limits.each || streams.size >= limits.all) {
        throw new Problem('too_many_streams', {
          detail: 'Close a window of the console, or end another stream, and try again.',
          headers: { 'retry-after': '5' },
        });
      }
      const over = new AbortController();
      const body = toBody(events, over, (controls) => {
        const stream: OpenStream = { onlooker, needs, caller, ...controls };
        add(stream);
        over.signal.addEventListener('abort', () => remove(stream), { once: true });
        onlooker.signal.addEventListener('abort', () => stream.end(), { once: true });
        // Disconnected during authentication: the signal fires only once.
        if (onlooker.signal.aborted) stream.end();
      });
      return new Response(body, {
        headers: { 'content-type': 'text/event-stream', 'cache-control': 'no-store', 'x-accel-buffering': 'no' },
      });
    },
    get size() {
      return streams.size;
    },
    close() {
      for (const stream of streams) stream.end();
    },
  };
}

function toBody(
  events: (signal: AbortSignal) => AsyncIterable<ServerEvent>,
  over: AbortController,
  begin: (controls: Controls) => void,
): ReadableStream<Uint8Array> {
  let goOn: () => void = () => undefined;
  const encoder = new TextEncoder();

  async function write(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    try {
      for await (const event of events(over.signal)) {
        // The reader is slow: no further events are taken.
        if ((controller.desiredSize ?? 0) <= 0) {
          await new Promise<void>((resolve) => {
            goOn = resolve;
          });
        }
        if (over.signal.aborted) return;
        controller.enqueue(encoder.encode(toText(event)));
      }
      if (!over.signal.aborted) controller.close();
    } catch (error) {
      // Broken off, so that the reader reconnects.
      if (!over.signal.aborted) controller.error(error);
    } finally {
      over.abort();
    }
  }

  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        // A first line, so that the head is sent, and the reader knows that it is connected.
        controller.enqueue(encoder.encode(`retry: ${comeAgainMs}\n\n`));
        begin({
          beat: () => {
            if ((controller.desiredSize ?? 0) > 0) controller.enqueue(encoder.encode(':\n\n'));
          },
          end: () => {
            if (over.signal.aborted) return;
            over.abort();
            goOn();
            controller.close();
          },
        });
        void write(controller);
      },
      pull: () => goOn(),
      cancel: () => {
        over.abort();
        goOn();
      },
    },
    new CountQueuingStrategy({ highWaterMark: 16 }),
  );
}

/** Ends the streams of one credential that may no longer be read; the credential is checked once for all of them. */
async function endUnauthorised(streams: readonly OpenStream[]): Promise<void> {
  const [first] = streams;
  if (first === undefined) return;
  const { context, headers } = first.onlooker;
  try {
    const now = await context.access.identify(headers);
    const isSame = identityOf(now) === first.caller;
    for (const stream of streams) if (!isSame || !mayStill(now, stream.needs)) stream.end();
  } catch {
    // Unknown while the store is unreachable, when there is nothing new to see either.
  }
}

function mayStill(caller: Caller, needs: Needed): boolean {
  if (needs === 'anyone') return true;
  if (caller.kind === 'nobody') return false;
  return needs === 'member' ? caller.kind === 'member' : reaches(caller.role, needs);
}

/** An event in the text form of server-sent events; JSON has no raw line breaks, so one line of data is enough. */
function toText({ name, id, data }: ServerEvent): string {
  const lines = [`data: ${withMasks(JSON.stringify(data))}`];
  if (id !== undefined) lines.unshift(`id: ${id}`);
  if (name !== undefined) lines.unshift(`event: ${name}`);
  return `${lines.join('\n')}\n\n`;
}
