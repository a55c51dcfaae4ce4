/** Connection quota of the admin listener: idle connections are closed for new ones, and metrics and probes have a reserve. */

import type { Socket } from 'node:net';
import { toNetwork } from '../../lib/addresses/network-of.ts';

export interface ConnectionLimits {
  /** In all, beside the reserved ones. */
  readonly most: number;
  /** Of one address (IPv6: its /64). */
  readonly mostAnAddress: number;
  /** Without a request, in all. */
  readonly mostIdle: number;
  /** Above all of these, for metrics and probes alone. */
  readonly reserved: number;
}

/** From this share on, connections are kept for a short time only. */
const pressureShare = 0.5;

/** `isProxy`: many people come by that address. */
export function createAdminConnections(limits: ConnectionLimits, isProxy: (address: string) => boolean) {
  const open = createConnectionPool();
  const reserved = createConnectionPool();

  /** Where an address has all that it may, one of its own is closed for it; else the one that has been idle the longest. */
  function hasCapacity(network: string, isCounted: boolean): boolean {
    if (isCounted && open.countOf(network) >= limits.mostAnAddress) return open.evict(network);
    return open.size() < limits.most || open.evict();
  }

  function poolFor(network: string, isCounted: boolean): ConnectionPool | undefined {
    if (hasCapacity(network, isCounted)) return open;
    return reserved.size() < limits.reserved || reserved.evict() ? reserved : undefined;
  }

  return {
    /** Admits the connection, closes an idle one for it, or destroys it. */
    take(socket: Socket) {
      const { remoteAddress = '' } = socket;
      const network = toNetwork(remoteAddress);
      const pool = poolFor(network, !isProxy(remoteAddress));
      if (pool === undefined) {
        socket.destroy();
        return;
      }
      pool.enter(socket, network);
      if (open.idle() > limits.mostIdle) open.evict();
      socket.once('close', () => pool.leave(socket));
    },

    /** A request begins; false where the connection is of the reserve for metrics and probes. */
    begin(socket: Socket) {
      reserved.work(socket, 1);
      return open.work(socket, 1);
    },

    end(socket: Socket) {
      reserved.work(socket, -1);
      open.work(socket, -1);
      if (open.idle() > limits.mostIdle) open.evict();
    },

    /** Whether connections are many. */
    isUnderPressure: () => open.size() > limits.most * pressureShare,
  };
}

interface OpenConnection {
  readonly network: string;
  requests: number;
}

type ConnectionPool = ReturnType<typeof createConnectionPool>;

function createConnectionPool() {
  const connections = new Map<Socket, OpenConnection>();
  /** Without a request, the longest first. */
  const idle = new Set<Socket>();

  function leave(socket: Socket): void {
    connections.delete(socket);
    idle.delete(socket);
  }

  return {
    size: (): number => connections.size,
    idle: (): number => idle.size,
    leave,

    countOf(network: string): number {
      let count = 0;
      for (const connection of connections.values()) if (connection.network === network) count += 1;
      return count;
    },

    enter(socket: Socket, network: string): void {
      connections.set(socket, { network, requests: 0 });
      idle.add(socket);
    },

    /** A request more or less; false where the connection is in the other pool. */
    work(socket: Socket, change: 1 | -1): boolean {
      const connection = connections.get(socket);
      if (connection === undefined) return false;
      connection.requests += change;
      if (connection.requests === 0) idle.add(socket);
      else idle.delete(socket);
      return true;
    },

    /** True where one was idle: it is closed and no longer counts. */
    evict(network?: string): boolean {
      for (const socket of idle) {
        if (network !== undefined && connections.get(socket)?.network !== network) continue;
        leave(socket);
        socket.destroy();
        return true;
      }
      return false;
    },
  };
}
