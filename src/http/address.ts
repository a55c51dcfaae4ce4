/** Determines a client's address: the peer's, or the one reported by trusted proxies. */

import { type BlockList, isIP } from 'node:net';
import { includesAddress } from '../lib/addresses/address-range.ts';

/**
 * The client's address. Reads X-Forwarded-For from the right, as long as each hop is one that the operator trusts. A request on a Unix socket has no
 * peer address, so the operator decides whether it is trusted.
 */
export function toClientAddress(
  peer: string | undefined,
  forwardedFor: string | undefined,
  trusted: BlockList | undefined,
  isPeerTrusted = false,
): string | undefined {
  let address = peer === undefined ? undefined : unmapped(peer);
  const isBelieved = isPeerTrusted || (address !== undefined && includesAddress(trusted, address));
  if (forwardedFor === undefined || !isBelieved) return address;
  for (const hop of forwardedFor.split(',').reverse()) {
    const named = unmapped(withoutPort(hop.trim()));
    if (isIP(named) === 0) return address; // what a trusted hop wrote ends here; the rest is the client's word
    address = named;
    if (!includesAddress(trusted, address)) return address;
  }
  return address;
}

const addressWithPort = /^(?:\[([^\]]+)\]|([^:]+)):\d{1,5}$|^\[([^\]]+)\]$/;

/** Removes a port: some proxies write `10.0.0.1:80` and `[2001:db8::7]:443`. */
function withoutPort(hop: string): string {
  const found = addressWithPort.exec(hop);
  return found === null ? hop : (found[1] ?? found[2] ?? found[3] ?? hop);
}

/** Rewrites an IPv4 address that came over a dual-stack socket (`::ffff:10.0.0.1`) in its own notation. */
function unmapped(address: string): string {
  return address.startsWith('::ffff:') && address.includes('.') ? address.slice(7) : address;
}
