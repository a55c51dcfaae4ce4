/** Writes the addresses that are listened on as URLs, and explains why an address cannot be listened on. */

import type { AddressInfo } from 'node:net';
import type { Snapshot } from '../core/snapshot.ts';
import { UserFault } from '../core/user-fault.ts';
import type { Listening } from '../http/listener.ts';
import { removeStaleSocket, SocketFileError } from '../http/socket-file.ts';
import { toSocketOrigin } from '../lib/addresses/socket-origin.ts';
import { codeOf } from '../lib/thrown.ts';

export function toUrl(scheme: string, { address, family, port }: AddressInfo): string {
  return `${scheme}://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
}

/** What clients put before `/v1/...`. For a gateway that listens on a socket only, the address as an upstream's URL would be written. */
export function toClientUrl({ server }: Pick<Snapshot, 'server'>, { tcp, socket }: Listening): string {
  const origin =
    tcp === undefined ? toSocketOrigin(socket ?? '') : toUrl(server.tls === undefined ? 'http' : 'https', tcp);
  return `${origin}${server.basePath}`;
}

/** Replaces an address that means all addresses of a machine by `localhost`. */
export const toReachable = (url: string): string => url.replace(/\/\/(?:0\.0\.0\.0|\[::\])(?=:|$)/, '//localhost');

export interface ListenAddress {
  /** The section of the configuration that has the address. */
  readonly name: 'server' | 'console';
  readonly host: string;
  /** The port; undefined for a socket. */
  readonly port: number | undefined;
}

/** Explains an error of listening as a user's fault; errors that no setting causes stay unchanged. */
export function toListenFault(error: unknown, { name, host, port }: ListenAddress): unknown {
  if (error instanceof SocketFileError) return new UserFault(error.message);
  switch (codeOf(error)) {
    case 'EADDRINUSE':
      return new UserFault(
        `port ${port} on ${host} is taken; stop what listens there, or set ${name}.port to another one`,
      );
    case 'EACCES':
      return new UserFault(`port ${port} on ${host} may not be used by this user; set ${name}.port to one above 1023`);
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return new UserFault(`${host} is no address of this machine; set ${name}.host to one that is`);
    default:
      return error;
  }
}

/** Removes a file that an ended process left in the place of a socket shared by workers. */
export async function clearSocket(path: string): Promise<void> {
  await removeStaleSocket(path).catch((error: unknown) => {
    throw error instanceof SocketFileError ? new UserFault(error.message) : error;
  });
}
