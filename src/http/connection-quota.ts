/** Limits client connections: in total, where idle ones are closed for new ones, and per address. */

import type { Socket } from 'node:net';
import { performance } from 'node:perf_hooks';
import type { Log } from '../core/log.ts';
import type { ServerSettings } from '../core/snapshot.ts';
import { includesAddress, isLoopback } from '../lib/addresses/address-range.ts';
import { toNetwork } from '../lib/addresses/network-of.ts';
import type { WireServer } from '../wire/server.ts';
import type { IdleConnection } from '../wire/server-context.ts';

export type QuotaSettings = Pick<
  ServerSettings,
  'maxConnections' | 'maxConnectionsPerAddress' | 'trustedProxies' | 'logClientAddress'
>;

/** Default share of all connections for one address; it applies only while more than `crowdedShare` of them are in use. */
const standardAddressShare = 0.1;
const crowdedShare = 0.8;
const pauseAfterVainSearchMs = 100;
const reportEveryMs = 60_000;

interface Candidate {
  readonly connection: IdleConnection;
  readonly sinceMs: number;
}

type Reason = 'max_connections' | 'max_connections_per_address';

export class ConnectionQuota {
  readonly #servers: readonly WireServer[];
  readonly #log: Log;
  /** Number of connections by client network; loopback and trusted proxies are counted only with a configured limit. */
  readonly #byNetwork = new Map<string, number>();
  #settings: QuotaSettings;
  #mostOfAddress = 0;
  #crowdedFrom = 0;
  /** Connections idle at the last search, the longest last. */
  #idle: Candidate[] = [];
  #nextLookMs = 0;
  readonly #reports = new Map<string, { count: number; nextMs: number }>();

  /** Connections of all servers count together; only TCP servers count by address. */
  constructor(servers: readonly WireServer[], settings: QuotaSettings, log: Log) {
    this.#servers = servers;
    this.#log = log;
    this.#settings = settings;
    this.apply(settings);
    for (const { server } of servers) server.prependListener('connection', (socket: Socket) => this.#admit(socket));
  }

  apply(settings: QuotaSettings): void {
    this.#settings = settings;
    const { maxConnections, maxConnectionsPerAddress } = settings;
    this.#crowdedFrom = Math.floor(maxConnections * crowdedShare);
    this.#mostOfAddress = maxConnectionsPerAddress ?? Math.max(1, Math.floor(maxConnections * standardAddressShare));
  }

  #admit(socket: Socket): void {
    let open = 0;
    for (const server of this.#servers) open += server.size;
    if (open < this.#crowdedFrom && this.#idle.length > 0) this.#idle = [];
    if (!this.#admitAddress(socket, open)) {
      socket.destroy();
    } else if (open >= this.#settings.maxConnections) {
      if (this.#closeLongestIdle()) {
        this.#report('idle client connections closed', 'max_connections');
      } else {
        this.#report('client connections refused', 'max_connections');
        socket.destroy();
      }
    }
  }

  /** Counts a new connection; false where its address is at its limit. A Unix socket has no address. */
  #admitAddress(socket: Socket, open: number): boolean {
    const { remoteAddress: address } = socket;
    const { maxConnectionsPerAddress, trustedProxies } = this.#settings;
    if (address === undefined || includesAddress(trustedProxies, address)) return true;
    if (maxConnectionsPerAddress === undefined && isLoopback(address)) return true;
    const network = toNetwork(address);
    const count = this.#byNetwork.get(network) ?? 0;
    const holds = maxConnectionsPerAddress !== undefined || open >= this.#crowdedFrom;
    if (holds && count >= this.#mostOfAddress) {
      this.#report('client connections refused', 'max_connections_per_address', address);
      return false;
    }
    this.#byNetwork.set(network, count + 1);
    socket.once('close', () => {
      const left = (this.#byNetwork.get(network) ?? 1) - 1;
      if (left === 0) this.#byNetwork.delete(network);
      else this.#byNetwork.set(network, left);
    });
    return true;
  }

  /** Closes the connection that was idle for longest; one with a request stays. False where none is idle. */
  #closeLongestIdle(): boolean {
    for (;;) {
      const next = this.#idle.pop();
      if (next === undefined) {
        if (!this.#look()) return false;
      } else if (isStillIdle(next)) {
        next.connection.socket.destroy();
        return true;
      }
    }
  }

  /** Searches for idle connections, and keeps the result until it is used up. False where there are none. */
  #look(): boolean {
    const nowMs = performance.now();
    if (nowMs < this.#nextLookMs) return false;
    for (const server of this.#servers) {
      for (const connection of server.idle()) this.#idle.push({ connection, sinceMs: connection.idleSinceMs });
    }
    if (this.#idle.length === 0) this.#nextLookMs = nowMs + pauseAfterVainSearchMs;
    this.#idle.sort((a, b) => b.sinceMs - a.sinceMs);
    return this.#idle.length > 0;
  }

  #report(event: string, reason: Reason, address?: string): void {
    const name = `${event} ${reason}`;
    const report = this.#reports.get(name) ?? { count: 0, nextMs: 0 };
    this.#reports.set(name, report);
    report.count += 1;
    const nowMs = performance.now();
    if (nowMs < report.nextMs) return;
    this.#log.warn(event, {
      reason,
      limit: address === undefined ? this.#settings.maxConnections : this.#mostOfAddress,
      count: report.count,
      client_address: this.#settings.logClientAddress ? address : undefined,
      advice:
        address === undefined
          ? 'raise server.max_connections where the clients are honest'
          : 'name a load balancer in server.trusted_proxies, so that it is not held to the limit of one client',
    });
    report.count = 0;
    report.nextMs = nowMs + reportEveryMs;
  }
}

function isStillIdle({ connection, sinceMs }: Candidate): boolean {
  return connection.isIdle && connection.idleSinceMs === sinceMs && !connection.socket.destroyed;
}
