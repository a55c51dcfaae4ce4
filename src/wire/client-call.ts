/** One request of an HTTP client, with its response: states and events of the call. */

import { Buffer } from 'node:buffer';
import type { HeadMemo } from './answer-head.ts';
import { inToken } from './characters.ts';
import { toFieldLines } from './head-writer.ts';

/** A piece of a body whose bytes are stored elsewhere, such as in a file. */
export interface StoredPiece {
  readonly length: number;
  /** Reads bytes from `at` on: at least one, and at most `mostBytes`. */
  read(at: number, mostBytes: number): Promise<Buffer>;
}

export type Piece = Buffer | StoredPiece;

export interface ClientRequest {
  readonly method: string;
  readonly path: string;
  /** Names and values alternately, without `host` and without the headers that frame the body. */
  readonly headers: readonly string[];
  /** Lines of the head that replace `headers`; their writer has validated them. */
  readonly lines?: string | undefined;
  /** Pieces are sent one after the other without a copy; a stored piece is read only when it is sent. */
  readonly body?: Buffer | readonly Piece[] | undefined;
  /** The request must not be sent twice: it uses a new connection if the server often closes connections after a response. */
  readonly isOnce?: boolean | undefined;
}

/** Receives a call's events, in this order. None follows an end, an error, or `abort`. Times are on the monotonic clock. */
export interface AnswerHandler {
  /** The call has a connection, and the first byte may have been sent. */
  onStart(): void;
  /** The last byte of the request was sent; an answer may arrive earlier. */
  onSent(): void;
  /** The first byte of the answer has arrived; informational answers (1xx) do not count. */
  onFirstByte(atMs: number): void;
  /** `headers`: names and values alternately, as received, one character per byte. */
  onHead(status: number, statusText: string, headers: readonly string[], memo: HeadMemo | undefined): void;
  /** The bytes belong to the handler and are not overwritten. Bytes that were already read arrive even after a pause. */
  onBody(piece: Buffer, atMs: number): void;
  onEnd(trailers: readonly string[]): void;
  onError(error: Error): void;
}

/** What holds a call: first the pool, then a connection. */
export interface CallHolder {
  pause(): void;
  resume(): void;
  /** The answer is not needed any more. */
  drop(call: ClientCall): void;
}

const nobody: CallHolder = { pause() {}, resume() {}, drop() {} };

export class ClientCall {
  readonly handler: AnswerHandler;
  readonly isHead: boolean;
  readonly isOnce: boolean;
  /** The head and the body; dropped once they were sent. */
  head: string;
  body: readonly Piece[];
  readonly bodyBytes: number;
  holder: CallHolder = nobody;
  /** When the call began to wait for a connection, as none was free; on the monotonic clock. */
  waitsSinceMs: number | undefined = undefined;

  /** Throws a TypeError where the request cannot be sent. `beginning`: see `toBeginning`. */
  constructor(
    { method, headers, lines, body, isOnce = false }: ClientRequest,
    beginning: string,
    handler: AnswerHandler,
  ) {
    this.handler = handler;
    this.isOnce = isOnce;
    this.isHead = method === 'HEAD';
    this.body = body === undefined ? noPieces : Buffer.isBuffer(body) ? [body] : body;
    let bytes = 0;
    for (const piece of this.body) bytes += piece.length;
    this.bodyBytes = bytes;
    for (let i = 0; i < headers.length; i += 2) {
      if (!isToken(headers[i] ?? '')) throw new TypeError(`a header is called ${JSON.stringify(headers[i])}`);
    }
    const length = body === undefined && method !== 'POST' ? '' : `content-length: ${bytes}\r\n`;
    this.head = `${beginning}${lines ?? toFieldLines(headers)}${length}\r\n`;
  }

  pause(): void {
    this.holder.pause();
  }

  resume(): void {
    this.holder.resume();
  }

  /** Ends the call; its handler is not called any more. Does nothing once the call is over. */
  abort(): void {
    const { holder } = this;
    this.leave();
    holder.drop(this);
  }

  /** Ends the call's relation to its connection: whatever is done with the call from now on has no effect there. */
  leave(): void {
    this.holder = nobody;
    this.body = noPieces;
    this.head = '';
  }
}

/** The first lines of a request's head. Throws a TypeError where they cannot be sent. `host`: as the head has it. */
export function toBeginning(method: string, path: string, host: string): string {
  if (!isToken(method)) throw new TypeError('the method is none that can be sent');
  if (unwritablePath.test(path)) throw new TypeError('the path holds what no request target may hold');
  // Some HTTP/1.0 servers keep a connection only if the request asks for it.
  return `${method} ${path} HTTP/1.1\r\nhost: ${host}\r\nconnection: keep-alive\r\n`;
}

const noPieces: readonly Piece[] = [];
const unwritablePath = /[^\x21-\x7e\x80-\xff]|^$/;

function isToken(name: string): boolean {
  for (let at = 0; at < name.length; at += 1) {
    if (inToken[name.charCodeAt(at)] !== 1) return false;
  }
  return name.length > 0;
}
