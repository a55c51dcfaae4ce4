/** The URL of an address that is listened on. */

import type { AddressInfo } from 'node:net';

export function toUrl(scheme: string, { address, family, port }: AddressInfo): string {
  return `${scheme}://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
}
