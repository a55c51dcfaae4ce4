/** Checks by the first bytes of a response whether it can be JSON or an event stream. */

import { Buffer } from 'node:buffer';
import {
  brotliDecompressSync,
  constants,
  gunzipSync,
  inflateRawSync,
  inflateSync,
  type ZlibOptions,
  type ZstdOptions,
  zstdDecompressSync,
} from 'node:zlib';
import type { AnswerForm } from '../core/outcome.ts';
import { OPEN_BRACE } from '../lib/json/json-tokens.ts';
import { whatIsNoJson } from '../lib/json/no-json.ts';

/** Limit of white space that is skipped before the first value; some services send more to keep the connection open, which passes unchecked. */
const mostSpaceBytes = 1024;
/** Number of compressed bytes that are decoded first: enough for most decoders to return something. */
const firstEncodedBytes = 1024;
/** Limit of compressed bytes that are collected. zstd decodes only whole blocks; an answer with a longer first block passes unchecked. */
const mostEncodedBytes = 16 * 1024;
const mostDecodedBytes = 1024 * 1024;

type Decoder = (encoded: Buffer, maxOutputLength: number) => Buffer;

const flushing = (maxOutputLength: number): ZlibOptions => ({ maxOutputLength, finishFlush: constants.Z_SYNC_FLUSH });

const decodeGzip: Decoder = (encoded, most) => gunzipSync(encoded, flushing(most));

/** Options that make decoders decode truncated input as far as possible. */
const decoders: Readonly<Record<string, Decoder>> = {
  gzip: decodeGzip,
  'x-gzip': decodeGzip,
  br: (encoded, maxOutputLength) =>
    brotliDecompressSync(encoded, { maxOutputLength, finishFlush: constants.BROTLI_OPERATION_FLUSH }),
  zstd: (encoded, maxOutputLength) => {
    const options: ZstdOptions = { maxOutputLength, finishFlush: constants.ZSTD_e_flush };
    return zstdDecompressSync(encoded, options);
  },
  deflate: (encoded, most) =>
    (((encoded[0] ?? 0) & 0x0f) === 8 ? inflateSync : inflateRawSync)(encoded, flushing(most)),
};

/** Whether the beginning of an answer fits the required form, whether more bytes are needed, or why it does not fit. */
export type Beginning = 'fits' | 'unclear' | { readonly misfit: string };

/** Checks the beginning. `plain`: the result of `decodedBeginning` for the `bytes` received; `isWhole`: no more bytes follow. */
export function beginningOf(plain: Buffer | undefined, bytes: number, isWhole: boolean, form: AnswerForm): Beginning {
  // Most answers begin with a brace. What cannot be decoded passes unchecked.
  if (plain === undefined || plain[0] === OPEN_BRACE) return 'fits';
  if (plain.length > 0 || bytes === 0) return judge(plain, isWhole, form);
  return isWhole || bytes > mostEncodedBytes ? 'fits' : 'unclear';
}

/** The decoded beginning; undefined where it cannot be decoded. `codings`: those of the body, the outermost first. */
export function decodedBeginning(bytes: Buffer, codings: readonly string[]): Buffer | undefined {
  if (codings.length === 0 || bytes.length === 0) return bytes;
  const short = decodedBy(codings, bytes.subarray(0, firstEncodedBytes));
  if (short === undefined || short.length > 0 || bytes.length <= firstEncodedBytes) return short;
  return decodedBy(codings, bytes.subarray(0, mostEncodedBytes));
}

function decodedBy(codings: readonly string[], bytes: Buffer): Buffer | undefined {
  let plain = bytes;
  try {
    for (const coding of codings) {
      const decoder = decoders[coding];
      if (decoder === undefined) return undefined;
      plain = decoder(plain, mostDecodedBytes);
    }
    return plain;
  } catch {
    return undefined; // not what its header says, or a decompression bomb
  }
}

const byteOrderMark = Buffer.from([0xef, 0xbb, 0xbf]);

/** Offset of the first byte after a byte order mark and white space. */
function textStart(bytes: Buffer): number {
  const marked = Math.min(bytes.length, byteOrderMark.length);
  const isMarked = marked > 0 && bytes.compare(byteOrderMark, 0, marked, 0, marked) === 0;
  let at = isMarked ? marked : 0;
  while (at < bytes.length && isSpace(bytes[at])) at += 1;
  return at;
}

const isSpace = (byte: number | undefined): boolean => byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;

const words = ['true', 'false', 'null'];
const wordsAndEventFields = [...words, ':', 'data', 'event', 'id', 'retry'];
const longestWordBytes = 5;

function judge(text: Buffer, isWhole: boolean, form: AnswerForm): Beginning {
  const at = textStart(text);
  if (at > mostSpaceBytes) return 'fits';
  if (at === text.length && !isWhole) return 'unclear';
  const start = text.toString('latin1', at, at + longestWordBytes);
  if (/^[{["\-0-9]/.test(start)) return 'fits';
  const fitting = form === 'json or events' ? wordsAndEventFields : words;
  if (fitting.some((word) => start.startsWith(word))) return 'fits';
  if (!isWhole && fitting.some((word) => word.startsWith(start))) return 'unclear';
  return { misfit: whatIsNoJson(text.subarray(at), `it begins with ${JSON.stringify(start.charAt(0))}`) };
}
