/** Decompresses a request body as it arrives, with back-pressure. */

import { Buffer } from 'node:buffer';
import type { Transform } from 'node:stream';
import {
  constants,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createInflateRaw,
  createZstdDecompress,
} from 'node:zlib';
import { GatewayError } from '../core/errors.ts';

export interface Coding {
  /** How far back the decoder looks; it keeps this much decoded data. */
  readonly windowBytes: number;
  /** How many bytes of the body are needed to choose the decoder. */
  readonly signBytes: number;
  /** Creates the decoder. `sign` is the beginning of the body, or all of it if shorter. */
  decoder(sign: Buffer): Transform;
}

const KiB = 1024;
const MiB = 1024 ** 2;
const chunkSize = 64 * KiB;
/** Limit for zstd's window (as a power of two): RFC 9659 allows no larger one over HTTP, and a frame could ask for gigabytes. */
const zstdWindowLog = 23;

const gzip: Coding = { windowBytes: 32 * KiB, signBytes: 0, decoder: () => createGunzip({ chunkSize }) };

const codings = new Map<string, Coding>([
  ['gzip', gzip],
  ['x-gzip', gzip],
  ['br', { windowBytes: 16 * MiB, signBytes: 0, decoder: () => createBrotliDecompress({ chunkSize }) }],
  [
    'zstd',
    {
      windowBytes: 8 * MiB,
      signBytes: 0,
      decoder: () => createZstdDecompress({ chunkSize, params: { [constants.ZSTD_d_windowLogMax]: zstdWindowLog } }),
    },
  ],
  // "deflate" means raw deflate for some clients, and the standard's zlib wrapper for others.
  [
    'deflate',
    {
      windowBytes: 32 * KiB,
      signBytes: 2,
      decoder: (sign) => (isZlib(sign) ? createInflate({ chunkSize }) : createInflateRaw({ chunkSize })),
    },
  ],
]);

export function findCoding(contentEncoding: string | undefined): Coding | undefined {
  if (contentEncoding === undefined) return undefined;
  const name = contentEncoding.trim().toLowerCase();
  if (name === '' || name === 'identity') return undefined;
  const coding = codings.get(name);
  if (coding === undefined) {
    throw new GatewayError('unsupported_encoding', { headers: ['Accept-Encoding', 'gzip, br, deflate, zstd'] });
  }
  return coding;
}

function isZlib(sign: Buffer): boolean {
  const first = sign[0] ?? 0;
  return (first & 0x0f) === 8 && ((first << 8) | (sign[1] ?? 0)) % 31 === 0;
}

export interface DecodingSink {
  onDecoded(chunk: Buffer): void;
  onDecodedEnd(): void;
  onUndecodable(cause: unknown): void;
  /** Called when the decoder has more than it can take at once; `onReady` when it accepts data again. */
  onFull(): void;
  onReady(): void;
}

export class Decoding {
  readonly #coding: Coding;
  readonly #sink: DecodingSink;
  #sign: Buffer = Buffer.alloc(0);
  #decoder: Transform | undefined = undefined;
  /** The compressed data has ended; later bytes do not belong to it. */
  #isOver = false;

  constructor(coding: Coding, sink: DecodingSink) {
    this.#coding = coding;
    this.#sink = sink;
  }

  push(chunk: Buffer): void {
    if (this.#isOver) return;
    if (this.#decoder !== undefined) {
      this.#write(this.#decoder, chunk);
      return;
    }
    const sign = this.#sign.length === 0 ? chunk : Buffer.concat([this.#sign, chunk]);
    if (sign.length < this.#coding.signBytes) this.#sign = sign;
    else this.#write(this.#begin(sign), sign);
  }

  end(): void {
    if (!this.#isOver) (this.#decoder ?? this.#begin(this.#sign)).end();
  }

  drop(): void {
    this.#decoder?.destroy();
  }

  #begin(sign: Buffer): Transform {
    const sink = this.#sink;
    const decoder = this.#coding.decoder(sign);
    decoder.on('data', (chunk: Buffer) => sink.onDecoded(chunk));
    decoder.on('end', () => {
      this.#isOver = true;
      sink.onDecodedEnd();
    });
    decoder.on('error', (cause) => sink.onUndecodable(cause));
    decoder.on('drain', () => sink.onReady());
    if (sign === this.#sign && sign.length > 0) decoder.write(sign);
    this.#decoder = decoder;
    return decoder;
  }

  #write(decoder: Transform, chunk: Buffer): void {
    if (!decoder.write(chunk)) this.#sink.onFull();
  }
}
