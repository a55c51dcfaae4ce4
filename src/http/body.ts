/** Reads a request body once, whole, under a limit; decodes what was compressed, under the same limit. */

import type { IncomingMessage } from 'node:http';
import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate, inflateRaw, type ZlibOptions, zstdDecompress } from 'node:zlib';
import { GatewayError } from '../core/errors.ts';

type Decoder = (encoded: Buffer, limitBytes: number) => Promise<Buffer>;

const gunzipAsync = promisify<Buffer, ZlibOptions, Buffer>(gunzip);
const inflateAsync = promisify<Buffer, ZlibOptions, Buffer>(inflate);
const inflateRawAsync = promisify<Buffer, ZlibOptions, Buffer>(inflateRaw);
const brotliAsync = promisify<Buffer, { maxOutputLength: number }, Buffer>(brotliDecompress);
const zstdAsync = promisify<Buffer, { maxOutputLength: number }, Buffer>(zstdDecompress);

const decodeGzip: Decoder = (encoded, maxOutputLength) => gunzipAsync(encoded, { maxOutputLength });

const decoders = new Map<string, Decoder>([
  ['gzip', decodeGzip],
  ['x-gzip', decodeGzip],
  ['br', (encoded, maxOutputLength) => brotliAsync(encoded, { maxOutputLength })],
  ['zstd', (encoded, maxOutputLength) => zstdAsync(encoded, { maxOutputLength })],
  // Some clients mean the bare stream by "deflate", others the zlib wrapper that the standard asks for.
  [
    'deflate',
    (encoded, maxOutputLength) => (isZlib(encoded) ? inflateAsync : inflateRawAsync)(encoded, { maxOutputLength }),
  ],
]);

/** The decoder that a Content-Encoding asks for; undefined where the body is plain. */
export function findDecoder(contentEncoding: string | undefined): Decoder | undefined {
  if (contentEncoding === undefined) return undefined;
  const coding = contentEncoding.trim().toLowerCase();
  if (coding === '' || coding === 'identity') return undefined;
  const decoder = decoders.get(coding);
  if (decoder === undefined) {
    throw new GatewayError('unsupported_encoding', { headers: ['Accept-Encoding', 'gzip, br, deflate, zstd'] });
  }
  return decoder;
}

/** Before the body is asked for: is it as long as may be? */
export function checkAnnouncedLength(request: IncomingMessage, limitBytes: number): void {
  const announced = request.headers['content-length'];
  if (announced !== undefined && Number(announced) > limitBytes) {
    throw tooLarge(limitBytes, `is ${announced} bytes long`);
  }
}

/** A piece that is shorter costs more to keep than to copy. */
const shortBytes = 2 * 1024;
const slabBytes = 64 * 1024;

/** One body being read. Someone else may end it: the listener, when the rest is malformed or too slow. */
export class BodyReading {
  /** As they came over the wire. */
  receivedBytes = 0;

  readonly #request: IncomingMessage;
  readonly #limitBytes: number;
  readonly #chunks: Buffer[] = [];
  /** Where short pieces are put together. */
  #slab: Buffer = Buffer.alloc(0);
  #slabUsedBytes = 0;
  #reject: ((error: GatewayError) => void) | undefined = undefined;

  constructor(request: IncomingMessage, limitBytes: number) {
    this.#request = request;
    this.#limitBytes = limitBytes;
  }

  /** The bytes as sent. Ends with an error as soon as more than the limit has come. */
  whole(): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      this.#reject = reject;
      this.#request.on('data', (chunk: Buffer) => this.#take(chunk));
      this.#request.on('end', () => {
        this.#reject = undefined;
        resolve(this.#join());
      });
    });
  }

  /** False where there is nothing left to end. */
  fail(error: GatewayError): boolean {
    if (this.#reject === undefined) return false;
    this.#reject(error);
    this.#reject = undefined;
    this.#chunks.length = 0;
    return true;
  }

  #take(chunk: Buffer): void {
    if (this.#reject === undefined) return; // it was refused; what still comes is thrown away
    this.receivedBytes += chunk.length;
    if (this.receivedBytes > this.#limitBytes) this.fail(tooLarge(this.#limitBytes, 'goes on beyond it'));
    else if (chunk.length >= shortBytes || this.#isWhole(chunk)) this.#keep(chunk);
    else this.#copy(chunk);
  }

  /** Most bodies come in one piece, however short. */
  #isWhole(chunk: Buffer): boolean {
    return Number(this.#request.headers['content-length']) === chunk.length;
  }

  #keep(chunk: Buffer): void {
    this.#endSlab();
    this.#chunks.push(chunk);
  }

  #copy(chunk: Buffer): void {
    if (this.#slabUsedBytes + chunk.length > this.#slab.length) {
      this.#endSlab();
      this.#slab = Buffer.allocUnsafe(this.receivedBytes < slabBytes ? 2 * shortBytes : slabBytes);
    }
    this.#slabUsedBytes += chunk.copy(this.#slab, this.#slabUsedBytes);
  }

  #endSlab(): void {
    if (this.#slabUsedBytes === 0) return;
    this.#chunks.push(this.#slab.subarray(0, this.#slabUsedBytes));
    this.#slab = this.#slab.subarray(this.#slabUsedBytes);
    this.#slabUsedBytes = 0;
  }

  #join(): Buffer {
    this.#endSlab();
    const [only] = this.#chunks;
    return this.#chunks.length === 1 && only !== undefined ? only : Buffer.concat(this.#chunks, this.receivedBytes);
  }
}

export async function decodeBody(encoded: Buffer, decode: Decoder, limitBytes: number): Promise<Buffer> {
  try {
    return await decode(encoded, limitBytes);
  } catch (cause) {
    if (cause instanceof RangeError && 'code' in cause && cause.code === 'ERR_BUFFER_TOO_LARGE') {
      throw tooLarge(limitBytes, 'is longer than that once decoded');
    }
    throw new GatewayError('invalid_json', {
      message: 'The body is not what its Content-Encoding says; send it plain, or encode it again.',
      cause,
    });
  }
}

function tooLarge(limitBytes: number, what: string): GatewayError {
  return new GatewayError('body_too_large', {
    message: `The body limit is ${limitBytes} bytes (server.body_limit), and this body ${what}; send it in smaller requests.`,
  });
}

function isZlib(encoded: Buffer): boolean {
  const first = encoded[0] ?? 0;
  return (first & 0x0f) === 8 && ((first << 8) | (encoded[1] ?? 0)) % 31 === 0;
}
