/** Decompresses an upstream's body (gzip, deflate, br, zstd) where the gateway must read it. */

import type { Buffer } from 'node:buffer';
import { promisify } from 'node:util';
import {
  brotliDecompress,
  constants,
  gunzip,
  inflate,
  inflateRaw,
  type ZlibOptions,
  type ZstdOptions,
  zstdDecompress,
} from 'node:zlib';
import { codeOf } from '../lib/thrown.ts';

const gunzipAsync = promisify<Buffer, ZlibOptions, Buffer>(gunzip);
const inflateAsync = promisify<Buffer, ZlibOptions, Buffer>(inflate);
const inflateRawAsync = promisify<Buffer, ZlibOptions, Buffer>(inflateRaw);
const brotliAsync = promisify<Buffer, ZlibOptions, Buffer>(brotliDecompress);
const zstdAsync = promisify<Buffer, ZstdOptions, Buffer>(zstdDecompress);

type Decoder = (encoded: Buffer, maxOutputLength: number) => Promise<Buffer>;

// A truncated body is decoded as far as possible.
const decodeGzip: Decoder = (encoded, maxOutputLength) =>
  gunzipAsync(encoded, { maxOutputLength, finishFlush: constants.Z_SYNC_FLUSH });

const decoders: ReadonlyMap<string, Decoder> = new Map([
  ['gzip', decodeGzip],
  ['x-gzip', decodeGzip],
  [
    'br',
    (encoded, maxOutputLength) =>
      brotliAsync(encoded, { maxOutputLength, finishFlush: constants.BROTLI_OPERATION_FLUSH }),
  ],
  ['zstd', (encoded, maxOutputLength) => zstdAsync(encoded, { maxOutputLength, finishFlush: constants.ZSTD_e_flush })],
  // Some servers send raw deflate, without the zlib header.
  [
    'deflate',
    (encoded, maxOutputLength) => {
      const decode = ((encoded[0] ?? 0) & 0x0f) === 8 ? inflateAsync : inflateRawAsync;
      return decode(encoded, { maxOutputLength, finishFlush: constants.Z_SYNC_FLUSH });
    },
  ],
]);

/** Decodes all layers, the outermost first; undefined where one of them cannot be decoded, or is above the limit. */
export async function decodeAll(
  encoded: Buffer,
  codings: readonly string[],
  limitBytes: number,
): Promise<Buffer | undefined> {
  let plain: Buffer | 'too-long' | undefined = encoded;
  for (const coding of codings) {
    plain = await decode(plain, coding, limitBytes);
    if (plain === undefined || plain === 'too-long') return undefined;
  }
  return plain;
}

/** Decodes one layer; undefined where it cannot be decoded, and `too-long` above the limit. */
export async function decode(
  encoded: Buffer,
  coding: string,
  limitBytes: number,
): Promise<Buffer | 'too-long' | undefined> {
  try {
    return await decoders.get(coding)?.(encoded, limitBytes);
  } catch (error) {
    const isTooLong = codeOf(error) === 'ERR_BUFFER_TOO_LARGE';
    return isTooLong ? 'too-long' : undefined;
  }
}
