/** The listening socket: a hardened HTTP/1.1 server, with or without TLS, and its orderly end. */

import {
  createServer,
  type IncomingMessage,
  type Server,
  type ServerOptions,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http';
import { createServer as createTlsServer, Server as TlsServer } from 'node:https';
import { type AddressInfo, Server as NetServer, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { GatewayError } from '../core/errors.ts';
import type { ServerSettings } from '../core/snapshot.ts';
import type { Clock } from '../lib/clock.ts';
import { createId } from '../lib/ids.ts';
import { createAddressCap } from './address-cap.ts';
import type { Edge } from './edge.ts';
import { toRawError } from './error-answer.ts';
import { endLingering, linger } from './lingering.ts';

export interface Listener {
  /** Resolves with the address once connections are taken. */
  listen(): Promise<AddressInfo>;
  /** Takes over what may change while running: timeouts, limits, certificates. */
  apply(settings: ServerSettings): void;
  /** Takes no new connection, lets running requests end, and breaks what is left at the deadline. True if nothing was. */
  drain(deadlineMs: number): Promise<boolean>;
  close(): Promise<void>;
}

/** How long a client between two requests on one connection may take before it counts as idle during a drain. */
const idleGraceMs = 1_000;
const drainLookMs = 100;

/** So that the others do not wait for it. */
const refusalsATurn = 25;

interface LateClient {
  readonly error: NodeJS.ErrnoException;
  readonly stream: Duplex;
}

export function createListener(settings: ServerSettings, edge: Edge, clock: Clock): Listener {
  const inFlight = new Set<ServerResponse>();
  const latest = new WeakMap<Duplex, ServerResponse>();
  const refused = new WeakSet<Duplex>();
  let draining = false;

  /**
   * One request of a connection at a time. What was sent ahead waits for the answer before it, after which the connection may
   * end: what stands behind a request that was refused must not be done.
   */
  function handle(request: IncomingMessage, response: ServerResponse): void {
    if (response.socket === null) response.once('socket', () => begin(request, response));
    else begin(request, response);
  }

  function begin(request: IncomingMessage, response: ServerResponse): void {
    const { socket } = request;
    if (socket.writableEnded || latest.get(socket)?.shouldKeepAlive === false) return;
    latest.set(socket, response);
    if (draining) response.shouldKeepAlive = false;
    inFlight.add(response);
    response.on('close', () => inFlight.delete(response));
    edge.handle(request, response);
  }

  const options: ServerOptions = {
    // Both are judged in framing.ts, so that the refusal has the shape of every other error.
    requireHostHeader: false,
    insecureHTTPParser: false,
    maxHeaderSize: settings.maxHeaderBytes,
    // Those whose time is up are ended together: often, so that there are never many.
    connectionsCheckingInterval: 250,
    keepAlive: true,
    noDelay: true,
  };
  const server: Server =
    settings.tls === undefined
      ? createServer(options)
      : createTlsServer({ ...options, ...settings.tls, minVersion: 'TLSv1.2', ALPNProtocols: ['http/1.1'] });
  const addressCap = createAddressCap();
  apply(settings);

  // Before TLS, whose handshake costs more than the connection.
  server.on('connection', addressCap.admit);
  server.on(settings.tls === undefined ? 'connection' : 'secureConnection', endLingering);
  server.on('request', handle);
  // The body is asked for once everything before it was judged: see readJsonBody.
  server.on('checkContinue', handle);
  server.on('checkExpectation', handle);
  server.on('connect', (_request, stream) => {
    // The server has let go of the socket: nobody else hears that the client broke it, and what nobody hears ends the process.
    stream.on('error', () => undefined);
    const refusal = new GatewayError('malformed_request', { message: 'This is no proxy: CONNECT leads nowhere.' });
    answerRaw(stream, refusal);
  });
  const refuseLate = createSpread(refusalsATurn, (late: LateClient) => refuse(late.error, late.stream));
  server.on('clientError', (error: NodeJS.ErrnoException, stream) => {
    // The server looks at its clock now and then, and finds all that have run out since.
    if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') refuseLate({ error, stream });
    else refuse(error, stream);
  });
  server.on('tlsClientError', (_error, socket) => socket.destroy());

  /** Answers what the parser could not make a request of, or breaks the connection where nobody could read an answer. */
  function refuse(error: NodeJS.ErrnoException, stream: Duplex): void {
    // Of what comes behind its fault the parser complains as well.
    if (refused.has(stream)) return;
    const refusal = toRefusal(error.code ?? '');
    if (refusal === undefined || !stream.writable) {
      stream.destroy();
      return;
    }
    const answer = latest.get(stream);
    const isOver = answer === undefined || answer.writableFinished;
    if (!isOver && answer.req.complete) answerInTurn(stream, refusal, answer);
    else if (edge.failReading(stream as Socket, refusal)) return;
    else if (isOver) answerRaw(stream, refusal);
    // Half an answer to it is out; with none of it out, its own refusal is on its way, or its body will turn out to be unreadable.
    else if (answer.headersSent) stream.destroy();
  }

  /** The fault is in what was sent ahead, behind a request that has yet to be answered. */
  function answerInTurn(stream: Duplex, refusal: GatewayError, before: ServerResponse): void {
    refused.add(stream);
    before.once('finish', () => {
      // That was the last answer here: behind it the connection ends.
      if (!stream.writable) return;
      // Where it is that of a request with a response of its own, that one begins at this moment, and says so itself.
      if (latest.get(stream) === before) answerRaw(stream, refusal);
      else edge.failReading(stream as Socket, refusal);
    });
  }

  /** For what never became a request with a response to write to. */
  function answerRaw(stream: Duplex, refusal: GatewayError): void {
    refused.add(stream);
    stream.end(toRawError(refusal, STATUS_CODES[refusal.status] ?? '', createId(clock.nowMs())));
    linger(stream);
  }

  function apply(next: ServerSettings): void {
    // The server would exchange the two where the one for the headers is the longer.
    server.headersTimeout = Math.min(next.headersTimeoutMs, next.requestTimeoutMs);
    server.requestTimeout = next.requestTimeoutMs;
    server.keepAliveTimeout = next.keepAliveTimeoutMs;
    server.maxConnections = next.maxConnections;
    server.maxHeadersCount = 200;
    addressCap.apply(next);
    if (server instanceof TlsServer && next.tls !== undefined) server.setSecureContext(next.tls);
  }

  async function drain(deadlineMs: number): Promise<boolean> {
    draining = true;
    for (const response of inFlight) {
      if (!response.headersSent) response.shouldKeepAlive = false;
    }
    // Not the HTTP server's own close: it would drop idle connections at once, under a client about to use one.
    const closed = new Promise<void>((resolve) => NetServer.prototype.close.call(server, () => resolve()));
    const startedMs = clock.monotonicMs();
    const looking = setInterval(() => {
      const passedMs = clock.monotonicMs() - startedMs;
      if (passedMs >= idleGraceMs) server.closeIdleConnections();
      if (passedMs >= deadlineMs) server.closeAllConnections();
    }, drainLookMs);
    try {
      await closed;
    } finally {
      clearInterval(looking);
    }
    return clock.monotonicMs() - startedMs < deadlineMs;
  }

  return {
    listen: () =>
      new Promise((resolve, reject) => {
        server.once('error', reject);
        server.listen({ host: settings.host, port: settings.port, backlog: 4096 }, () => {
          server.off('error', reject);
          const address = server.address();
          if (address === null || typeof address === 'string') reject(new TypeError('the listener has no TCP address'));
          else resolve(address);
        });
      }),
    apply,
    drain,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Does a thing to many, some in each turn of the event loop. */
function createSpread<T>(atOnce: number, act: (item: T) => void): (item: T) => void {
  let waiting: T[] = [];
  function actOnSome(): void {
    const some = waiting.slice(0, atOnce);
    waiting = waiting.slice(atOnce);
    for (const item of some) act(item);
    if (waiting.length > 0) setImmediate(actOnSome);
  }
  return (item) => {
    if (waiting.length === 0) setImmediate(actOnSome);
    waiting.push(item);
  };
}

function toRefusal(code: string): GatewayError | undefined {
  const headers = ['Connection', 'close'];
  if (code === 'HPE_HEADER_OVERFLOW') return new GatewayError('headers_too_large', { headers });
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    return new GatewayError('request_timeout', { headers });
  }
  if (code.startsWith('HPE_')) return new GatewayError('malformed_request', { headers });
  return undefined;
}
