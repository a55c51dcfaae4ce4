/** Reads a request body completely, decompressed, within a size limit and its memory lease. */

import type { Buffer } from 'node:buffer';
import { GatewayError } from '../core/errors.ts';
import type { BodyWaiter, MemoryLease } from '../core/memory-lease.ts';
import type { WireFault } from '../wire/fault.ts';
import type { RequestSink, ServerRequest } from '../wire/server-request.ts';
import { type Coding, Decoding, type DecodingSink } from './coding.ts';
import { toRefusal } from './framing.ts';
import { AnnouncedBody, firstBlockBytes, free, type Gathering, GrowingBody } from './gathering.ts';

export interface BodyPlan {
  readonly limitBytes: number;
  /** Length from Content-Length, as sent over the network; undefined where the body is chunked. */
  readonly announcedBytes: number | undefined;
  readonly coding: Coding | undefined;
}

/** The length that a request announces; throws where it exceeds the limit. Undefined where none is announced. */
export function announcedBytesOf({ bodyBytes }: ServerRequest, limitBytes: number): number | undefined {
  if (bodyBytes === 'chunked') return undefined;
  if (bodyBytes > limitBytes) throw tooLarge(limitBytes, `is ${bodyBytes} bytes long`);
  return bodyBytes;
}

/** Memory of a decoder beside its window: for its state, input and output. */
const decoderBytes = 64 * 1024;

/** Expected growth by decoding: usual JSON grows about fourfold. Beyond this, more memory must be acquired. */
const usualRatio = 8;

/** Memory to reserve at first: all of an announced body; else a block, or the usual size of a decoded body. */
export function bytesToBeginWith({ announcedBytes, coding, limitBytes }: BodyPlan): number {
  if (coding === undefined) return announcedBytes ?? firstBlockBytes;
  const usualBytes = Math.min((announcedBytes ?? 0) * usualRatio, limitBytes);
  return Math.max(usualBytes, firstBlockBytes) + decoderBytes;
}

function gatheringFor({ announcedBytes, coding }: BodyPlan, lease: MemoryLease): Gathering {
  if (coding !== undefined) {
    const { windowBytes } = coding;
    return new GrowingBody(lease, (bytes) => Math.min(bytes, windowBytes) + decoderBytes);
  }
  return announcedBytes === undefined ? new GrowingBody(lease, nothing) : new AnnouncedBody(announcedBytes);
}

const nothing = (): number => 0;

export interface BodyReader {
  /** Called when no more is read, whether the body is complete or not; `receivedBytes` came over the network. */
  onBodyRead(receivedBytes: number): void;
}

/** Reads one body. The edge may end the reading too, when the client leaves. */
export class BodyReading implements RequestSink, DecodingSink {
  readonly #request: ServerRequest;
  readonly #reader: BodyReader;
  readonly #limitBytes: number;
  readonly #gathering: Gathering;
  readonly #decoding: Decoding | undefined;
  /** Bytes received over the network, before decoding. */
  #receivedBytes = 0;
  #decodedBytes = 0;
  /** `#isReceived`: everything has arrived. `#isDecoded`: everything is decoded, which may be earlier. */
  #isReceived = false;
  #isDecoded = false;
  #waiter: BodyWaiter | undefined = undefined;

  constructor(request: ServerRequest, plan: BodyPlan, lease: MemoryLease, reader: BodyReader) {
    this.#request = request;
    this.#reader = reader;
    this.#limitBytes = plan.limitBytes;
    this.#gathering = gatheringFor(plan, lease);
    this.#decoding = plan.coding === undefined ? undefined : new Decoding(plan.coding, this);
  }

  /** Starts reading; ends with an error as soon as the size limit or the available memory is exceeded. */
  start(waiter: BodyWaiter): void {
    this.#waiter = waiter;
    this.#request.read(this);
  }

  /** Ends the reading with an error. False where it has ended already. */
  fail(error: GatewayError): boolean {
    const waiter = this.#waiter;
    if (waiter === undefined) return false;
    this.#waiter = undefined;
    this.#reader.onBodyRead(this.#receivedBytes);
    this.#gathering.drop();
    this.#decoding?.drop();
    // The rest of the body is discarded, without waiting for it.
    this.#request.resume();
    waiter.onFailed(error);
    return true;
  }

  onBody(chunk: Buffer): void {
    if (this.#waiter === undefined) return; // it was refused
    this.#receivedBytes += chunk.length;
    if (this.#receivedBytes > this.#limitBytes) this.fail(tooLarge(this.#limitBytes, 'goes on beyond it'));
    else if (this.#decoding !== undefined) this.#decoding.push(chunk);
    else if (!this.#gathering.add(chunk)) this.fail(outgrown());
  }

  onBodyEnd(): void {
    if (this.#waiter === undefined) return;
    this.#isReceived = true;
    if (this.#decoding === undefined || this.#isDecoded) this.#finish();
    else this.#decoding.end();
  }

  onBodyFault(fault: WireFault): void {
    this.fail(toRefusal(fault));
  }

  #finish(): void {
    const waiter = this.#waiter;
    this.#waiter = undefined;
    this.#reader.onBodyRead(this.#receivedBytes);
    waiter?.onWhole(this.#gathering.whole());
  }

  onDecoded(chunk: Buffer): void {
    if (this.#waiter === undefined) return;
    this.#decodedBytes += chunk.length;
    if (this.#decodedBytes > this.#limitBytes) {
      this.fail(tooLarge(this.#limitBytes, 'is longer than that once decoded'));
    } else if (!this.#gathering.add(chunk)) {
      this.fail(outgrown());
    } else {
      // A full chunk is released at once, as megabytes of garbage would accumulate.
      free(chunk);
    }
  }

  onDecodedEnd(): void {
    this.#isDecoded = true;
    if (this.#waiter !== undefined && this.#isReceived) this.#finish();
    // A request that is paused because the decoder is full is read to its end: the decoder needs no more bytes.
    else this.#request.resume();
  }

  onUndecodable(cause: unknown): void {
    this.fail(
      new GatewayError('invalid_json', {
        message: 'The body is not what its Content-Encoding says; send it plain, or encode it again.',
        cause,
      }),
    );
  }

  onFull(): void {
    this.#request.pause();
  }

  onReady(): void {
    if (this.#waiter !== undefined) this.#request.resume();
  }
}

function tooLarge(limitBytes: number, what: string): GatewayError {
  return new GatewayError('body_too_large', {
    message: `The body limit is ${limitBytes} bytes (server.body_limit), and this body ${what}; send it in smaller requests.`,
  });
}

/** The error for a body that found no memory while it grew. Announced bodies get their memory before they are sent. */
function outgrown(): GatewayError {
  return new GatewayError('overloaded', {
    message:
      'There is no memory left for request bodies (server.body_memory), and this one came without the length that would have let it wait; try again in 1 s, or send it with a Content-Length and without Content-Encoding.',
    headers: ['Retry-After', '1'],
    cause: 'memory for request bodies: none left for one that grows',
  });
}
