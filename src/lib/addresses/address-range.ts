/** Parses IP addresses and CIDR ranges, and checks whether a list of them contains an address. */

import { BlockList, isIP } from 'node:net';

interface AddressRange {
  readonly address: string;
  readonly family: 'ipv4' | 'ipv6';
  readonly prefixBits: number;
}

/** Parses `10.0.0.0/8` or `::1`; undefined where the text is neither an address nor a range. */
export function toAddressRange(text: string): AddressRange | undefined {
  const [address = '', bits, ...rest] = text.split('/');
  const version = isIP(address);
  if (version === 0 || rest.length > 0 || address.includes('%')) return undefined;
  const family = version === 4 ? 'ipv4' : 'ipv6';
  const widthBits = version === 4 ? 32 : 128;
  if (bits === undefined) return { address, family, prefixBits: widthBits };
  if (!/^(0|[1-9]\d{0,2})$/.test(bits) || Number(bits) > widthBits) return undefined;
  return { address, family, prefixBits: Number(bits) };
}

export function toBlockList(texts: readonly string[]): BlockList {
  const list = new BlockList();
  for (const text of texts) {
    const range = toAddressRange(text);
    if (range !== undefined) list.addSubnet(range.address, range.prefixBits, range.family);
  }
  return list;
}

/** Whether the list contains an address. An IPv4-mapped IPv6 address counts as IPv4, and a zone is ignored. */
export function includesAddress(list: BlockList | undefined, address: string): boolean {
  if (list === undefined) return false;
  const [plain = ''] = address.split('%', 1);
  const version = isIP(plain);
  return version !== 0 && list.check(plain, version === 6 ? 'ipv6' : 'ipv4');
}

const loopback = toBlockList(['127.0.0.0/8', '::1']);

/** Whether an IP address is one of this machine itself; false for names. */
export function isLoopback(address: string): boolean {
  return includesAddress(loopback, address);
}
