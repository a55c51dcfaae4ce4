/** The clients' listener: where it listens, whom it lets in, and its orderly end. */

import type { AddressInfo, Server } from 'node:net';
import { Server as SecureServer } from 'node:tls';
import type { ServerSettings } from '../core/snapshot.ts';
import type { Clock } from '../lib/clock.ts';
import { createWireServer } from '../wire/server.ts';
import type { ServerSettings as WireSettings } from '../wire/server-house.ts';
import { createAddressCap } from './address-cap.ts';
import type { Edge } from './edge.ts';

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

export function createListener(settings: ServerSettings, edge: Edge, clock: Clock): Listener {
  const handler = {
    onRequest: edge.handle,
    answerTo: edge.refuse,
  };
  const tls = settings.tls === undefined ? undefined : { ...settings.tls, minVersion: 'TLSv1.2' as const };
  const wire = createWireServer(handler, toWireSettings(settings), tls);
  const { server } = wire;
  const addressCap = createAddressCap();
  // Before TLS, whose handshake costs more than the connection.
  server.prependListener('connection', addressCap.admit);
  limit(settings);

  function limit(next: ServerSettings): void {
    server.maxConnections = next.maxConnections;
    addressCap.apply(next);
  }

  async function drain(deadlineMs: number): Promise<boolean> {
    wire.beginDrain();
    // Idle connections stay for a moment: a client may be about to use one.
    const closed = toClosed(server);
    const startedMs = clock.monotonicMs();
    const looking = setInterval(() => {
      const passedMs = clock.monotonicMs() - startedMs;
      if (passedMs >= idleGraceMs) wire.closeIdle();
      if (passedMs >= deadlineMs) wire.closeAll();
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
    apply(next) {
      wire.apply(toWireSettings(next));
      limit(next);
      if (server instanceof SecureServer && next.tls !== undefined) server.setSecureContext(next.tls);
    },
    drain,
    async close() {
      const closed = toClosed(server);
      wire.closeAll();
      await closed;
    },
  };
}

function toClosed(server: Server): Promise<void> {
  return new Promise((resolve) => server.close(() => resolve()));
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
