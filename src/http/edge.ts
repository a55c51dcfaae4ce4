/** Where requests come in: judges framing, route and method, answers what needs no upstream, and turns every error into an answer. */

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { GatewayError } from '../core/errors.ts';
import { Exchange } from '../core/exchange.ts';
import { loopHeader, withOwnMark } from '../core/loop-mark.ts';
import type { Room, RoomKeeper } from '../core/room.ts';
import type { Route } from '../core/route.ts';
import type { Snapshot } from '../core/snapshot.ts';
import type { Clock } from '../lib/clock.ts';
import { createId } from '../lib/ids.ts';
import { toClientAddress } from './address.ts';
import { announcedBytesOf, type BodyPlan, BodyReading, bytesToBeginWith } from './body.ts';
import { findCoding } from './coding.ts';
import { allowOrigin, answerPreflight } from './cors.ts';
import { writeError, writeJson } from './error-answer.ts';
import { checkFraming } from './framing.ts';
import { isJsonMediaType } from './media-type.ts';
import { createRouter, type Place, type Router } from './router.ts';

export interface EdgeDeps {
  readonly clock: Clock;
  readonly routes: readonly Route[];
  /** By which requests of our own are told that come back. */
  readonly installation: string;
  /** The configuration in force. */
  current(): Snapshot;
  isReady(): boolean;
  /** Where rows cannot be brought into the store: how many wait in the journal. Undefined where all is well. */
  rowsThatWait(): number | undefined;
  /** Where bodies get their room. */
  readonly rooms: RoomKeeper;
  /** One of the client routes; it writes its own answer, or throws before it has written anything. */
  serve(
    exchange: Exchange,
    route: Route,
    modelFromPath: string | undefined,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void>;
  /** The model list, or one model of it, as the caller may see it. */
  describeModels(exchange: Exchange, id: string | undefined, request: IncomingMessage): Promise<unknown>;
  /** Called once for every request, whatever happened. */
  settle(exchange: Exchange, request: IncomingMessage): void;
}

export interface Edge {
  handle(request: IncomingMessage, response: ServerResponse): void;
  /**
   * The parser found a request malformed. True where an exchange was reading it and now ends with this error, or has had its
   * answer; one that has yet to read it will end so.
   */
  failReading(socket: Socket, error: GatewayError): boolean;
  readJsonBody(exchange: Exchange, request: IncomingMessage, response: ServerResponse): Promise<Buffer>;
}

const clientRequestIdPattern = /^[A-Za-z0-9._-]{1,128}$/;

/** What a client may still send of a body that was refused, before the connection is broken instead of drained. */
const discardedLimitBytes = 64 * 1024 * 1024;

export function createEdge(deps: EdgeDeps): Edge {
  const readings = new WeakMap<Socket, BodyReading>();
  /** Of what comes on these, nothing more can be read. */
  const unreadable = new WeakMap<Socket, GatewayError>();
  /** Whose request was answered before its body was there. */
  const discarding = new WeakSet<Socket>();
  const routers = new WeakMap<Snapshot, Router>();

  function routerOf(snapshot: Snapshot): Router {
    let router = routers.get(snapshot);
    if (router === undefined) {
      router = createRouter(deps.routes, snapshot.server.basePath);
      routers.set(snapshot, router);
    }
    return router;
  }

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const snapshot = deps.current();
    const nowMs = deps.clock.nowMs();
    const exchange = new Exchange(createId(nowMs), clientRequestId(request), snapshot, nowMs, performance.now());
    response.on('close', () => {
      exchange.answerRoom?.release();
      if (response.writableFinished) return;
      exchange.client.gone = true;
      readings.get(request.socket)?.fail(new GatewayError('client_closed'));
      exchange.client.work?.clientLeft();
    });
    try {
      await answer(exchange, request, response);
    } catch (error) {
      // A client that is still sending would see the connection break instead of the answer. One that waits to be asked
      // for its body may never send it, and what came next would be taken for it.
      const failure = toGatewayError(error);
      // Nobody knows where the next request would begin.
      if (failure.code === 'malformed_request') response.shouldKeepAlive = false;
      const isLast = !response.shouldKeepAlive;
      // Of what cannot be read no end would be seen.
      const isReadable = !unreadable.has(request.socket);
      const stillSends = !request.complete && isReadable && request.headers.expect === undefined;
      if (!request.complete && failure.code !== 'malformed_request') response.shouldKeepAlive = stillSends;
      answerError(exchange, response, failure);
      // Its head is out; whoever looks at it now wants to know whether there is a next request.
      if (isLast) response.shouldKeepAlive = false;
      if (stillSends) discardRest(request, isLast);
    }
    exchange.requestRoom?.release();
    holdAnswer(exchange, request, response);
    deps.settle(exchange, request);
  }

