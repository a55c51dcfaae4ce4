/** Tells a client's address: the peer's, or what proxies that the operator named say it is. */

import { type BlockList, isIP } from 'node:net';

/** Reads X-Forwarded-For from the right, as long as each hop is one that the operator trusts. */
export function toClientAddress(
  peer: string | undefined,
  forwardedFor: string | undefined,
  trusted: BlockList | undefined,
): string | undefined {
  if (peer === undefined) return undefined;
  let address = unmapped(peer);
  if (trusted === undefined || forwardedFor === undefined || !isTrusted(address, trusted)) return address;
  for (const hop of forwardedFor.split(',').reverse()) {
    const named = unmapped(hop.trim());
    if (isIP(named) === 0) return address; // what a trusted hop wrote ends here; the rest is the client's word
    address = named;
    if (!isTrusted(address, trusted)) return address;
  }
  return address;
}

function isTrusted(address: string, trusted: BlockList): boolean {
  return trusted.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');
}

/** An IPv4 address that came over a dual-stack socket, in its own notation. */
function unmapped(address: string): string {
  return address.startsWith('::ffff:') && address.includes('.') ? address.slice(7) : address;
}
