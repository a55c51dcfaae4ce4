/** Keeps the first and the last bytes of a response: short chunks by reference, and a copy of the needed part of long ones. */

import { Buffer } from 'node:buffer';
import { reusedBytes } from '../../wire/connect.ts';

/** Kept length of the beginning; upstreams put little before their vectors and results. */
export const headBytes = 4 * 1024;
/** Kept length of the end: enough for what follows vectors and results, and for the last events of a stream. */
export const tailBytes = 16 * 1024;

export class Excerpt {
  #totalBytes = 0;
  readonly #first: Buffer[] = [];
  #firstBytes = 0;
  readonly #last: Buffer[] = [];
  #lastBytes = 0;

  push(chunk: Buffer): void {
    if (chunk.length === 0) return;
    this.#totalBytes += chunk.length;
    if (chunk.length < reusedBytes) {
      this.#keep(chunk);
      return;
    }
    if (this.#firstBytes < headBytes) this.#keep(Buffer.from(chunk.subarray(0, headBytes)));
    this.#keep(Buffer.from(chunk.subarray(-tailBytes)));
  }

  #keep(chunk: Buffer): void {
    this.#last.push(chunk);
    this.#lastBytes += chunk.length;
    for (let oldest = this.#last[0]; oldest !== undefined; oldest = this.#last[0]) {
      if (this.#lastBytes - oldest.length < tailBytes) break;
      this.#last.shift();
      this.#lastBytes -= oldest.length;
      if (this.#firstBytes >= headBytes) continue;
      this.#first.push(oldest);
      this.#firstBytes += oldest.length;
    }
  }

  get tailIsWhole(): boolean {
    return this.#totalBytes <= tailBytes;
  }

  head(): Buffer {
    const parts: Buffer[] = [];
    let missing = headBytes;
    for (const chunk of this.#firstBytes < headBytes ? [...this.#first, ...this.#last] : this.#first) {
      parts.push(chunk.subarray(0, missing));
      missing -= chunk.length;
      if (missing <= 0) break;
    }
    return joined(parts);
  }

  tail(): Buffer {
    const parts: Buffer[] = [];
    let missing = tailBytes;
    for (let i = this.#last.length - 1; i >= 0 && missing > 0; i--) {
      const chunk = this.#last[i];
      if (chunk === undefined) break;
      parts.unshift(chunk.subarray(Math.max(0, chunk.length - missing)));
      missing -= chunk.length;
    }
    return joined(parts);
  }
}

function joined(parts: readonly Buffer[]): Buffer {
  const [only] = parts;
  return parts.length === 1 && only !== undefined ? only : Buffer.concat(parts);
}
