/** Keeps the client connections to one server: reuses the newest first, and limits their number and age. */

import type { Socket } from 'node:net';
import { performance } from 'node:perf_hooks';
import { AnswerMemo } from './answer-head.ts';
import { type AnswerHandler, type CallHolder, ClientCall, type ClientRequest, toBeginning } from './client-call.ts';
import { ClientConnection, type ConnectionOptions, type ConnectionOwner } from './client-connection.ts';
import { PoolClosedError } from './client-errors.ts';
import type { Connector, ServerAddress } from './connect.ts';
import type { Wheel } from './wheel.ts';

/** Positions at the front that are empty are removed when there are at least this many. */
const portion = 1_024;

/** A queue in a list with gaps. A Set would cost more: see the buckets of the wheel. */
export class CallQueue {
  #calls: (ClientCall | undefined)[] = [];
  #from = 0;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  add(call: ClientCall): void {
    this.#calls.push(call);
    this.#size += 1;
  }

  /** Counts the calls as waiting from now on, because a connection that was free for them has closed. */
  startWait(nowMs: number): void {
    for (const call of this.#calls) if (call !== undefined) call.waitsSinceMs ??= nowMs;
  }

  remove(call: ClientCall): void {
    const at = this.#calls.indexOf(call, this.#from);
    if (at === -1) return;
    this.#calls[at] = undefined;
    this.#size -= 1;
    if (this.#size === 0) this.#clear();
  }

  shift(): ClientCall | undefined {
    if (this.#size === 0) return undefined;
    let call = this.#calls[this.#from];
    while (call === undefined) {
      this.#from += 1;
      call = this.#calls[this.#from];
    }
    this.#calls[this.#from] = undefined;
    this.#from += 1;
    this.#size -= 1;
    if (this.#size === 0) this.#clear();
    else if (this.#from >= portion && this.#from * 2 >= this.#calls.length) this.#close();
    return call;
  }

  #clear(): void {
    this.#calls.length = 0;
    this.#from = 0;
  }

  #close(): void {
    this.#calls = this.#calls.slice(this.#from);
    this.#from = 0;
  }
}

export interface PoolOptions {
  readonly server: ServerAddress;
  /** The host as the head of every request has it. */
  readonly host: string;
  readonly connect: Connector;
  readonly connections: number;
  readonly wheel: Wheel;
  /** How long an idle connection is kept, if the server does not say. */
  readonly keepAliveMs?: number;
  /** Time after which a connection makes no further calls; up to a quarter less, so that connections opened together are not renewed together. */
  readonly lifeMs?: number;
}

/** Shorter than the 5 s after which common servers close an idle connection, so that no call uses a closing one. */
const standardKeepAliveMs = 4_000;
/** How long a server that closed a connection soon after an answer is expected to do so again. */
const earlyEndsForMs = 60_000;
/** Idle time after which a connection of such a server is used again: if the server closes it, that is known by then. */
const pauseMs = 100;

export class ClientPool implements CallHolder, ConnectionOwner {
  readonly #options: PoolOptions;
  readonly #connection: Omit<ConnectionOptions, 'lifeMs'>;
  readonly #all = new Set<ClientConnection>();
  /** Idle connections, the newest last. */
  readonly #idle: ClientConnection[] = [];
  readonly #waiting = new CallQueue();
  /** Calls that need a new connection. */
  readonly #once = new CallQueue();
  #endsEarlyUntilMs = 0;
  /** The method and path of the last request, with its cached beginning: most requests have the same as the one before. */
  #method = '';
  #path = '';
  #beginning = '';
  #connecting = 0;
  #awaitsTurn = false;
  #closed = false;
  #destroyed = false;
  #onQuiet: (() => void) | undefined = undefined;

  constructor(options: PoolOptions) {
    this.#options = options;
    const { wheel, keepAliveMs = standardKeepAliveMs } = options;
    this.#connection = { wheel, keepAliveMs, heads: new AnswerMemo() };
  }

  get closed(): boolean {
    return this.#closed;
  }

  get destroyed(): boolean {
    return this.#destroyed;
  }

  get connections(): number {
    return this.#all.size + this.#connecting;
  }

  /** Sends a request. Throws if it can never be sent; does not call the handler before it has returned. */
  send(request: ClientRequest, handler: AnswerHandler): ClientCall {
    if (this.#closed) throw new PoolClosedError();
    const call = new ClientCall(request, this.#beginningOf(request), handler);
    call.holder = this;
    const needsOwn = call.isOnce && this.#endsEarly;
    (needsOwn ? this.#once : this.#waiting).add(call);
    if (needsOwn || this.#waiting.size > this.#idle.length) call.waitsSinceMs = performance.now();
    this.#serve();
    return call;
  }

  #beginningOf({ method, path }: ClientRequest): string {
    if (method !== this.#method || path !== this.#path) {
      this.#beginning = toBeginning(method, path, this.#options.host);
      this.#method = method;
      this.#path = path;
    }
    return this.#beginning;
  }

  /** Closes the pool; resolves when the running calls have ended. */
  async close(): Promise<void> {
    this.#closed = true;
    if (this.#size > 0 || this.#all.size > this.#idle.length) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#onQuiet = resolve;
      await promise;
    }
    this.destroy();
  }

  /** Closes the pool at once; running calls fail. */
  destroy(): void {
    this.#closed = true;
    this.#destroyed = true;
    const error = new PoolClosedError();
    for (let call = this.#next(); call !== undefined; call = this.#next()) fail(call, error);
    for (const connection of [...this.#all]) connection.destroy(error);
  }

  // Calls that wait.

  pause(): void {}

  resume(): void {}

  drop(call: ClientCall): void {
    this.#waiting.remove(call);
    this.#once.remove(call);
    this.#lookWhetherQuiet();
  }

  get #size(): number {
    return this.#waiting.size + this.#once.size;
  }

  #next(): ClientCall | undefined {
    return this.#once.shift() ?? this.#waiting.shift();
  }

  // Connections.

  onFree(connection: ClientConnection): void {
    connection.rest();
    if (this.#endsEarly) setTimeout(giveBack, pauseMs, this, connection);
    else this.onRested(connection);
  }

  onRested(connection: ClientConnection): void {
    // The connection may have ended meanwhile.
    if (!this.#all.has(connection)) return;
    this.#idle.push(connection);
    this.#serve();
    this.#lookWhetherQuiet();
  }

  onEndedEarly(): void {
    this.#endsEarlyUntilMs = performance.now() + earlyEndsForMs;
  }

  get #endsEarly(): boolean {
    return this.#endsEarlyUntilMs !== 0 && performance.now() < this.#endsEarlyUntilMs;
  }

  onClosed(connection: ClientConnection): void {
    this.#all.delete(connection);
    const at = this.#idle.lastIndexOf(connection);
    if (at !== -1) this.#idle.splice(at, 1);
    if (at !== -1 && this.#waiting.size > this.#idle.length) this.#waiting.startWait(performance.now());
    this.#serve();
    this.#lookWhetherQuiet();
  }

  /**
   * Gives idle connections to waiting calls, after the event loop has looked at them once more, so that no call gets a connection whose end has
   * already arrived.
   */
  #serve(): void {
    if (this.#size === 0) return;
    if (this.#waiting.size > 0 && this.#idle.length > 0 && !this.#awaitsTurn) {
      this.#awaitsTurn = true;
      awaitTurn(this);
    }
    const { connections } = this.#options;
    // A call that needs a connection of its own takes the place of an idle one.
    if (this.#connecting < this.#once.size && this.connections >= connections)
      this.#idle[0]?.destroy(new PoolClosedError());
    while (this.connections < connections && this.#connecting < this.#lacking) this.#open();
  }

  get #lacking(): number {
    return this.#once.size + Math.max(0, this.#waiting.size - this.#idle.length);
  }

  onTurn(): void {
    this.#awaitsTurn = false;
    // Calls that arrive in the meantime wait for the next turn.
    for (let left = this.#waiting.size; left > 0 && this.#idle.length > 0; left -= 1) {
      const call = this.#waiting.shift();
      if (call === undefined) break;
      this.#idle.pop()?.send(call);
    }
    this.#serve();
  }

  #open(): void {
    this.#connecting += 1;
    const { connect, server } = this.#options;
    connect(server, (result) => {
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
    const call = this.#next();
    if (call === undefined) this.onFree(connection);
    else connection.send(call);
  }

  /** Handles a failed connection: the call that has waited longest fails with it, unless another connection can serve it. */
  #onFailed(error: Error): void {
    const call = this.#lacking > this.#connecting ? this.#next() : undefined;
    if (call !== undefined) fail(call, error);
    this.#serve();
    this.#lookWhetherQuiet();
  }

  #lookWhetherQuiet(): void {
    if (this.#onQuiet === undefined || this.#size > 0 || this.#all.size > this.#idle.length) return;
    this.#onQuiet();
    this.#onQuiet = undefined;
  }
}

function fail(call: ClientCall, error: Error): void {
  call.leave();
  call.handler.onError(error);
}

function giveBack(pool: ClientPool, connection: ClientConnection): void {
  pool.onRested(connection);
}

/** Pools that wait for one callback of the event loop, which all of them share. */
let awaiting: ClientPool[] = [];

function awaitTurn(pool: ClientPool): void {
  if (awaiting.push(pool) === 1) setImmediate(giveTurn);
}

function giveTurn(): void {
  const pools = awaiting;
  awaiting = [];
  for (const pool of pools) pool.onTurn();
}
