/** Listens for client connections on a port, a Unix socket or both, with access rules and an orderly shutdown. */

import type { AddressInfo, Server } from 'node:net';
import { Server as SecureServer } from 'node:tls';
import type { Log } from '../core/log.ts';
import type { ServerSettings, SocketSettings } from '../core/snapshot.ts';
import type { Clock } from '../lib/clock.ts';
import { createWireServer, type WireServer } from '../wire/server.ts';
import type { ServerHandler, ServerSettings as WireSettings } from '../wire/server-context.ts';
import { ConnectionQuota } from './connection-quota.ts';
import type { Edge } from './edge.ts';
import { removeStaleSocket, setSocketAccess, toSocketFault } from './socket-file.ts';

export interface Listening {
  readonly tcp: AddressInfo | undefined;
  readonly socket: string | undefined;
}

export interface Listener {
  listen(): Promise<Listening>;
  apply(settings: ServerSettings): void;
  /** Stops: accepts no connection, lets running requests finish, and closes the rest at the deadline. True if nothing was left. */
  drain(deadlineMs: number): Promise<boolean>;
  close(): Promise<void>;
}

/** During a shutdown, a kept-alive connection without a request for this long counts as idle. */
const idleGraceMs = 1_000;
const drainLookMs = 100;

interface ListenerOptions {
  /** The socket is shared by several workers, whose parent process has removed a stale file before. */
  readonly sharesSocket?: boolean;
}

const backlog = 4096;

export function createListener(
  settings: ServerSettings,
  edge: Edge,
  clock: Clock,
  log: Log,
  { sharesSocket = false }: ListenerOptions = {},
): Listener {
  const handler = {
    onRequest: edge.handle,
    answerTo: edge.refuse,
  };
  const tls = settings.tls === undefined ? undefined : { ...settings.tls, minVersion: 'TLSv1.2' as const };
  const { host, port, socket } = settings;
  const tcpServer = port === undefined ? undefined : createWireServer(handler, toWireSettings(settings), tls);
  const atSocket: ServerHandler = {
    ...handler,
    onRequest: (request, response) => edge.handle(request, response, true),
  };
  const socketServer = socket === undefined ? undefined : createWireServer(atSocket, toWireSettings(settings));
  const servers = [tcpServer, socketServer].filter((server) => server !== undefined);
  // The quota is checked before the TLS handshake, which costs more than the connection.
  const quota = new ConnectionQuota(servers, settings, log);

  async function drain(deadlineMs: number): Promise<boolean> {
    for (const server of servers) server.beginDrain();
    // Idle connections stay briefly: a client may be about to use one.
    const closed = toClosed(servers);
    const startedMs = clock.monotonicMs();
    const looking = setInterval(() => {
      const passedMs = clock.monotonicMs() - startedMs;
      for (const server of servers) {
        if (passedMs >= idleGraceMs) server.closeIdle();
        if (passedMs >= deadlineMs) server.closeAll();
      }
    }, drainLookMs);
    try {
      await closed;
    } finally {
      clearInterval(looking);
    }
    return clock.monotonicMs() - startedMs < deadlineMs;
  }

  async function close(): Promise<void> {
    const closed = toClosed(servers);
    for (const server of servers) server.closeAll();
    await closed;
  }

  async function listen(): Promise<Listening> {
    if (socketServer !== undefined && socket !== undefined) {
      if (!sharesSocket) await removeStaleSocket(socket.path);
      await listenAtSocket(socketServer.server, socket);
    }
    if (tcpServer === undefined || port === undefined) return { tcp: undefined, socket: socket?.path };
    await listening(tcpServer.server, () => tcpServer.server.listen({ host, port, backlog, exclusive: !sharesSocket }));
    const address = tcpServer.server.address();
    if (address === null || typeof address === 'string') throw new TypeError('the listener has no TCP address');
    return { tcp: address, socket: socket?.path };
  }

  return {
    async listen() {
      try {
        return await listen();
      } catch (error) {
        await close();
        throw error;
      }
    },
    apply(next) {
      for (const server of servers) server.apply(toWireSettings(next));
      quota.apply(next);
      const server = tcpServer?.server;
      if (server instanceof SecureServer && next.tls !== undefined) server.setSecureContext(next.tls);
    },
    drain,
    close,
  };
}

function listening(server: Server, begin: () => void): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.once('listening', () => {
      server.off('error', reject);
      resolve();
    });
    begin();
  });
}

async function listenAtSocket(server: Server, socket: SocketSettings): Promise<void> {
  const { path } = socket;
  await listening(server, () => {
    // No one may connect before owner and mode are set. A worker's socket is created by another process.
    const before = process.umask(0o777);
    try {
      server.listen({ path, backlog });
    } finally {
      process.umask(before);
    }
  }).catch((error: unknown) => {
    throw toSocketFault(path, error);
  });
  await setSocketAccess(socket);
}

async function toClosed(servers: readonly WireServer[]): Promise<void> {
  await Promise.all(servers.map(({ server }) => new Promise<void>((resolve) => server.close(() => resolve()))));
}

function toWireSettings(settings: ServerSettings): WireSettings {
  return {
    headBytes: settings.maxHeaderBytes,
    fields: { fields: 200, fieldBytes: settings.maxHeaderBytes },
    headMs: settings.headersTimeoutMs,
    requestMs: settings.requestTimeoutMs,
    keepAliveMs: settings.keepAliveTimeoutMs,
    answersHalfClosed: settings.answersHalfClosed,
  };
}
