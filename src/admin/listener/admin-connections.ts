/** Limits the connections of the admin listener: closes idle ones for new ones, and keeps a reserve for metrics and probes. */

import type { Socket } from 'node:net';
import { toNetwork } from '../../lib/addresses/network-of.ts';

export interface ConnectionLimits {
  /** Limit of connections in all, without the reserved ones. */
  readonly most: number;
  /** Limit of connections per address (for IPv6, per /64). */
  readonly mostAnAddress: number;
  readonly mostIdle: number;
  /** Connections above all other limits, for metrics and probes only. */
  readonly reserved: number;
}

/** Share of the limit above which idle connections are only kept briefly. */
const pressureShare = 0.5;

/** `isProxy`: whether many people share an address, so that no limit per address applies. */
export function createAdminConnections(limits: ConnectionLimits, isProxy: (address: string) => boolean) {
  const open = createConnectionPool();
  const reserved = createConnectionPool();

  /** Whether a connection can be admitted, if necessary by closing an idle one: of the same address at its limit, else the longest idle of all. */
  function hasCapacity(network: string, isCounted: boolean): boolean {
    if (isCounted && open.countOf(network) >= limits.mostAnAddress) return open.evict(network);
    return open.size() < limits.most || open.evict();
  }

  function poolFor(network: string, isCounted: boolean): ConnectionPool | undefined {
    if (hasCapacity(network, isCounted)) return open;
    return reserved.size() < limits.reserved || reserved.evict() ? reserved : undefined;
  }

  return {
    /** Admits the connection, closing an idle one if necessary, or destroys it. */
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

    /** Notes that a request begins; false where its connection belongs to the reserve. */
    begin(socket: Socket) {
      reserved.work(socket, 1);
      return open.work(socket, 1);
    },

    end(socket: Socket) {
      reserved.work(socket, -1);
      open.work(socket, -1);
      if (open.idle() > limits.mostIdle) open.evict();
    },

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
  /** The idle connections, the longest idle first. */
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

    /** Changes the number of a connection's requests; false where the connection is in the other pool. */
    work(socket: Socket, change: 1 | -1): boolean {
      const connection = connections.get(socket);
      if (connection === undefined) return false;
      connection.requests += change;
      if (connection.requests === 0) idle.add(socket);
      else idle.delete(socket);
      return true;
    },

    /** Closes the longest idle connection, if any, and returns whether there was one. */
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
