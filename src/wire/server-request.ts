/** A received request: its head is available at once, its body on demand. */

import type { Buffer } from 'node:buffer';
import type { WireFault } from './fault.ts';
import type { Fields } from './fields.ts';
import type { RequestHead } from './request-head.ts';

export interface RequestSink {
  onBody(piece: Buffer): void;
  onBodyEnd(): void;
  /** The body ends with a fault: its bytes were invalid, too slow, or broke off. */
  onBodyFault(fault: WireFault): void;
}

/** The connection that a request was received on. */
export interface RequestSource {
  readonly socket: { readonly remoteAddress?: string | undefined };
  faultOf(request: ServerRequest): WireFault | undefined;
  askForBody(request: ServerRequest): void;
  takeWhole(request: ServerRequest): Buffer | undefined;
  read(request: ServerRequest, sink: RequestSink): void;
  pauseBody(request: ServerRequest): void;
  resumeBody(request: ServerRequest): void;
}

export class ServerRequest {
  readonly method: string;
  readonly target: string;
  readonly minor: 0 | 1;
  readonly fields: Fields;
  /** The announced length, `chunked`, or 0 where the head announces no body. */
  readonly bodyBytes: number | 'chunked';
  readonly expectsContinue: boolean;
  isComplete = false;

  readonly #source: RequestSource;

  constructor(head: RequestHead, source: RequestSource) {
    this.method = head.method;
    this.target = head.target;
    this.minor = head.minor;
    this.fields = head.fields;
    this.bodyBytes = head.bodyBytes;
    this.expectsContinue = head.expectsContinue;
    this.#source = source;
  }

  /** The value of a header; `name` in lower case. */
  header(name: string): string | undefined {
    return this.fields.get(name);
  }

  get remoteAddress(): string | undefined {
    return this.#source.socket.remoteAddress;
  }

  /** Why the body cannot be read to its end; undefined while nothing is known. */
  get fault(): WireFault | undefined {
    return this.#source.faultOf(this);
  }

  /** Sends `100 Continue` to a client that waits for it before it sends its body. */
  askForBody(): void {
    this.#source.askForBody(this);
  }

  /** The whole body if it has arrived already, as most short ones have; else undefined, and it must be read. */
  takeWhole(): Buffer | undefined {
    return this.#source.takeWhole(this);
  }

  /** Passes the body to `sink`, at first what has arrived. Does nothing for a request that is over. */
  read(sink: RequestSink): void {
    this.#source.read(this, sink);
  }

  pause(): void {
    this.#source.pauseBody(this);
  }

  resume(): void {
    this.#source.resumeBody(this);
  }
}
