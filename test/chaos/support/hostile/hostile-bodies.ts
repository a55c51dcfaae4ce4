/** Bodies that try to block their reader: long, deep, ambiguous and fragmented, each with the expected response. */

import { brotliCompressSync, constants, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';

export interface HostileBody {
  readonly name: string;
  readonly bytes: Buffer;
  readonly coding?: string;
  /** `bytes` are chunks already. */
  readonly chunked?: true;
  /** 200, or the code of the refusal. */
  readonly outcome: 200 | string;
  /** What the upstream must get, where it gets something. */
  readonly forwarded?: Buffer;
}

const clientModel = '"model":"m"';
const upstreamModel = '"model":"theirs"';

/** `start`, then `filler` as often as it fits, then `end`: so many bytes in all, padded with white space. */
export function filled(lengthBytes: number, start: string, filler: string, end: string): Buffer {
  const room = lengthBytes - Buffer.byteLength(start) - Buffer.byteLength(end);
  const fillerBytes = Buffer.byteLength(filler);
  const used = Math.floor(room / fillerBytes) * fillerBytes;
  return Buffer.concat([
    Buffer.from(start),
    Buffer.alloc(used, filler),
    Buffer.from(end),
    Buffer.alloc(room - used, ' '),
  ]);
}

function passed(name: string, bytes: Buffer, plain = bytes, more: Partial<HostileBody> = {}): HostileBody {
  const at = plain.indexOf(clientModel);
  const forwarded = Buffer.concat([
    plain.subarray(0, at),
    Buffer.from(upstreamModel),
    plain.subarray(at + clientModel.length),
  ]);
  return { name, bytes, outcome: 200, forwarded, ...more };
}

const refused = (name: string, bytes: Buffer | string, outcome: string): HostileBody => ({
  name,
  bytes: Buffer.from(bytes),
  outcome,
});

/** Exactly at the limit, and one byte over it. */
export function longBodies(limitBytes: number): HostileBody[] {
  const start = `{${clientModel},"input":`;
  const of = (begin: string, filler: string, end: string): Buffer => filled(limitBytes, begin, filler, end);
  return [
    passed('one string', of(`${start}"`, 'x', '"}')),
    passed('text beyond ASCII', of(`${start}"`, '模型é', '"}')),
    passed('escapes', of(`${start}"`, '\\u0041', '"}')),
    passed('numbers', of(`${start}[`, '1,', '1]}')),
    passed('short strings', of(`${start}[`, '"a",', '"a"]}')),
    passed('objects', of(`{${clientModel},"input":"x","y":[`, '{"a":{}},', '1]}')),
    passed('white space', of(`{${clientModel},"input":"x"`, ' ', '}')),
    passed('one key', of(`{${clientModel},"input":"x","`, 'm', '":1}')),
    passed('keys that look like watched ones', of(`{${clientModel},"input":"x"`, ',"mo\\u0064elx":1', '}')),
    refused('one byte too many', filled(limitBytes + 1, `${start}"`, 'x', '"}'), 'body_too_large'),
    refused('never closed', of(`${start}"`, 'x', '"'), 'invalid_json'),
    refused('not UTF-8 at its end', spoiled(of(`${start}"`, 'x', '"}')), 'invalid_json'),
    refused('a model as long as the body', of('{"input":"x","model":"', 'm', '"}'), 'model_not_found'),
    refused('a model of escapes', of('{"input":"x","model":"', '\\u0041', '"}'), 'model_not_found'),
    refused('a second model at its end', of(`${start}"`, 'x', '","Model":"x"}'), 'duplicate_parameter'),
  ];
}

function spoiled(bytes: Buffer): Buffer {
  bytes[bytes.length - 10] = 0xff;
  return bytes;
}

export const deepBodies: readonly HostileBody[] = [
  refused('5 MB of [', Buffer.alloc(5_000_000, '['), 'body_too_deep'),
  refused('5 MB of [ as input', `{${clientModel},"input":${'['.repeat(5_000_000)}`, 'body_too_deep'),
  refused('objects 2,000,000 deep', '{"a":'.repeat(2_000_000), 'body_too_deep'),
  refused(
    'arrays 2,000,000 deep, all closed',
    `{${clientModel},"input":${'['.repeat(2e6)}${']'.repeat(2e6)}}`,
    'body_too_deep',
  ),
  refused('65 deep', `{${clientModel},"input":${'['.repeat(64)}${']'.repeat(64)}}`, 'body_too_deep'),
  passed('64 deep', Buffer.from(`{${clientModel},"input":${'['.repeat(63)}${']'.repeat(63)}}`)),
];

export const twistedBodies: readonly HostileBody[] = [
  ...['"model"', '"Model"', '"MODEL"', '"m\\u006fdel"', '"\\u004dodel"', '"mode\\u006C"'].flatMap((key) => [
    refused(`model, then ${key}`, `{${clientModel},"input":"x",${key}:"y"}`, 'duplicate_parameter'),
    refused(`${key}, then model`, `{${key}:"y","input":"x",${clientModel}}`, 'duplicate_parameter'),
  ]),
  refused('"Model" alone', '{"Model":"m","input":"x"}', 'missing_required_parameter'),
  refused('two inputs', `{${clientModel},"input":"x","in\\u0070ut":"y"}`, 'duplicate_parameter'),
  passed('__proto__ first', Buffer.from(`{"__proto__":{"model":"y","input":1},${clientModel},"input":"x"}`)),
  passed(
    '__proto__ last, and a constructor',
    Buffer.from(`{${clientModel},"input":"x","constructor":{"prototype":{"model":"y"}},"__proto__":null}`),
  ),
  passed(
    'names that every object has',
    Buffer.from(`{${clientModel},"input":[{"__proto__":{"a":1}}],"toString":1,"hasOwnProperty":2}`),
  ),
  refused(
    'a model that stands only in __proto__',
    '{"__proto__":{"model":"m"},"input":"x"}',
    'missing_required_parameter',
  ),
  refused('an array', `[{${clientModel},"input":"x"}]`, 'invalid_type'),
  refused('NUL bytes', Buffer.alloc(100_000), 'invalid_json'),
];

export function packedBodies(limitBytes: number): HostileBody[] {
  const plain = filled(limitBytes, `{${clientModel},"input":"`, 'x', '"}');
  const bomb = Buffer.alloc(8 * limitBytes, 'x');
  return [
    passed('gzip', gzipSync(plain), plain, { coding: 'gzip' }),
    passed('deflate', deflateSync(plain), plain, { coding: 'deflate' }),
    passed('zstd', zstdCompressSync(plain), plain, { coding: 'zstd' }),
    passed('br', brotliCompressSync(plain, { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } }), plain, {
      coding: 'br',
    }),
    { ...refused('gzip of 8 times the limit', gzipSync(bomb), 'body_too_large'), coding: 'gzip' },
    { ...refused('zstd of 8 times the limit', zstdCompressSync(bomb), 'body_too_large'), coding: 'zstd' },
  ];
}

/** Framed so that there are as many pieces as bytes. */
export function minced(lengthBytes: number): HostileBody {
  const plain = filled(lengthBytes, `{${clientModel},"input":"`, 'x', '"}');
  const pieces = plain.toString('latin1').replace(/./g, '1\r\n$&\r\n');
  return passed('one byte a chunk', Buffer.from(`${pieces}0\r\n\r\n`), plain, { chunked: true });
}
