/** Who may hold a connection to the admin listener: idle ones make room for others, and metrics and probes always find some. */

import type { Socket } from 'node:net';
import { toNetwork } from '../../lib/addresses/network-of.ts';

export interface SeatLimits {
  /** In all, beside the reserved ones. */
  readonly most: number;
  /** Of one address (IPv6: its /64). */
  readonly mostAnAddress: number;
  /** Without a request, in all. */
  readonly mostIdle: number;
  /** Above all of these, for metrics and probes alone. */
  readonly reserved: number;
}

/** From this many on, nobody keeps a connection for long. */
const pressureShare = 0.5;

export interface Seats {
  /** Gives the connection a seat, takes that of an idle one for it, or breaks it. */
  take(socket: Socket): void;
  /** A request begins; false where the connection has a seat for metrics and probes alone. */
  begin(socket: Socket): boolean;
  end(socket: Socket): void;
  /** Whether connections are many. */
  isUnderPressure(): boolean;
}

/** `isProxy`: many people come by that address. */
export function createSeats(limits: SeatLimits, isProxy: (address: string) => boolean): Seats {
  const open = createRoom();
  const kept = createRoom();

  /** Where an address has all that it may, one of its own makes room for it; else whoever has been idle the longest. */
  function hasRoom(network: string, isCounted: boolean): boolean {
    if (isCounted && open.countOf(network) >= limits.mostAnAddress) return open.evict(network);
    return open.size() < limits.most || open.evict();
  }

  function roomFor(network: string, isCounted: boolean): Room | undefined {
    if (hasRoom(network, isCounted)) return open;
    return kept.size() < limits.reserved || kept.evict() ? kept : undefined;
  }

  return {
    take(socket) {
      const { remoteAddress = '' } = socket;
      const network = toNetwork(remoteAddress);
      const room = roomFor(network, !isProxy(remoteAddress));
      if (room === undefined) {
        socket.destroy();
        return;
      }
      room.enter(socket, network);
      if (open.idle() > limits.mostIdle) open.evict();
      socket.once('close', () => room.leave(socket));
    },

    begin(socket) {
      kept.work(socket, 1);
      return open.work(socket, 1);
    },

    end(socket) {
      kept.work(socket, -1);
      open.work(socket, -1);
      if (open.idle() > limits.mostIdle) open.evict();
    },

    isUnderPressure: () => open.size() > limits.most * pressureShare,
  };
}

interface Seat {
  readonly network: string;
  requests: number;
}

type Room = ReturnType<typeof createRoom>;

function createRoom() {
  const seats = new Map<Socket, Seat>();
  /** Without a request, the longest first. */
  const idle = new Set<Socket>();

  function leave(socket: Socket): void {
    seats.delete(socket);
    idle.delete(socket);
  }

  return {
    size: (): number => seats.size,
    idle: (): number => idle.size,
    leave,

    countOf(network: string): number {
      let count = 0;
      for (const seat of seats.values()) if (seat.network === network) count += 1;
      return count;
    },

    enter(socket: Socket, network: string): void {
      seats.set(socket, { network, requests: 0 });
      idle.add(socket);
    },

    /** A request more or less; false where the connection sits elsewhere. */
    work(socket: Socket, change: 1 | -1): boolean {
      const seat = seats.get(socket);
      if (seat === undefined) return false;
      seat.requests += change;
      if (seat.requests === 0) idle.add(socket);
      else idle.delete(socket);
      return true;
    },

    /** True where one was idle: it is broken, and its seat free at once. */
    evict(network?: string): boolean {
      for (const socket of idle) {
        if (network !== undefined && seats.get(socket)?.network !== network) continue;
        leave(socket);
        socket.destroy();
        return true;
      }
      return false;
    },
  };
}
