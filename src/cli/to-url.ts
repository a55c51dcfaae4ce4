/** The URL of an address that is listened on. */

import type { AddressInfo } from 'node:net';
import type { Snapshot } from '../core/snapshot.ts';

export function toUrl(scheme: string, { address, family, port }: AddressInfo): string {
  return `${scheme}://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
}

/** What clients put before `/v1/...`. */
export function toClientUrl({ server }: Pick<Snapshot, 'server'>, address: AddressInfo): string {
  return `${toUrl(server.tls === undefined ? 'http' : 'https', address)}${server.basePath}`;
}

/** Who listens on every address of a machine is asked for by the name that each machine has for itself. */
export const toReachable = (url: string): string => url.replace(/\/\/(?:0\.0\.0\.0|\[::\])(?=:|$)/, '//localhost');
