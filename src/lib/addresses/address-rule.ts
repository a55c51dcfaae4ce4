/** Decides which IP addresses may be connected to when someone untrusted chose the destination (SSRF protection). */

import { isIP } from 'node:net';
import { toAddressRange } from './address-range.ts';

export interface AddressRule {
  /** Identifies the rule's content: the same for rules of equal content. */
  readonly id: string;
  /** Whether an IP address, in any spelling, may be connected to; false for anything that is no address. */
  permits(address: string): boolean;
}

export interface AddressRuleFacts {
  readonly allow?: readonly string[];
  /** Ranges refused in any case. */
  readonly deny?: readonly string[];
}

interface Range {
  readonly bits: bigint;
  readonly widthBits: number;
  readonly prefixBits: number;
}

/**
 * Refused ranges, in which no service can be called: this network, carriers' own, link-local, which includes cloud metadata, protocol assignments,
 * documentation, benchmarks, multicast, reserved. Private and loopback ranges are not refused: inference servers live there.
 */
const refused = toRanges([
  '0.0.0.0/8',
  '100.64.0.0/10',
  '169.254.0.0/16',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
  // Azure's metadata service has an address in a public range.
  '168.63.129.16/32',
  '2001::/23',
  '2001:db8::/32',
  '2002::/16',
  '3fff::/20',
  // The metadata services of AWS and Google Cloud have addresses in a private range.
  'fd00:ec2::/32',
  'fd20:ce::254/128',
]);

/** The only IPv6 ranges meant for services; all others are refused. */
const usable = toRanges(['::1/128', '2000::/3', 'fc00::/7']);

/** Ranges in which an IPv6 address embeds an IPv4 address, and the number of bits after it. */
const embeddings: readonly { readonly range: Range; readonly bitsBehind: bigint; readonly isInverted?: true }[] = [
  // IPv4-mapped, IPv4-compatible and translated addresses.
  ...toRanges(['::ffff:0:0/96', '::/96', '::ffff:0:0:0/96', '64:ff9b::/96', '64:ff9b:1::/48']).map((range) => ({
    range,
    bitsBehind: 0n,
  })),
  ...toRanges(['2002::/16']).map((range) => ({ range, bitsBehind: 80n })),
  // Teredo embeds the address with its bits inverted.
  ...toRanges(['2001::/32']).map((range) => ({ range, bitsBehind: 0n, isInverted: true as const })),
];

export function createAddressRule({ allow = [], deny = [] }: AddressRuleFacts = {}): AddressRule {
  const allowed = toRanges(allow);
  const denied = toRanges(deny);

  function mayBe(bits: bigint, widthBits: number): boolean {
    if (holds(denied, bits, widthBits)) return false;
    const inner = widthBits === 128 ? embeddedIn(bits) : undefined;
    if (inner !== undefined && !mayBe(inner, 32)) return false;
    if (holds(allowed, bits, widthBits)) return true;
    if (widthBits === 128 && !holds(usable, bits, widthBits)) return false;
    return !holds(refused, bits, widthBits);
  }

  return Object.freeze({
    id: JSON.stringify([allow, deny]),
    permits(address: string) {
      const version = isIP(address);
      // Only link-local addresses have a zone.
      if (version === 0 || address.includes('%')) return false;
      return version === 4 ? mayBe(toBits4(address), 32) : mayBe(toBits6(address), 128);
    },
  });
}

function embeddedIn(bits: bigint): bigint | undefined {
  // `::1` has the form of an embedded address, but is not one.
  if (bits === 1n) return undefined;
  const found = embeddings.find(({ range }) => holds([range], bits, 128));
  if (found === undefined) return undefined;
  const inner = (bits >> found.bitsBehind) & 0xffff_ffffn;
  return found.isInverted ? inner ^ 0xffff_ffffn : inner;
}

function holds(ranges: readonly Range[], bits: bigint, widthBits: number): boolean {
  return ranges.some((range) => {
    if (range.widthBits !== widthBits) return false;
    const behind = BigInt(widthBits - range.prefixBits);
    return bits >> behind === range.bits >> behind;
  });
}

function toRanges(texts: readonly string[]): Range[] {
  return texts.flatMap((text) => {
    const range = toAddressRange(text);
    if (range === undefined) return [];
    const { address, family, prefixBits } = range;
    return family === 'ipv4'
      ? [{ bits: toBits4(address), widthBits: 32, prefixBits }]
      : [{ bits: toBits6(address), widthBits: 128, prefixBits }];
  });
}

function toBits4(address: string): bigint {
  return address.split('.').reduce((bits, part) => (bits << 8n) | BigInt(part), 0n);
}

/** The bits of an IPv6 address; the URL parser normalises every spelling. */
function toBits6(address: string): bigint {
  const text = new URL(`http://[${address}]`).hostname.slice(1, -1);
  const [head = '', tail] = text.split('::');
  const front = groupsOf(head);
  const back = tail === undefined ? [] : groupsOf(tail);
  const zeros = new Array<number>(8 - front.length - back.length).fill(0);
  return [...front, ...zeros, ...back].reduce((bits, group) => (bits << 16n) | BigInt(group), 0n);
}

function groupsOf(text: string): number[] {
  return text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16));
}
