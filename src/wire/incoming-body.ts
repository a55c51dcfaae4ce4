/** Receives the body of one request, and passes it to its reader or discards it. */

import type { Buffer } from 'node:buffer';
import { ChunkReader } from './chunks.ts';
import type { WireFault } from './fault.ts';
import type { RequestSink } from './server-request.ts';

/** Limit of bytes that are discarded of a body that is not needed any more. */
const mostDiscardedBytes = 64 * 1024 * 1024;

export class IncomingBody {
  /** Why no more of the body can be read; undefined if nothing is wrong. */
  fault: WireFault | undefined = undefined;

  #sink: RequestSink | undefined = undefined;
  #isUnwanted = false;
  #discardedBytes = 0;
  /** For a body with a length: the number of bytes that have not arrived yet. */
  #leftBytes: number;
  readonly #chunks: ChunkReader | undefined;

  constructor(bodyBytes: number | 'chunked') {
    this.#leftBytes = bodyBytes === 'chunked' ? 0 : bodyBytes;
    this.#chunks = bodyBytes === 'chunked' ? new ChunkReader(this) : undefined;
  }

  /** Whether bytes are read or discarded at once; else they must wait. */
  get isTaken(): boolean {
    return this.#isUnwanted || this.#sink !== undefined;
  }

  get isOver(): boolean {
    return this.#chunks === undefined ? this.#leftBytes === 0 : this.#chunks.isOver;
  }

  /** Whether so many bytes were discarded that their sender must be stopped. */
  get isTooMuch(): boolean {
    return this.#discardedBytes > mostDiscardedBytes;
  }

  read(sink: RequestSink): void {
    if (this.fault !== undefined) sink.onBodyFault(this.fault);
    else if (this.isOver) sink.onBodyEnd();
    else this.#sink = sink;
  }

  /** The bytes of a body with a length, if it has no reader yet and has arrived completely; else undefined. */
  takeWhole(bytes: Buffer): Buffer | undefined {
    const length = this.#leftBytes;
    if (this.#chunks !== undefined || this.isTaken || this.fault !== undefined || bytes.length < length)
      return undefined;
    this.#leftBytes = 0;
    return length === bytes.length ? bytes : bytes.subarray(0, length);
  }

  discard(): void {
    this.#sink = undefined;
    this.#isUnwanted = true;
  }

  /** Passes bytes on; returns where it stopped: at the end of the bytes, or after the body. */
  push(bytes: Buffer): number | WireFault {
    if (this.#chunks !== undefined) return this.#chunks.push(bytes, 0);
    const taken = Math.min(this.#leftBytes, bytes.length);
    this.#leftBytes -= taken;
    if (taken > 0) this.onBody(taken === bytes.length ? bytes : bytes.subarray(0, taken));
    return taken;
  }

  end(): void {
    const sink = this.#sink;
    this.#sink = undefined;
    sink?.onBodyEnd();
  }

  fail(fault: WireFault): void {
    this.fault = fault;
    const sink = this.#sink;
    this.#sink = undefined;
    sink?.onBodyFault(fault);
  }

  onBody(piece: Buffer): void {
    if (this.#sink !== undefined) this.#sink.onBody(piece);
    else this.#discardedBytes += piece.length;
  }
}
