/** Replaces the gateway's sockets on both sides: a client that sends the next request, and an upstream that answers each. */

import type { Buffer } from 'node:buffer';
import { EventEmitter } from 'node:events';

const headEnd = '\r\n\r\n';
const endOfHead = [13, 10, 13, 10];
const lastChunk = '0\r\n\r\n';

/** Head and body in one piece, as short messages are written: found without a search, which would count as the gateway's time. */
const isWhole = (data: Buffer, bodyBytes = -1): boolean =>
  bodyBytes !== -1 &&
  endOfHead.every((byte, index) => data[data.length - bodyBytes - endOfHead.length + index] === byte);

/** As much of a `net.Socket` as the wire asks of one. What is written is taken at once, and counted as far as the end of its message. */
export class ScriptedSocket extends EventEmitter {
  readonly remoteAddress = '127.0.0.1';
  readonly remotePort = 40_000;
  readonly writable = true;
  readonly writableLength = 0;
  readonly writableNeedDrain = false;
  readonly writableFinished = true;
  destroyed = false;
  bytesWritten = 0;
  readonly #onMessage: (socket: ScriptedSocket) => void;
  /** Of each written message; undefined if it is chunked. */
  readonly #bodyBytes: number | undefined;
  /** Of the message that is being written; -1 before the end of its head. */
  #left = -1;

  constructor(bodyBytes: number | undefined, onMessage: (socket: ScriptedSocket) => void) {
    super();
    this.#bodyBytes = bodyBytes;
    this.#onMessage = onMessage;
  }

  /** What the other side reads. */
  send(bytes: Buffer): void {
    this.emit('data', bytes);
  }

  write(data: string | Buffer, encoding?: unknown, done?: unknown): boolean {
    this.bytesWritten += data.length;
    if (this.#isEnd(data)) {
      this.#left = -1;
      this.#onMessage(this);
    }
    const flushed = typeof encoding === 'function' ? encoding : done;
    if (typeof flushed === 'function') process.nextTick(flushed);
    return true;
  }

  #isEnd(data: string | Buffer): boolean {
    let behind = data.length;
    if (this.#left === -1 && typeof data !== 'string' && isWhole(data, this.#bodyBytes)) return true;
    if (this.#left === -1) {
      const end = data.indexOf(headEnd);
      if (end === -1) return false;
      this.#left = this.#bodyBytes ?? 0;
      behind -= end + headEnd.length;
    }
    if (this.#bodyBytes === undefined) {
      const tail = typeof data === 'string' ? data.slice(-5) : data.toString('latin1', Math.max(0, data.length - 5));
      return tail === lastChunk;
    }
    this.#left -= behind;
    return this.#left <= 0;
  }

  end(): this {
    return this;
  }

  destroy(): this {
    this.destroyed = true;
    return this;
  }

  cork(): void {}
  uncork(): void {}
  ref(): this {
    return this;
  }
  unref(): this {
    return this;
  }
  pause(): this {
    return this;
  }
  resume(): this {
    return this;
  }
  setNoDelay(): this {
    return this;
  }
  setKeepAlive(): this {
    return this;
  }
}
