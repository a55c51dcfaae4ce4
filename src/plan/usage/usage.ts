/** Reads usage from the first and last bytes of a response as it passes. */

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
import type { Pictures, Usage, Written } from '../../core/accounting/usage.ts';
import type { OperationRow } from '../../core/operations/row.ts';
import { JsonPicker, type Picked } from '../../lib/json/json-picker.ts';
import { compileWatchedKeys, type JsonObjectScan, scanJson } from '../../lib/json/json-scan.ts';
import { BACKSLASH, LINE_FEED } from '../../lib/json/json-tokens.ts';
import { headerValue } from '../../lib/raw-headers.ts';
import { Excerpt } from './excerpt.ts';
import { withTier } from './request-terms.ts';
import { type CallReader, createCallReader } from './tool-calls.ts';
import {
  readChunkUsage,
  readDeltaUsage,
  readEventUsage,
  readInteractionUsage,
  readJsonUsage,
  readMessageUsage,
  readMetaUsage,
  readResponseUsage,
  readWholeUsage,
} from './usage-reader.ts';
import { createTextReader, type TextReader } from './written-text.ts';

const sizeAndQuality = ['size', 'quality'] as const;
/** Where a whole answer lists its images: as bytes or as URLs. */
const ofWhole = ['data.*.b64_json', 'data.*.url'];
/** Where a stream has the type of an event: that of an image's last event differs from those of intermediate ones. */
const ofEvents = ['type'];
const lastEvent = /\.completed$/;

const noText: Written = Object.freeze({ texts: 0, bytes: 0, sample: '', choices: 0 });

/** Counts the images in a response while it is relayed, and reads their size and quality. */
export class PictureReader implements TextReader {
  readonly #isStream: boolean;
  readonly #picker: JsonPicker;
  #count = 0;
  #size: string | undefined;
  #quality: string | undefined;

  constructor(isStream: boolean) {
    this.#isStream = isStream;
    this.#picker = new JsonPicker(
      [...(isStream ? ofEvents : ofWhole), ...sizeAndQuality],
      'long ones without their text',
    );
  }

  push(chunk: Buffer): void {
    const picked: Picked[] = [];
    let start = 0;
    // An event is one line, and its data one document.
    while (this.#isStream) {
      const end = chunk.indexOf(LINE_FEED, start);
      if (end === -1) break;
      this.#picker.push(chunk, picked, start, end);
      this.#picker.reset();
      start = end + 1;
    }
    this.#picker.push(chunk, picked, start);
    for (const one of picked) this.#take(one);
  }

  #take({ path, text }: Picked): void {
    if (path === 'size') this.#size = text;
    else if (path === 'quality') this.#quality = text;
    else if (!this.#isStream || lastEvent.test(text)) this.#count += 1;
  }

  pictures(): Pictures | undefined {
    return this.#count === 0 ? undefined : { count: this.#count, size: this.#size, quality: this.#quality };
  }

  written(): Written {
    return noText;
  }
}

export interface UsageObserver {
  /** Takes a relayed chunk, of which the observer may keep a reference for a while. */
  push(chunk: Buffer): void;
  /** True: after `push`, the observer refers to no part of a chunk of `reusedBytes` or more. */
  readonly keepsNothing?: boolean;
  /** To be called once, at the end. `cut`: the answer broke off, which its bytes do not always show. Returns null if it reported no usage. */
  finish(cut?: boolean): Usage | null | Promise<Usage | null>;
  /** After `finish`: the answer's decompressed length; undefined where it is not compressed, or in an unknown way. */
  decodedLength(): number | undefined;
  /** After `finish`: length and choices of the answer's text; undefined where it has none. */
  written(): Written | undefined;
  /** After `finish`: the answer's images; undefined where none were looked for, or found. */
  pictures(): Pictures | undefined;
}

/** What to look for in an answer: text, by position and number of choices; or pictures. */
export type Texts =
  | { readonly names: NonNullable<OperationRow['written']>; readonly areMany: boolean }
  | { readonly names: 'pictures' };

type Reader = (excerpt: Excerpt, cut: boolean) => Usage | null;

/** Limit of decompressed output: more is not worth the work, and may be a decompression bomb. */
const mostDecodedBytes = 256 * 1024 * 1024;
/** Limit of compressed bytes that wait for the decoder: beyond it, decoding is given up, so that a fast client is not slowed down. */
const mostPendingBytes = 8 * 1024 * 1024;

const blind: UsageObserver = {
  push: () => undefined,
  keepsNothing: true,
  finish: () => null,
  decodedLength: () => undefined,
  written: () => undefined,
  pictures: () => undefined,
};

export function createUsageObserver(
  contentType: string | undefined,
  contentEncoding: string | undefined,
  texts?: Texts,
  row?: Pick<OperationRow, 'countsIn' | 'reportsTier' | 'callsIn' | 'counting'>,
  countsCalls = false,
): UsageObserver {
  const read = readerFor(contentType, row);
  if (read === undefined) return blind;
  const isStream = !isJson(mediaTypeOf(contentType));
  const text = texts && readerOf(texts, isStream);
  const calls = countsCalls ? createCallReader(row?.callsIn, isStream) : undefined;
  const encoding = contentEncoding?.trim().toLowerCase() ?? '';
  const plain = new PlainObserver(read, text, calls);
  if (encoding === '' || encoding === 'identity') return plain;
  const createDecoder = decoders.get(encoding);
  return createDecoder === undefined ? blind : new DecodingObserver(plain, createDecoder);
}