  /** Until the client has it: one that takes nothing of it holds it no longer than it might take to send a request. */
  function holdAnswer({ answerRoom, snapshot }: Exchange, { socket }: IncomingMessage, response: ServerResponse): void {
    if (answerRoom === undefined) return;
    if (response.closed) answerRoom.release();
    else socket.setTimeout(snapshot.server.requestTimeoutMs);
  }

  async function answer(exchange: Exchange, request: IncomingMessage, response: ServerResponse): Promise<void> {
    checkFraming(request);
    exchange.loopMark = withOwnMark(deps.installation, request.headers[loopHeader]);
    // Of what comes in the same read as an offer to change the protocol, the parser loses the rest.
    if (request.headers.upgrade !== undefined) response.shouldKeepAlive = false;
    const { server } = exchange.snapshot;
    noteAddress(exchange, request);
    if (server.corsOrigins.length > 0) {
      allowOrigin(request, response, server.corsOrigins);
      if (answerPreflight(request, response)) {
        exchange.status = 204;
        return;
      }
    }

    const target = request.url ?? '';
    const queryAt = target.indexOf('?');
    const path = queryAt === -1 ? target : target.slice(0, queryAt);
    const router = routerOf(exchange.snapshot);
    const place = router.find(path);
    if (place === undefined) {
      exchange.shape = router.shapeOf(path);
      throw new GatewayError('route_not_found');
    }
    if (place.kind === 'route') exchange.shape = place.shape;
    exchange.path = place.path;
    checkMethod(place, request.method ?? '');

    switch (place.kind) {
      case 'route':
        return deps.serve(exchange, place.route, place.modelFromPath, request, response);
      case 'models':
      case 'model': {
        const found = await deps.describeModels(exchange, place.kind === 'model' ? place.id : undefined, request);
        writeOwn(exchange, response, 200, found);
        return;
      }
      case 'health':
        writeOwn(exchange, response, 200, { status: 'ok' });
        return;
      case 'ready':
        writeOwn(exchange, response, deps.isReady() ? 200 : 503, readiness());
    }
  }

  /** Rows that wait are safe in the journal, and no reason to send clients elsewhere: where the store is away, there is no elsewhere. */
  function readiness(): unknown {
    const status = deps.isReady() ? 'ready' : 'not ready';
    const rowsWaiting = deps.rowsThatWait();
    return rowsWaiting === undefined
      ? { status }
      : { status, ledger: { import: 'failing', rows_waiting: rowsWaiting } };
  }

  async function readJsonBody(exchange: Exchange, request: IncomingMessage, response: ServerResponse): Promise<Buffer> {
    const { server } = exchange.snapshot;
    if (!isJsonMediaType(request.headers['content-type'])) throw new GatewayError('unsupported_media_type');
    const coding = findCoding(request.headers['content-encoding']);
    // While its key was looked up.
    checkReadable(exchange, request);
    const limitBytes = server.bodyLimitBytes;
    const plan = { limitBytes, announcedBytes: announcedBytesOf(request, limitBytes), coding };
    const found = findRoom(exchange, plan);
    const room = found instanceof Promise ? await found : found;
    exchange.requestRoom = room;
    // While it waited for its room.
    checkReadable(exchange, request);
    if (request.headers.expect !== undefined && request.httpVersionMinor > 0) response.writeContinue();

    const reading = new BodyReading(request, plan, room);
    readings.set(request.socket, reading);
    try {
      return await reading.whole();
    } finally {
      exchange.requestBytes = reading.receivedBytes;
      // The reading of a request that was sent ahead may have begun already.
      if (readings.get(request.socket) === reading) readings.delete(request.socket);
    }
  }

