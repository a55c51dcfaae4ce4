/** Reads and writes JSON as values whose numbers keep every digit; long texts in turns, so that others go on meanwhile. */

import { isUtf8 } from 'node:buffer';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { JsonTextError, JsonTextReader, type ReadingLimits } from './json-text-reader.ts';
import { isJsonList, isJsonObject, type Json, JsonNumber, JsonNumbers, type JsonObject } from './json-value.ts';

export { JsonTextError, JsonTooMany } from './json-text-reader.ts';
export {
  isJsonList,
  isJsonObject,
  type Json,
  JsonNumber,
  JsonNumbers,
  type JsonObject,
  numberOf,
} from './json-value.ts';

const standardLimits: ReadingLimits = { maxDepth: 64, maxValues: 4_000_000 };

/** Throws a `JsonTextError` where the bytes are not one JSON text. Of a name that stands twice, the last one counts. */
export function parseJson(bytes: Buffer, limits: Partial<ReadingLimits> = {}): Json {
  return finish(toReader(bytes, limits).document());
}

/** The same, with a turn for the event loop now and then. */
export async function parseJsonInTurns(bytes: Buffer, limits: Partial<ReadingLimits> = {}): Promise<Json> {
  return await finishInTurns(toReader(bytes, limits).document());
}

/** Undefined values are left out. */
export function writeJson(value: Json): Buffer {
  const writer = new Writer();
  finish(writer.write(value));
  return writer.bytes();
}

/** The same, with a turn for the event loop now and then; the value must not change meanwhile. */
export async function writeJsonInTurns(value: Json): Promise<Buffer> {
  const writer = new Writer();
  await finishInTurns(writer.write(value));
  return writer.bytes();
}

/** A plain value, such as one from a configuration file. */
export function fromPlain(value: unknown): Json {
  return parseJson(Buffer.from(JSON.stringify(value) ?? 'null'));
}

function toReader(bytes: Buffer, limits: Partial<ReadingLimits>): JsonTextReader {
  if (!isUtf8(bytes)) throw new JsonTextError('ill-formed UTF-8', 0);
  return new JsonTextReader(bytes.toString('utf8'), { ...standardLimits, ...limits });
}

function finish<T>(work: Generator<undefined, T, undefined>): T {
  for (;;) {
    const step = work.next();
    if (step.done === true) return step.value;
  }
}

async function finishInTurns<T>(work: Generator<undefined, T, undefined>): Promise<T> {
  for (;;) {
    const step = work.next();
    if (step.done === true) return step.value;
    await nextTurn();
  }
}

/** About a millisecond of work. */
const charactersPerTurn = 64 * 1024;

class Writer {
  readonly #chunks: Buffer[] = [];
  /** What is not among the chunks yet. */
  #text = '';

  *write(value: Json): Generator<undefined, void, undefined> {
    const plain = plainText(value);
    if (plain !== undefined) this.#text += plain;
    else if (isJsonList(value)) yield* this.#writeList(value);
    else if (isJsonObject(value)) yield* this.#writeObject(value);
  }

  bytes(): Buffer {
    const last = Buffer.from(this.#text);
    return this.#chunks.length === 0 ? last : Buffer.concat([...this.#chunks, last]);
  }

  *#writeList(list: readonly Json[]): Generator<undefined, void, undefined> {
    let before = '[';
    for (const element of list) {
      const plain = plainText(element);
      this.#text += plain === undefined ? before : before + plain;
      if (plain === undefined) yield* this.write(element);
      if (this.#isTurnOver()) yield;
      before = ',';
    }
    this.#text += list.length === 0 ? '[]' : ']';
  }

  *#writeObject(object: JsonObject): Generator<undefined, void, undefined> {
    let before = '{';
    for (const name in object) {
      const member = object[name];
      if (member === undefined) continue;
      const plain = plainText(member);
      this.#text += `${before}${JSON.stringify(name)}:${plain ?? ''}`;
      if (plain === undefined) yield* this.write(member);
      if (this.#isTurnOver()) yield;
      before = ',';
    }
    this.#text += before === '{' ? '{}' : '}';
  }

  #isTurnOver(): boolean {
    if (this.#text.length < charactersPerTurn) return false;
    this.#chunks.push(Buffer.from(this.#text));
    this.#text = '';
    return true;
  }
}

/** Of a value that holds no others, or numbers alone; undefined for the rest. */
function plainText(value: Json): string | undefined {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  return value instanceof JsonNumber || value instanceof JsonNumbers ? value.source : undefined;
}
