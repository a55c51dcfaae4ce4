/** Starts a benchmark server, reports its address, and stops it. */

import type { Server } from 'node:net';

/** On a free port of the loopback, said as `listeningPort` reads it. */
export function listenAndReport(server: Server): void {
  server.listen(0, '127.0.0.1', 4096, () => {
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('no TCP address');
    console.log(JSON.stringify({ msg: 'listening', port: address.port }));
  });
  process.once('SIGTERM', () => process.exit(0));
}
