/** Types of what all connections of a server share: settings, handler, timers. */

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
  /** Timeouts: for a head from its first byte, for a request with its body (`requestMs`), between two requests (`keepAliveMs`). */
  readonly headMs: number;
  readonly requestMs: number;
  readonly keepAliveMs: number;
  /** Whether a client that ended its side is still answered; else it counts as gone. */
  readonly answersHalfClosed: boolean;
}

export interface ServerHandler {
  onRequest(request: ServerRequest, answer: ServerAnswer): void;
  /** The whole answer to bytes that never became a request, one character per byte; the connection ends with it. */
  answerTo(fault: WireFault): string;
}

/** A connection that may have no request at present. */
export interface IdleConnection {
  readonly socket: Socket;
  /** Whether the connection has nothing to do, and no part of a request was received. */
  readonly isIdle: boolean;
  /** When the connection was opened, or its last answer ended; on the monotonic clock. */
  readonly idleSinceMs: number;
}

/** A connection as the server uses it. */
export interface Served extends Timed, IdleConnection {
  /** Called when the connection's time is up: nothing more of its request is read. */
  expire(): void;
}

export interface ServerContext {
  settings: ServerSettings;
  isDraining: boolean;
  readonly handler: ServerHandler;
  readonly wheel: Wheel;
  readonly heads: SharedHeads;
  /** Calls `expire` later: some connections in each turn of the event loop. */
  spread(connection: Served): void;
  closed(connection: Served): void;
}
