/** The destination of an origin's connections, and its TLS server name. */

import { socketHost, socketOf } from '../../lib/addresses/socket-origin.ts';
import { type ServerAddress, toServerAddress } from '../../wire/connect.ts';

interface Destination {
  readonly server: ServerAddress;
  /** As in the head of every request. */
  readonly host: string;
}

export function toDestination(origin: string): Destination {
  const path = socketOf(origin);
  if (path === undefined) return { server: toServerAddress(origin), host: new URL(origin).host };
  return { server: { secure: false, host: socketHost, port: 0, path }, host: socketHost };
}