function readerOf(texts: Texts, isStream: boolean): TextReader {
  if (texts.names === 'pictures') return new PictureReader(isStream);
  return createTextReader(isStream, texts.areMany, isStream ? texts.names.events : texts.names.whole);
}

/** Whether an operation needs only the usage of an answer: not its text, images or service tier. */
export const isCountAll = ({ written, yields, reportsTier, countsIn, counting }: OperationRow): boolean =>
  written === undefined &&
  yields !== 'images' &&
  reportsTier !== true &&
  countsIn !== 'last line' &&
  counting !== 'recording';

/** The usage of a complete answer; undefined where the answer must be read by an observer, as when it is compressed. */
export function countOfWhole(headers: readonly string[], body: Buffer): Usage | null | undefined {
  if (headerValue(headers, 'content-encoding') !== undefined) return undefined;
  const contentType = headerValue(headers, 'content-type');
  return contentType === 'application/json' || isJson(mediaTypeOf(contentType)) ? readWholeUsage(body) : undefined;
}

const mediaTypeOf = (contentType: string | undefined): string =>
  contentType?.split(';', 1)[0]?.trim().toLowerCase() ?? '';

const subtitleTypes: ReadonlySet<string> = new Set(['text/plain', 'text/vtt', 'text/srt', 'application/x-subrip']);
/** Media types that may contain JSON: some servers label JSON as plain text by default. */
const jsonTypes: ReadonlySet<string> = new Set(['application/json', 'text/json', 'text/plain']);

/** Media types of streams with one JSON object a line, or one event each. */
const streamTypes: ReadonlySet<string> = new Set([
  'application/stream+json',
  'application/x-ndjson',
  'text/event-stream',
]);

const isJson = (mediaType: string): boolean =>
  jsonTypes.has(mediaType) || (mediaType.endsWith('+json') && !streamTypes.has(mediaType));

function readerFor(
  contentType: string | undefined,
  row: Pick<OperationRow, 'countsIn' | 'reportsTier' | 'counting'> | undefined,
): Reader | undefined {
  const mediaType = mediaTypeOf(contentType);
  if (row?.counting === 'recording' && subtitleTypes.has(mediaType)) return readSubtitles;
  const read = countReaderFor(mediaType, row?.countsIn);
  if (read === undefined || row?.reportsTier !== true) return read;
  const isStream = !isJson(mediaType);
  const isInResponse = row.countsIn === 'response';
  return (excerpt, cut) => withTier(read(excerpt, cut), excerpt, isStream, isInResponse);
}

function countReaderFor(mediaType: string, countsIn: OperationRow['countsIn']): Reader | undefined {
  const inLastLine = countsIn === 'last line';
  if (isJson(mediaType)) return inLastLine ? readLineUsage : readJsonUsage;
  if (countsIn === 'response meta') return streamTypes.has(mediaType) ? readMetaUsage : undefined;
  if (mediaType === 'application/x-ndjson') return inLastLine ? readLineUsage : undefined;
  if (mediaType !== 'text/event-stream') return undefined;
  if (countsIn === 'message') return readMessageUsage;
  if (countsIn === 'chunks') return readChunkUsage;
  if (countsIn === 'delta') return readDeltaUsage;
  if (countsIn === 'interaction') return readInteractionUsage;
  return countsIn === 'response' ? readResponseUsage : readEventUsage;
}

const nothingCounted: Usage = Object.freeze({
  promptTokens: null,
  completionTokens: null,
  totalTokens: null,
  searchUnits: null,
});

function withCalls(usage: Usage | null, reader: CallReader | undefined): Usage | null {
  if (reader === undefined) return usage;
  const counted = usage ?? nothingCounted;
  return { ...counted, units: { ...counted.units, toolCalls: reader.calls() } };
}

class PlainObserver implements UsageObserver {
  readonly keepsNothing: boolean;
  readonly #read: Reader;
  readonly #text: TextReader | undefined;
  readonly #calls: CallReader | undefined;
  readonly #excerpt = new Excerpt();

  constructor(read: Reader, text: TextReader | undefined, calls: CallReader | undefined) {
    this.#read = read;
    this.#text = text;
    this.#calls = calls;
    this.keepsNothing = text === undefined && calls === undefined;
  }

  push(chunk: Buffer): void {
    this.#excerpt.push(chunk);
    this.#text?.push(chunk);
    this.#calls?.push(chunk);
  }