  /** Of a client that has gone, or whose request cannot be read, nothing more would come, and nobody would say so. */
  function checkReadable({ client }: Exchange, request: IncomingMessage): void {
    if (client.gone) throw new GatewayError('client_closed');
    const fault = request.complete ? undefined : unreadable.get(request.socket);
    if (fault !== undefined) throw fault;
  }

  function findRoom({ key, client, snapshot }: Exchange, plan: BodyPlan): Room | Promise<Room> {
    if (key === undefined) throw new TypeError('a body is read for a key');
    return deps.rooms.enter({ key: key.id, client, waitMs: snapshot.server.bodyWaitMs }, bytesToBeginWith(plan));
  }

  /** Lets the client finish sending, so that it gets to read the answer; but not forever. */
  function discardRest(request: IncomingMessage, isLast: boolean): void {
    let leftBytes = discardedLimitBytes;
    discarding.add(request.socket);
    request.on('data', (chunk: Buffer) => {
      leftBytes -= chunk.length;
      if (leftBytes < 0) request.socket.destroy();
    });
    request.on('end', () => {
      discarding.delete(request.socket);
      if (isLast) request.socket.end();
    });
    request.resume();
  }

  return {
    handle: (request, response) => void handle(request, response),
    failReading(socket, error) {
      if (discarding.has(socket)) {
        socket.destroySoon(); // it has had its answer, which may still be on its way
        return true;
      }
      unreadable.set(socket, error);
      return readings.get(socket)?.fail(error) ?? false;
    },
    readJsonBody,
  };
}

function clientRequestId(request: IncomingMessage): string | undefined {
  const id = request.headers['x-request-id'];
  return typeof id === 'string' && clientRequestIdPattern.test(id) ? id : undefined;
}

function noteAddress(exchange: Exchange, request: IncomingMessage): void {
  const forwarded = request.headers['x-forwarded-for'];
  exchange.clientAddress = toClientAddress(
    request.socket.remoteAddress,
    typeof forwarded === 'string' ? forwarded : undefined,
    exchange.snapshot.server.trustedProxies,
  );
}

function checkMethod(place: Place, method: string): void {
  const allowed = place.kind === 'route' ? ['POST'] : ['GET', 'HEAD'];
  if (allowed.includes(method)) return;
  throw new GatewayError('method_not_allowed', {
    message: `This path takes ${allowed.join(' and ')}, not ${method}.`,
    headers: ['Allow', allowed.join(', ')],
  });
}

function writeOwn(exchange: Exchange, response: ServerResponse, status: number, value: unknown): void {
  exchange.status = status;
  const id = exchange.clientRequestId ?? exchange.id;
  exchange.responseBytes = writeJson(response, status, JSON.stringify(value), ['x-request-id', id]);
}

function toGatewayError(error: unknown): GatewayError {
  if (error instanceof GatewayError) return error;
  return new GatewayError('internal_error', { cause: error });
}

function answerError(exchange: Exchange, response: ServerResponse, error: GatewayError): void {
  exchange.status = error.status;
  exchange.errorCode = error.code;
  exchange.errorCause = toCause(error.cause);
  if (error.code === 'client_closed' || response.destroyed) return;
  if (response.headersSent) {
    response.socket?.destroy();
    return;
  }
  exchange.responseBytes = writeError(
    response,
    error,
    exchange.clientRequestId ?? exchange.id,
    triedUpstream(exchange),
    exchange.shape ?? exchange.key?.shape,
  );
}

/** Which upstream failed is what an operator wants to know of a 502. */
function triedUpstream({ target, attempts, snapshot }: Exchange): string[] {
  if (target === undefined || !snapshot.server.diagnostics) return [];
  return ['x-postern-upstream', target.upstream.id, 'x-postern-attempts', String(attempts)];
}

function toCause(cause: unknown): string | undefined {
  if (cause === undefined) return undefined;
  return cause instanceof Error ? (cause.stack ?? cause.message) : String(cause);
}
