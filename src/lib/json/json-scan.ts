/** Validates a JSON body in its bytes and finds its watched top-level fields, without building objects. */

import { Buffer, isUtf8 } from 'node:buffer';
import { sliceIfOver } from '../time-slices.ts';
import type { WatchedKeys } from './json-keys.ts';
import type { JsonField, JsonFields, JsonScan } from './json-result.ts';
import { JsonScanner } from './json-scanner.ts';
import { characterStart } from './json-tokens.ts';

export { compileWatchedKeys, type WatchedKeys } from './json-keys.ts';
export {
  type JsonFault,
  type JsonField,
  type JsonFields,
  type JsonKind,
  type JsonObjectScan,
  type JsonScan,
  kindBits,
} from './json-result.ts';

const defaultMaxDepth = 64;
/** Longest body that is scanned at once; a longer one is scanned in time slices, so that other exchanges continue. */
export const oneSliceBytes = 512 * 1024;
/** Bytes scanned between two points where the scan may pause: rarely more than a millisecond of work, for any content. */
const defaultBytesPerPiece = 32 * 1024;

/** Native code checks UTF-8 so many times faster than the scan does the rest. */
const utf8Speedup = 16;

/** Bodies up to this length are copied to a shared buffer that has a view of words: creating a view costs several times as much. */
const smallBytes = 4096;
const small = Buffer.alloc(smallBytes);
const smallWords = toWords(small);

const sharedObjects = toObjects(defaultMaxDepth);

/** Scans a body without a pause, about a millisecond per megabyte; for larger bodies there is `scanJsonSliced`. */
export function scanJson(body: Buffer, watched: WatchedKeys, maxDepth = defaultMaxDepth): JsonScan {
  const scan = scanAtOnce(body, watched, maxDepth).result();
  if (!isWellFormed(scan) || isUtf8(body)) return scan;
  return { ok: false, fault: 'utf8', at: firstIllFormed(body, 0, body.length) };
}

/** Scans a body with the same result, but in time slices: it may pause after so many bytes. */
export async function scanJsonSliced(
  body: Buffer,
  watched: WatchedKeys,
  { maxDepth = defaultMaxDepth, bytesPerPiece = defaultBytesPerPiece } = {},
): Promise<JsonScan> {
  const scanner = new JsonScanner(body, toWords(body), body.length, watched, maxDepth, toObjects(maxDepth));
  while (scanner.advance(bytesPerPiece)) await sliceIfOver();
  const scan = scanner.result();
  if (!isWellFormed(scan)) return scan;
  for (let from = 0, to = 0; from < body.length; from = to) {
    to = characterStart(body, from + bytesPerPiece * utf8Speedup);
    if (!isUtf8(body.subarray(from, to))) return { ok: false, fault: 'utf8', at: firstIllFormed(body, from, to) };
    if (to < body.length) await sliceIfOver();
  }
  return scan;
}

/** Scans a body, in time slices only where it is long; for callers that can wait for a promise. */
export async function scanJsonOfAnyLength(body: Buffer, watched: WatchedKeys): Promise<JsonScan> {
  return body.length <= oneSliceBytes ? scanJson(body, watched) : scanJsonSliced(body, watched);
}

/** Finds the watched fields that are complete in the first bytes of a document, up to its first fault. */
export function scanJsonHead(head: Buffer, watched: WatchedKeys): JsonFields {
  return scanAtOnce(head, watched, defaultMaxDepth).fieldsSoFar();
}

export function textOf(body: Buffer, field: Pick<JsonField, 'start' | 'end'>): string {
  const raw = body.toString('utf8', field.start, field.end);
  if (!raw.includes('\\')) return raw.slice(1, -1);
  const text: unknown = JSON.parse(raw);
  return String(text);
}

export function replaceSpan(body: Buffer, start: number, end: number, replacement: Buffer): Buffer {
  return Buffer.concat([body.subarray(0, start), replacement, body.subarray(end)]);
}

export interface Replacement {
  readonly start: number;
  readonly end: number;
  readonly pieces: readonly Buffer[];
}

/** Replaces several spans of the body, given in their order. */
export function replaceSpans(body: Buffer, spans: readonly Replacement[]): Buffer {
  const written: Buffer[] = [];
  let at = 0;
  for (const { start, end, pieces } of spans) {
    written.push(body.subarray(at, start), ...pieces);
    at = end;
  }
  written.push(body.subarray(at));
  return Buffer.concat(written);
}

function scanAtOnce(body: Buffer, watched: WatchedKeys, maxDepth: number): JsonScanner {
  const isSmall = body.length <= smallBytes;
  if (isSmall) small.set(body);
  const bytes = isSmall ? small : body;
  const words = isSmall ? smallWords : toWords(body);
  const objects = maxDepth <= defaultMaxDepth ? sharedObjects : toObjects(maxDepth);
  const scanner = new JsonScanner(bytes, words, body.length, watched, maxDepth, objects);
  scanner.advance(body.length);
  return scanner;
}

/** Whether the body is well-formed JSON of any kind; only then is its encoding checked. */
const isWellFormed = (scan: JsonScan): boolean => scan.ok || scan.fault === 'not-object';

function toWords(bytes: Buffer): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
}

function toObjects(maxDepth: number): Uint8Array {
  return new Uint8Array(maxDepth + 1);
}

/** The offset of the first ill-formed UTF-8 character in `[from, to)`, which must contain one. */
function firstIllFormed(body: Buffer, from: number, to: number): number {
  let at = from;
  let end = to;
  while (end - at > 64) {
    const middle = characterStart(body, (at + end) >> 1);
    if (isUtf8(body.subarray(at, middle))) at = middle;
    else end = middle;
  }
  while (at < end) {
    const lead = body[at] ?? 0;
    const length = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    if (!isUtf8(body.subarray(at, Math.min(at + length, end)))) break;
    at += length;
  }
  return at;
}
