/** Captures the beginnings of request and response bodies, for keys with capture enabled. */

import { Buffer } from 'node:buffer';

export const mostKeptBytes = 64 * 1024;
/** Further bytes gathered behind the kept ones, so that a secret across the cut is still recognised and removed. */
const overlapBytes = 16 * 1024;
const mostGatheredBytes = mostKeptBytes + overlapBytes;

export class Captured {
  /** The request body, with its content encoding removed. */
  readonly request: Buffer;
  readonly requestBytes: number;
  contentType: string | undefined = undefined;
  contentEncoding: string | undefined = undefined;
  responseBytes = 0;
  #pieces: Buffer[] = [];
  #gatheredBytes = 0;

  constructor(body: Buffer) {
    // A copy, here and below: a slice would keep the whole body in memory.
    this.request = Buffer.from(body.subarray(0, mostGatheredBytes));
    this.requestBytes = body.length;
  }

  push(chunk: Buffer): void {
    this.responseBytes += chunk.length;
    const lease = mostGatheredBytes - this.#gatheredBytes;
    if (lease <= 0) return;
    const piece = Buffer.from(chunk.subarray(0, lease));
    this.#pieces.push(piece);
    this.#gatheredBytes += piece.length;
  }

  get response(): Buffer {
    return Buffer.concat(this.#pieces);
  }
}
