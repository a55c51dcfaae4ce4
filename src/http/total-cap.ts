/** How many connections there may be at a time, at all doors together. */

import type { Socket } from 'node:net';
import type { WireServer } from '../wire/server.ts';

interface TotalCap {
  apply(most: number): void;
}

export function createTotalCap(doors: readonly Pick<WireServer, 'server'>[]): TotalCap {
  let most = Number.POSITIVE_INFINITY;
  let open = 0;

  function admit(socket: Socket): void {
    if (open >= most) {
      socket.destroy();
      return;
    }
    open += 1;
    socket.once('close', () => {
      open -= 1;
    });
  }

  // What a door counts by itself is cheaper, and enough where there is one.
  if (doors.length > 1) for (const { server } of doors) server.prependListener('connection', admit);

  return {
    apply(next) {
      most = next;
      for (const { server } of doors) server.maxConnections = next;
    },
  };
}
