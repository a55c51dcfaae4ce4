/** Addresses of internal networks, in every spelling that some parser accepts. */

import { pick, type Random } from './request-draft.ts';

/** What is behind them: this network, carriers', link-local and clouds' own, protocols', documentation, benchmarks, multicast, reserved. */
type Range = readonly [base: number, prefixBits: number];

const ranges4: readonly [Range, ...Range[]] = [
  [0x00000000, 8],
  [0x64400000, 10],
  [0xa9fe0000, 16],
  [0xa9fea9fe, 32],
  [0x646464c8, 32],
  [0xc0000000, 24],
  [0xc0000200, 24],
  [0xc6120000, 15],
  [0xc6336400, 24],
  [0xcb007100, 24],
  [0xe0000000, 4],
  [0xf0000000, 4],
  [0xffffffff, 32],
];

const prefixes6 = ['fe80', 'febf', 'ff02', 'fec0', '2001:db8', '100', '4000', '8000', 'fd00:ec2', '3fff'] as const;

/** One of them as a number. */
function inwardV4(random: Random): number {
  const [base, prefixBits] = pick(ranges4, random);
  const hostBits = 32 - prefixBits;
  return (base + Math.floor(random() * 2 ** hostBits)) >>> 0;
}

const octets = (bits: number): number[] => [24, 16, 8, 0].map((shift) => (bits >>> shift) & 255);
const hex = (number: number): string => number.toString(16);
const groups = (bits: number): string => `${hex(bits >>> 16)}:${hex(bits & 0xffff)}`;

/** As DNS would return it. */
export function inwardAddress(random: Random): { readonly address: string; readonly family: 4 | 6 } {
  if (random() < 0.5) return { address: octets(inwardV4(random)).join('.'), family: 4 };
  const bits = inwardV4(random);
  const address = pick(
    [
      '::',
      `::ffff:${octets(bits).join('.')}`,
      `::ffff:${groups(bits)}`,
      '::ffff:127.0.0.1',
      `::${groups(bits)}`,
      `::ffff:0:${groups(bits)}`,
      `64:ff9b::${groups(bits)}`,
      `64:ff9b:1::${groups(bits)}`,
      `2002:${groups(bits)}::1`,
      `2001:0:4136:e378:8000:63bf:${groups(~bits >>> 0)}`,
      ...prefixes6.map((prefix) => `${prefix}::${hex(1 + Math.floor(random() * 0xfffe))}`),
    ],
    random,
  );
  return { address, family: 6 };
}

/** As somebody might write it in an address. */
export function inwardHost(random: Random): string {
  const bits = inwardV4(random);
  const [a = 0, b = 0, c = 0, d = 0] = octets(bits);
  const { address, family } = inwardAddress(random);
  return pick(
    [
      family === 6 ? `[${address}]` : address,
      octets(bits).join('.'),
      `${octets(bits).join('.')}.`,
      String(bits),
      `0x${hex(bits)}`,
      `0${bits.toString(8)}`,
      octets(bits)
        .map((octet) => `0x${hex(octet)}`)
        .join('.'),
      octets(bits)
        .map((octet) => `0${octet.toString(8)}`)
        .join('.'),
      `${a}.${b * 65_536 + c * 256 + d}`,
      `${a}.${b}.${c * 256 + d}`,
      // Digits of another script, and a full stop of another width, mean the same to the parser of URLs.
      octets(bits).join('。'),
      octets(bits)
        .join('.')
        .replace(/\d/g, (digit) => String.fromCodePoint(0xff10 + Number(digit))),
    ],
    random,
  );
}
