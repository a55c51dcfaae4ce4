/** Runs an HTTP/1.1 server, with or without TLS: keeps its connections, and shuts them down in order. */

import { createServer as createPlainServer, type Server, type Socket } from 'node:net';
import { performance } from 'node:perf_hooks';
import { createServer as createSecureServer, type TLSSocket, type TlsOptions } from 'node:tls';
import { SharedHeads } from './head-memo.ts';
import { ServerConnection } from './server-connection.ts';
import type { IdleConnection, Served, ServerContext, ServerHandler, ServerSettings } from './server-context.ts';
import { Wheel } from './wheel.ts';

export interface WireServer {
  /** Node's own server, which listens, limits connections and holds certificates. */
  readonly server: Server;
  readonly size: number;
  /** Connections without a request; for TLS also those whose handshake is not complete. */
  idle(): IdleConnection[];
  apply(settings: ServerSettings): void;
  /** From now on, each connection ends after its next answer that has not begun yet. */
  beginDrain(): void;
  closeIdle(): void;
  closeAll(): void;
}

interface Handshake extends IdleConnection {
  isIdle: boolean;
}

/** How many expired connections are ended per turn of the event loop, so that others do not wait for many of them. */
const expiredATurn = 25;
/** Interval at which connections are checked; often enough that few expire at once. */
const lookMs = 250;

export function createWireServer(handler: ServerHandler, settings: ServerSettings, tls?: TlsOptions): WireServer {
  const connections = new Set<Served>();
  /** For TLS: all sockets, and below by the client's address those whose handshake is not complete. */
  const sockets = new Set<Socket>();
  const handshakes = new Map<string, Handshake>();
  let expired: Served[] = [];
  const context: ServerContext = {
    settings,
    isDraining: false,
    handler,
    wheel: new Wheel(lookMs),
    heads: new SharedHeads(),
    spread(connection) {
      if (expired.length === 0) setImmediate(expireSome);
      expired.push(connection);
    },
    closed: (connection) => connections.delete(connection),
  };

  function expireSome(): void {
    const some = expired.slice(0, expiredATurn);
    expired = expired.slice(expiredATurn);
    for (const connection of some) connection.expire();
    if (expired.length > 0) setImmediate(expireSome);
  }

  function serve(socket: Socket): void {
    connections.add(new ServerConnection(socket, context, performance.now()));
  }

  function serveSecured(socket: TLSSocket): void {
    const peer = peerOf(socket);
    const handshake = handshakes.get(peer);
    if (handshake !== undefined) handshake.isIdle = false;
    handshakes.delete(peer);
    serve(socket);
  }

  const options = { allowHalfOpen: true, noDelay: true, keepAlive: true };
  let server: Server;
  if (tls === undefined) {
    server = createPlainServer(options, serve);
  } else {
    const handshakeTimeout = Math.min(settings.headMs, settings.requestMs);
    server = createSecureServer({ ...options, handshakeTimeout, ...tls, ALPNProtocols: ['http/1.1'] }, serveSecured);
    server.on('connection', (socket: Socket) => {
      sockets.add(socket);
      const peer = peerOf(socket);
      const handshake = { socket, isIdle: true, idleSinceMs: performance.now() };
      handshakes.set(peer, handshake);
      socket.once('close', () => {
        sockets.delete(socket);
        if (handshakes.get(peer) === handshake) handshakes.delete(peer);
      });
    });
    server.on('tlsClientError', (_error, socket: Socket) => socket.destroy());
  }

  return {
    server,
    get size() {
      return tls === undefined ? connections.size : sockets.size;
    },
    idle: () => [...handshakes.values(), ...connections].filter(({ isIdle, socket }) => isIdle && !socket.destroyed),
    apply(next) {
      context.settings = next;
    },
    beginDrain() {
      context.isDraining = true;
    },
    closeIdle() {
      for (const connection of connections) if (connection.isIdle) connection.socket.destroy();
    },
    closeAll() {
      for (const connection of connections) connection.socket.destroy();
      for (const socket of sockets) socket.destroy();
    },
  };
}

/** The client's address and port as a text, which is the same before and after the TLS handshake. */
function peerOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}
