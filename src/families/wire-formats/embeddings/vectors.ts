/** Validates one vector in any notation, and converts it to the requested format. */

import { Unfit } from '../../../core/translation.ts';
import { areFinite, bytesPerFloat, floatsIn, floatsToBytes } from '../../../lib/float-bytes.ts';
import { isJsonList, type Json, JsonNumbers } from '../../../lib/json/json-text.ts';

/** Converts the numbers of a vector; returns undefined where the upstream's own numbers stay. */
export type Adapt = (values: readonly number[]) => readonly number[] | undefined;

/** The number of a vector's elements; for base64 by its decoded bytes. Throws where it is no list of numbers, or holds an invalid one. */
export function widthOf(vector: Json, index: number): number {
  if (vector instanceof JsonNumbers) {
    if (mayOverflow(vector.source) && !vector.values().every(Number.isFinite)) throw noNumber(index);
    return vector.length;
  }
  if (typeof vector !== 'string') {
    const what = isJsonList(vector) && vector.length > 0 ? 'something other than numbers' : 'no numbers';
    throw new Unfit(`the vector of input ${index} holds ${what}`);
  }
  const bytes = Buffer.from(vector, 'base64');
  // Other readers would decode base64 differently if it is truncated, badly padded or of another alphabet.
  if (bytes.length === 0 || bytes.length % bytesPerFloat !== 0 || bytes.toString('base64') !== vector) {
    throw new Unfit(`the vector of input ${index} is no base64 of 32-bit floats`);
  }
  if (!areFinite(bytes)) throw noNumber(index);
  return bytes.length / bytesPerFloat;
}

/** Converts a vector, which must have passed `widthOf`, to the requested format; unchanged where possible. */
export function inFormat(vector: Json, format: VectorFormat, adapt?: Adapt): Json {
  const isInFormat = (typeof vector === 'string') === (format === 'base64');
  if (isInFormat && adapt === undefined) return vector;
  const values = valuesOf(vector);
  const adapted = adapt?.(values);
  if (isInFormat && adapted === undefined) return vector;
  return format === 'base64' ? toBase64(adapted ?? values) : toNumbers(adapted ?? values);
}

function valuesOf(vector: Json): readonly number[] {
  if (vector instanceof JsonNumbers) return vector.values();
  return typeof vector === 'string' ? floatsIn(vector) : [];
}

/** Numbers shorter than this fit a double: the largest has 309 digits, and a short exponent stands for nine of them. */
const shortNumber = 290;

/** Whether a number may exceed a double: none does without a positive exponent or very many digits. */
function mayOverflow(source: string): boolean {
  return raises(source, 'e') || raises(source, 'E') || holdsLongNumber(source);
}

/** Whether a number has an exponent that is not negative; most small numbers have a negative one. */
function raises(source: string, letter: 'e' | 'E'): boolean {
  let at = source.indexOf(letter);
  while (at !== -1 && source[at + 1] === '-') at = source.indexOf(letter, at + 1);
  return at !== -1;
}

/** Whether a list holds a very long number, found by looking for commas at this distance. */
function holdsLongNumber(source: string): boolean {
  let start = 0;
  while (source.length - start > shortNumber) {
    const comma = source.lastIndexOf(',', start + shortNumber);
    if (comma <= start) return true;
    start = comma;
  }
  return false;
}

function noNumber(index: number): Unfit {
  return new Unfit(`the vector of input ${index} holds something that is no number`);
}

function toBase64(values: readonly number[]): string {
  const bytes = floatsToBytes(values);
  if (!areFinite(bytes)) throw new Unfit('a vector holds a number that no 32-bit float can be');
  return bytes.toString('base64');
}

/** Writes each number so that reading it gives the same bits, including negative zero, which JavaScript writes as 0. */
function toNumbers(values: readonly number[]): JsonNumbers {
  const hasNegativeZero = values.some((value) => Object.is(value, -0));
  const spelled = hasNegativeZero ? values.map((value) => (Object.is(value, -0) ? '-0' : value)) : values;
  return new JsonNumbers(`[${spelled.join(',')}]`, values.length);
}

export type VectorFormat = 'float' | 'base64';

const formats: ReadonlyMap<string, VectorFormat> = new Map([
  ['base64', 'base64'],
  ['float', 'float'],
  ['floats', 'float'],
  ['float32', 'float'],
]);
const ofNone = new Set(['', 'none', 'auto', 'default']);

/** Reads `encoding_format`, in any letter case: `none` where it expresses no preference; undefined for an unknown value. */
export function formatSaid(written: Json): VectorFormat | 'none' | undefined {
  if (typeof written !== 'string') return undefined;
  const folded = written.toLowerCase();
  return ofNone.has(folded) ? 'none' : formats.get(folded);
}
