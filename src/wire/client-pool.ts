/** Connections to one server: kept for the next call, newest first, as many as are allowed, none older than it may be. */

import type { Socket } from 'node:net';
import { CallQueue } from './call-queue.ts';
import { type AnswerHandler, type CallHolder, ClientCall, type ClientRequest } from './client-call.ts';
import { ClientConnection, type ConnectionOptions, type ConnectionOwner } from './client-connection.ts';
import { PoolClosedError } from './client-errors.ts';
import type { Connector, Place } from './connect.ts';
import type { Wheel } from './wheel.ts';

export interface PoolOptions {
  readonly place: Place;
  /** As it stands in the head of every request. */
  readonly host: string;
  readonly connect: Connector;
  /** At most so many at a time. */
  readonly connections: number;
  readonly wheel: Wheel;
  /** How long an idle connection is kept where the server says nothing of that. */
  readonly keepAliveMs?: number;
  /** How long calls are made on a connection; up to a quarter less, so that those opened together are not renewed together. */
  readonly lifeMs?: number;
}

/** Shorter than the 5 s after which common servers drop an idle connection, so that no call meets a closing one. */
const standardKeepAliveMs = 4_000;

export class ClientPool implements CallHolder, ConnectionOwner {
  readonly #options: PoolOptions;
  readonly #connection: Omit<ConnectionOptions, 'lifeMs'>;
  readonly #all = new Set<ClientConnection>();
  /** The newest is the last. */
  readonly #idle: ClientConnection[] = [];
  readonly #waiting = new CallQueue();
  #connecting = 0;
  #awaitsTurn = false;
  #closed = false;
  #destroyed = false;
  #onQuiet: (() => void) | undefined = undefined;

  constructor(options: PoolOptions) {
    this.#options = options;
    this.#connection = { wheel: options.wheel, keepAliveMs: options.keepAliveMs ?? standardKeepAliveMs };
  }

  /** Takes no more calls. */
  get closed(): boolean {
    return this.#closed;
  }

  get destroyed(): boolean {
    return this.#destroyed;
  }

  /** Open ones, and those that are being opened. */
  get connections(): number {
    return this.#all.size + this.#connecting;
  }

  /** Throws where the request cannot be sent at all; tells the handler nothing before it has returned. */
  send(request: ClientRequest, handler: AnswerHandler): ClientCall {
    if (this.#closed) throw new PoolClosedError();
    const call = new ClientCall(request, this.#options.host, handler);
    call.holder = this;
    this.#waiting.add(call);
    this.#serve();
    return call;
  }

  /** Resolves when the calls that run have ended. */
  async close(): Promise<void> {
    this.#closed = true;
    if (this.#waiting.size > 0 || this.#all.size > this.#idle.length) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#onQuiet = resolve;
      await promise;
    }
    this.destroy();
  }

  /** Calls that run fail. */
  destroy(): void {
    this.#closed = true;
    this.#destroyed = true;
    const error = new PoolClosedError();
    for (let call = this.#waiting.shift(); call !== undefined; call = this.#waiting.shift()) fail(call, error);
    for (const connection of [...this.#all]) connection.destroy(error);
  }

  // Calls that wait.

  pause(): void {}

  resume(): void {}

  drop(call: ClientCall): void {
    this.#waiting.remove(call);
    this.#lookWhetherQuiet();
  }

  // Connections.

  onFree(connection: ClientConnection): void {
    this.#idle.push(connection);
    connection.rest();
    this.#serve();
    this.#lookWhetherQuiet();
  }

  onClosed(connection: ClientConnection): void {
    this.#all.delete(connection);
    const at = this.#idle.lastIndexOf(connection);
    if (at !== -1) this.#idle.splice(at, 1);
    this.#serve();
    this.#lookWhetherQuiet();
  }

  /**
   * Idle connections are given out when the event loop has looked at them once more, so that a call meets none whose end is
   * here already.
   */
  #serve(): void {
    if (this.#waiting.size === 0) return;
    if (this.#idle.length > 0 && !this.#awaitsTurn) {
      this.#awaitsTurn = true;
      awaitTurn(this);
    }
    const { connections } = this.#options;
    while (this.connections < connections && this.#connecting + this.#idle.length < this.#waiting.size) this.#open();
  }

  onTurn(): void {
    this.#awaitsTurn = false;
    // Who comes meanwhile waits for the next turn.
    for (let left = this.#waiting.size; left > 0 && this.#idle.length > 0; left -= 1) {
      const call = this.#waiting.shift();
      if (call === undefined) break;
      this.#idle.pop()?.send(call);
    }
    this.#serve();
  }

  #open(): void {
    this.#connecting += 1;
    const { connect, place } = this.#options;
    connect(place, (result) => {
      this.#connecting -= 1;
      if (result instanceof Error) this.#onFailed(result);
      else if (this.#destroyed) result.destroy();
      else this.#onOpened(result);
    });
  }

  #onOpened(socket: Socket): void {
    const lifeMs = (this.#options.lifeMs ?? Number.POSITIVE_INFINITY) * (1 - Math.random() / 4);
    const connection = new ClientConnection(socket, this, { ...this.#connection, lifeMs });
    this.#all.add(connection);
    const call = this.#waiting.shift();
    if (call === undefined) this.onFree(connection);
    else connection.send(call);
  }

  /** The connection was meant for the call that has waited longest, unless another one will do. */
  #onFailed(error: Error): void {
    if (this.#waiting.size > this.#connecting + this.#idle.length) {
      const call = this.#waiting.shift();
      if (call !== undefined) fail(call, error);
    }
    this.#serve();
    this.#lookWhetherQuiet();
  }

  #lookWhetherQuiet(): void {
    if (this.#onQuiet === undefined || this.#waiting.size > 0 || this.#all.size > this.#idle.length) return;
    this.#onQuiet();
    this.#onQuiet = undefined;
  }
}

function fail(call: ClientCall, error: Error): void {
  call.leave();
  call.handler.onError(error);
}

/** One callback of the event loop for all of them. */
let awaiting: ClientPool[] = [];

function awaitTurn(pool: ClientPool): void {
  if (awaiting.push(pool) === 1) setImmediate(giveTurn);
}

function giveTurn(): void {
  const pools = awaiting;
  awaiting = [];
  for (const pool of pools) pool.onTurn();
}
