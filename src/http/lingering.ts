/** How a connection ends: what its client still sends is let in and forgotten for a while, as one that is closed on it may lose the answer. */

import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

const lingerMs = 1_000;

/** From now on the HTTP server ends it so, behind the last answer. */
export function endLingering(socket: Socket): void {
  socket.destroySoon = () => {
    // No parser hears any of it, which would wait for somebody to read the requests that it finds.
    socket.removeAllListeners('data');
    socket.on('data', forget);
    socket.end();
    if (socket.writableFinished) linger(socket);
    else socket.once('finish', () => linger(socket));
  };
}

/** It is at its end as far as we are concerned: until the client's own end, or for so long. */
export function linger(stream: Duplex): void {
  if (stream.readableEnded) {
    stream.destroy();
    return;
  }
  stream.resume();
  const lingering = setTimeout(() => stream.destroy(), lingerMs).unref();
  stream.once('end', () => stream.destroy());
  stream.once('close', () => clearTimeout(lingering));
}

function forget(): void {}
