/** One request with its response, from the client's side. */

import { Buffer } from 'node:buffer';
import type { HeadMemo } from './answer-head.ts';
import { inToken } from './characters.ts';
import { toFieldLines } from './head-writer.ts';

/** Bytes that are somewhere else. */
export interface StoredPiece {
  readonly length: number;
  /** Some of them from there on: one at least, and no more than `mostBytes`. */
  read(at: number, mostBytes: number): Promise<Buffer>;
}

export type Piece = Buffer | StoredPiece;

export interface ClientRequest {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  /** Names and values in turn; neither `host` nor what frames the body. */
  readonly headers: readonly string[];
  /** In their position, as lines of the head, validated by the writer. */
  readonly lines?: string | undefined;
  /** Pieces are sent one after the other, without a copy; what is stored is read when its turn comes. */
  readonly body?: Buffer | readonly Piece[] | undefined;
  /** It must not be sent twice: uses a new connection if the server often closes connections after a response. */
  readonly isOnce?: boolean | undefined;
}

/** Notified of a call's events, in this order; nothing follows an end, an error, or `abort`; times are on the monotonic clock. */
export interface AnswerHandler {
  /** There is a connection, and the first byte may have left. */
  onStart(): void;
  /** The last byte of the request has left; an answer may come sooner. */
  onSent(): void;
  /** The first byte of the answer is here; what only announces one (1xx) is none. */
  onFirstByte(atMs: number): void;
  /** `headers`: names and values in turn, as they came, each byte a character. */
  onHead(status: number, statusText: string, headers: readonly string[], memo: HeadMemo): void;
  /** The bytes belong to the handler and are not written again. Bytes that were read already arrive even after a pause. */
  onBody(piece: Buffer, atMs: number): void;
  /** The answer is whole. */
  onEnd(trailers: readonly string[]): void;
  onError(error: Error): void;
}

/** The holder of a call: first the pool, then a connection. */
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
  /** Both are let go of when they are sent. */
  head: string;
  body: readonly Piece[];
  /** Of the body. */
  readonly bodyBytes: number;
  holder: CallHolder = nobody;
  /** Since when it waits for a connection, where none was free; on the monotonic clock. */
  waitsSinceMs: number | undefined = undefined;

  /** Throws a TypeError where the request is none that could be sent. `beginning`: see `toBeginning`. */
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

  /** The handler is not called any more. Does nothing once the call is over. */
  abort(): void {
    const { holder } = this;
    this.leave();
    holder.drop(this);
  }

  /** It is over: whatever is asked of it from now on concerns no connection. */
  leave(): void {
    this.holder = nobody;
    this.body = noPieces;
    this.head = '';
  }
}

/** The first lines of a request's head. Throws a TypeError where they could not be sent. `host` as it stands in the head. */
export function toBeginning(method: string, path: string, host: string): string {
  if (!isToken(method)) throw new TypeError('the method is none that can be sent');
  if (unwritablePath.test(path)) throw new TypeError('the path holds what no request target may hold');
  // Some servers of HTTP/1.0 keep a connection only where they are asked to.
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
