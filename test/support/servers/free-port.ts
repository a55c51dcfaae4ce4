/** Finds a free port for a program that cannot take one by itself. */

import { once } from 'node:events';
import { createServer } from 'node:net';

/** Below those that systems give to connections and to listeners at port 0: one of these would take it before the program does. */
const range = { from: 20_000, count: 12_000 };

export async function freePort(): Promise<number> {
  for (;;) {
    const port = range.from + Math.floor(Math.random() * range.count);
    const server = createServer().listen(port, '127.0.0.1');
    const isFree = await once(server, 'listening').then(
      () => true,
      () => false,
    );
    if (!isFree) continue;
    server.close();
    await once(server, 'close');
    return port;
  }
}