  finish(cut = false): Usage | null {
    return withCalls(this.#read(this.#excerpt, cut), this.#calls);
  }

  decodedLength(): undefined {
    return undefined;
  }

  written(): Written | undefined {
    return this.#text?.written();
  }

  pictures(): Pictures | undefined {
    return this.#text?.pictures?.();
  }
}

/** Decompresses an answer while it is relayed, off the main thread. After any fault the usage is unknown. */
class DecodingObserver implements UsageObserver {
  readonly #decoded: UsageObserver;
  readonly #createDecoder: CreateDecoder;
  #decoder: Transform | undefined;
  #decodedBytes = 0;
  #cut = false;
  readonly #settled = Promise.withResolvers<Usage | null>();

  /** `decoded` observes the decompressed bytes. */
  constructor(decoded: UsageObserver, createDecoder: CreateDecoder) {
    this.#decoded = decoded;
    this.#createDecoder = createDecoder;
  }

  push(chunk: Buffer): void {
    if (chunk.length === 0) return;
    this.#decoder ??= this.#start(chunk);
    if (this.#decoder.destroyed) return;
    this.#decoder.write(chunk);
    if (this.#decoder.writableLength > mostPendingBytes) this.#decoder.destroy();
  }

  finish(cut = false): Usage | null | Promise<Usage | null> {
    if (this.#decoder === undefined) return null;
    this.#cut = cut;
    this.#decoder.end();
    return this.#settled.promise;
  }

  /** The decompressed length; after an abort, that of the part which was read. */
  decodedLength(): number {
    return this.#decodedBytes;
  }

  written(): Written | undefined {
    return this.#decoded.written();
  }

  pictures(): Pictures | undefined {
    return this.#decoded.pictures();
  }

  #start(firstChunk: Buffer): Transform {
    const decoder = this.#createDecoder(firstChunk);
    decoder.on('data', (chunk: Buffer) => {
      this.#decoded.push(chunk);
      this.#decodedBytes += chunk.length;
      if (this.#decodedBytes > mostDecodedBytes) decoder.destroy();
    });
    decoder.on('end', () => this.#settled.resolve(this.#decoded.finish(this.#cut)));
    // An invalid body is the client's to judge; its usage is just unknown.
    decoder.on('error', () => this.#settled.resolve(null));
    decoder.on('close', () => this.#settled.resolve(null));
    return decoder;
  }
}

type CreateDecoder = (firstChunk: Buffer) => Transform;

const deflateMethod = 8;

const decoders: ReadonlyMap<string, CreateDecoder> = new Map<string, CreateDecoder>([
  ['gzip', () => createGunzip()],
  ['x-gzip', () => createGunzip()],
  ['br', () => createBrotliDecompress()],
  // Some servers send raw deflate, without the zlib header.
  ['deflate', ([first = 0]) => ((first & 0x0f) === deflateMethod ? createInflate() : createInflateRaw())],
  // RFC 9659 allows this window over HTTP.
  ['zstd', () => createZstdDecompress({ params: { [constants.ZSTD_d_windowLogMax]: 23 } })],
]);

/** Ollama's counts in their order; the first is absent where the prompt was cached. */
const lineKeys = ['prompt_eval_count', 'eval_count'] as const;
const watched = compileWatchedKeys(lineKeys);
const openingBrace = Buffer.from('{');

/** Ollama's usage at the end of an answer. As in `countFromTail`, only a top-level key counts: after a brace, the text from it on is an object. */
function readLineUsage(excerpt: Excerpt): Usage | null {
  const tail = excerpt.tail();
  for (const key of lineKeys) {
    const quoted = Buffer.from(`"${key}"`);
    for (let at = tail.lastIndexOf(quoted); at > 0; at = tail.lastIndexOf(quoted, at - 1)) {
      if (tail[at - 1] === BACKSLASH) continue;
      const end = tail.indexOf(LINE_FEED, at);
      const object = Buffer.concat([openingBrace, tail.subarray(at, end === -1 ? tail.length : end)]);
      const scan = scanJson(object, watched);
      if (scan.ok) return toUsage(object, scan);
    }
  }
  return null;
}

function toUsage(object: Buffer, scan: JsonObjectScan): Usage {
  const [promptTokens = null, completionTokens = null] = lineKeys.map((key) => countIn(object, scan, key));
  return { promptTokens, completionTokens, totalTokens: null, searchUnits: null };
}

function countIn(object: Buffer, { fields }: JsonObjectScan, key: string): number | null {
  const field = fields.get(key);
  const count = field?.kind === 'number' ? Number(object.toString('latin1', field.start, field.end)) : null;
  return count !== null && Number.isSafeInteger(count) && count >= 0 ? count : null;
}

/** The end of a subtitle's times in SubRip and WebVTT: `00:01:02,345 --> 00:01:04,000`, `01:02.345 --> 01:04.000`. */
const cue = /--> *(?:(\d{1,4}):)?(\d{1,2}):(\d{2})[.,](\d{3})/g;

function readSubtitles(excerpt: Excerpt): Usage | null {
  const [, hours = '0', minutes = '0', seconds = '0', thousandths = '0'] =
    [...excerpt.tail().toString('latin1').matchAll(cue)].at(-1) ?? [];
  const end = Number(hours) * 3_600 + Number(minutes) * 60 + Number(seconds) + Number(thousandths) / 1_000;
  if (end === 0) return null;
  return { ...nothingCounted, seconds: end, isLikely: true };
}
