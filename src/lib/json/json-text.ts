/** Parses and writes JSON with numbers that keep every digit; long texts in time slices. */

import { Buffer, isUtf8 } from 'node:buffer';
import { atOnce, timeSliced } from '../time-slices.ts';
import { JsonTextError, JsonTextReader, type ReadingLimits } from './json-text-reader.ts';
import { characterStart } from './json-tokens.ts';
import { isJsonList, isJsonObject, type Json, JsonNumber, JsonNumbers, type JsonObject } from './json-value.ts';

export { JsonTextError, JsonTooMuch } from './json-text-reader.ts';
export {
  isJsonList,
  isJsonObject,
  type Json,
  JsonNumber,
  JsonNumbers,
  type JsonObject,
  numberOf,
} from './json-value.ts';

/** Limits above what honest texts need: parsing slows down with the number of members and elements. */
const standardLimits: ReadingLimits = {
  maxDepth: 64,
  maxValues: 4_000_000,
  maxElements: Number.POSITIVE_INFINITY,
  maxMembers: 10_000,
  maxNameCharacters: 10_000,
};

/** Parses JSON. Throws a `JsonTextError` where it is invalid. Of duplicate names, the last one counts. */
export function parseJson(bytes: Buffer, limits: Partial<ReadingLimits> = {}): Json {
  return atOnce(read(bytes, limits));
}

export function parseJsonOrNone(bytes: Buffer): Json | undefined {
  try {
    return parseJson(bytes);
  } catch (error) {
    if (error instanceof JsonTextError) return undefined;
    throw error;
  }
}

/** Called at intervals with the values read so far; it may throw to stop the reading. */
export type ValueCounter = (values: number) => void;

export function parseJsonSliced(
  bytes: Buffer,
  limits: Partial<ReadingLimits> = {},
  count?: ValueCounter,
): Promise<Json> {
  return timeSliced(read(bytes, limits, count));
}

/** Parses JSON as a generator, for work that is sliced together with other work. */
export const readingJson = (
  bytes: Buffer,
  limits: Partial<ReadingLimits> = {},
  count?: ValueCounter,
): Generator<undefined, Json, undefined> => read(bytes, limits, count);

/** Writes a value as JSON; undefined values are left out. */
export function writeJson(value: Json): Buffer {
  const writer = new Writer();
  atOnce(writer.write(value));
  return writer.bytes();
}

/** Writes a value as JSON in time slices; it must not change meanwhile. */
export async function writeJsonSliced(value: Json): Promise<Buffer> {
  const writer = new Writer();
  await timeSliced(writer.write(value));
  return writer.bytes();
}

export function fromPlain(value: unknown): Json {
  return parseJson(Buffer.from(JSON.stringify(value) ?? 'null'));
}

/** Characters written between two points where writing may pause: far less than a millisecond of work. */
const charactersPerPiece = 16 * 1024;
const bytesPerPiece = 256 * 1024;
const charactersPerChunk = 64 * 1024;

function* read(
  bytes: Buffer,
  limits: Partial<ReadingLimits>,
  count?: ValueCounter,
): Generator<undefined, Json, undefined> {
  const text = bytes.length <= bytesPerPiece ? toText(bytes, 0) : yield* decode(bytes);
  const reader = new JsonTextReader(text, { ...standardLimits, ...limits });
  const steps = reader.document();
  for (let step = steps.next(); ; step = steps.next()) {
    if (step.done === true) return step.value;
    count?.(reader.values);
    yield;
  }
}

function* decode(bytes: Buffer): Generator<undefined, string, undefined> {
  let text = '';
  for (let from = 0; from < bytes.length; ) {
    const to = characterStart(bytes, from + bytesPerPiece);
    text += toText(bytes.subarray(from, to), text.length);
    from = to;
    if (to < bytes.length) yield;
  }
  return text;
}

function toText(bytes: Buffer, at: number): string {
  if (!isUtf8(bytes)) throw new JsonTextError('ill-formed UTF-8', at);
  return bytes.toString('utf8');
}

class Writer {
  readonly #chunks: Buffer[] = [];
  #pendingText = '';

  *write(value: Json): Generator<undefined, void, undefined> {
    const plain = plainText(value);
    if (plain !== undefined) this.#pendingText += plain;
    else if (typeof value === 'string') yield* this.#writeLongText(value);
    else if (isJsonList(value)) yield* this.#writeList(value);
    else if (isJsonObject(value)) yield* this.#writeObject(value);
  }

  bytes(): Buffer {
    const last = Buffer.from(this.#pendingText);
    return this.#chunks.length === 0 ? last : Buffer.concat([...this.#chunks, last]);
  }

  *#writeLongText(text: string): Generator<undefined, void, undefined> {
    this.#pendingText += '"';
    for (let from = 0; from < text.length; ) {
      const to = endOfPiece(text, from + charactersPerPiece);
      this.#pendingText += JSON.stringify(text.slice(from, to)).slice(1, -1);
      from = to;
      if (this.#isFull()) yield;
    }
    this.#pendingText += '"';
  }

  *#writeList(list: readonly Json[]): Generator<undefined, void, undefined> {
    let before = '[';
    for (const element of list) {
      const plain = plainText(element);
      this.#pendingText += plain === undefined ? before : before + plain;
      if (plain === undefined) yield* this.write(element);
      if (this.#isFull()) yield;
      before = ',';
    }
    this.#pendingText += list.length === 0 ? '[]' : ']';
  }

  *#writeObject(object: JsonObject): Generator<undefined, void, undefined> {
    let before = '{';
    for (const name in object) {
      const member = object[name];
      if (member === undefined) continue;
      const plain = plainText(member);
      this.#pendingText += `${before}${JSON.stringify(name)}:${plain ?? ''}`;
      if (plain === undefined) yield* this.write(member);
      if (this.#isFull()) yield;
      before = ',';
    }
    this.#pendingText += before === '{' ? '{}' : '}';
  }

  #isFull(): boolean {
    if (this.#pendingText.length < charactersPerChunk) return false;
    this.#chunks.push(Buffer.from(this.#pendingText));
    this.#pendingText = '';
    return true;
  }
}

function endOfPiece(text: string, at: number): number {
  if (at >= text.length) return text.length;
  const isWithinPair = (text.charCodeAt(at - 1) & 0xfc00) === 0xd800 && (text.charCodeAt(at) & 0xfc00) === 0xdc00;
  return isWithinPair ? at + 1 : at;
}

/** The JSON text of a scalar, or of a list of numbers; undefined for other values, and for a long text. */
function plainText(value: Json): string | undefined {
  if (typeof value === 'string' && value.length > charactersPerPiece) return undefined;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  return value instanceof JsonNumber || value instanceof JsonNumbers ? value.source : undefined;
}
