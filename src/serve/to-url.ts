/** The URL of a listen address. */

import type { AddressInfo } from 'node:net';
import type { Snapshot } from '../core/snapshot.ts';
import type { Listening } from '../http/listener.ts';
import { toSocketOrigin } from '../lib/addresses/socket-origin.ts';

export function toUrl(scheme: string, { address, family, port }: AddressInfo): string {
  return `${scheme}://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
}

/** What clients put before `/v1/...`; for a socket only, as an upstream's URL would be written. */
export function toClientUrl({ server }: Pick<Snapshot, 'server'>, { tcp, socket }: Listening): string {
  const origin =
    tcp === undefined ? toSocketOrigin(socket ?? '') : toUrl(server.tls === undefined ? 'http' : 'https', tcp);
  return `${origin}${server.basePath}`;
}

/** Replaces an address that means all of a machine's by `localhost`. */
export const toReachable = (url: string): string => url.replace(/\/\/(?:0\.0\.0\.0|\[::\])(?=:|$)/, '//localhost');
