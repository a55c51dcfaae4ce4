/** The URL of a listen address. */

import type { AddressInfo } from 'node:net';
import type { Snapshot } from '../core/snapshot.ts';
import type { Listening } from '../http/listener.ts';
import { toSocketOrigin } from '../lib/addresses/socket-origin.ts';

export function toUrl(scheme: string, { address, family, port }: AddressInfo): string {
  return `${scheme}://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
}

/** What clients put before `/v1/...`; where there is the socket alone, as the address of an upstream would be written. */
export function toClientUrl({ server }: Pick<Snapshot, 'server'>, { tcp, socket }: Listening): string {
  const origin =
    tcp === undefined ? toSocketOrigin(socket ?? '') : toUrl(server.tls === undefined ? 'http' : 'https', tcp);
  return `${origin}${server.basePath}`;
}

/** Who listens on every address of a machine is asked for by the name that each machine has for itself. */
export const toReachable = (url: string): string => url.replace(/\/\/(?:0\.0\.0\.0|\[::\])(?=:|$)/, '//localhost');
