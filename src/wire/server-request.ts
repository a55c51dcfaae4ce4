/** A received request: its head at once, its body on demand. */

import type { Buffer } from 'node:buffer';
import type { WireFault } from './fault.ts';
import type { Fields } from './fields.ts';
import type { RequestHead } from './request-head.ts';

/** Takes a body as it comes. */
export interface RequestSink {
  onBody(piece: Buffer): void;
  onBodyEnd(): void;
  /** Nothing more comes: what does is no body, came too slowly, or broke off. */
  onBodyFault(fault: WireFault): void;
}

/** Where a request comes from. */
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
  /** As announced, `chunked`, or 0 where nothing is said. */
  readonly bodyBytes: number | 'chunked';
  readonly expectsContinue: boolean;
  /** All of it is here. */
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

  /** Its value; `name` in lower case. */
  header(name: string): string | undefined {
    return this.fields.get(name);
  }

  get remoteAddress(): string | undefined {
    return this.#source.socket.remoteAddress;
  }

  /** Why its body cannot be read to its end, where that is known by now. */
  get fault(): WireFault | undefined {
    return this.#source.faultOf(this);
  }

  /** Asks a client for its body that waits for that. */
  askForBody(): void {
    this.#source.askForBody(this);
  }

  /** The body where all of it is here already, as with most that are short; else it has to be read. */
  takeWhole(): Buffer | undefined {
    return this.#source.takeWhole(this);
  }

  /** The body goes to this one; what came before is handed over at once. Nothing comes of a request that is over. */
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
