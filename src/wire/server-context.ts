/** What all connections of a server share: settings, handler, timers. */

import type { Socket } from 'node:net';
import type { WireFault } from './fault.ts';
import type { FieldLimits } from './fields.ts';
import type { SharedHeads } from './head-memo.ts';
import type { ServerAnswer } from './server-answer.ts';
import type { ServerRequest } from './server-request.ts';
import type { Timed, Wheel } from './wheel.ts';

export interface ServerSettings {
  readonly headBytes: number;
  readonly fields: FieldLimits;
  /** For a head, from its first byte; for a request with its body; between two requests. */
  readonly headMs: number;
  readonly requestMs: number;
  readonly keepAliveMs: number;
  /** A client that ends its side has left, unless it is answered all the same. */
  readonly answersHalfClosed: boolean;
}

export interface ServerHandler {
  onRequest(request: ServerRequest, answer: ServerAnswer): void;
  /** The whole answer to what never became a request, each character a byte; the connection ends with it. */
  answerTo(fault: WireFault): string;
}

/** A connection that may be without a request. */
export interface IdleConnection {
  readonly socket: Socket;
  /** It has nothing to do at the moment, and no part of a request is here. */
  readonly isIdle: boolean;
  /** When it was opened, or its last answer ended; on the monotonic clock. */
  readonly idleSinceMs: number;
}

/** A connection, as its server sees it. */
export interface Served extends Timed, IdleConnection {
  /** Its time is up: nothing more is read of its request. */
  expire(): void;
}

export interface ServerContext {
  settings: ServerSettings;
  isDraining: boolean;
  readonly handler: ServerHandler;
  readonly wheel: Wheel;
  readonly heads: SharedHeads;
  /** Does what can wait, some of it in each turn of the event loop. */
  spread(connection: Served): void;
  closed(connection: Served): void;
}
