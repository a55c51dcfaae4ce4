/** Reads fields of an upstream's response, and throws `Unfit` with what is missing. */

import { Unfit } from '../../core/translation.ts';
import {
  isJsonList,
  isJsonObject,
  type Json,
  JsonNumbers,
  type JsonObject,
  numberOf,
} from '../../lib/json/json-text.ts';
import { headerValue } from '../../lib/raw-headers.ts';

export function objectIn(value: Json | undefined, what: string): JsonObject {
  if (isJsonObject(value)) return value;
  throw new Unfit(`${what} is no object`);
}

export function listIn(value: Json | undefined, what: string): readonly Json[] {
  if (isJsonList(value)) return value;
  throw new Unfit(`${what} is no list`);
}

export function textIn(value: Json | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

export function countIn(value: Json | undefined): number | undefined {
  const count = numberOf(value);
  return count !== undefined && Number.isSafeInteger(count) && count >= 0 ? count : undefined;
}

/** A response header (name in lower case) as a whole number from 0; undefined for anything else. */
export function countInHeader(headers: readonly string[], name: string): number | undefined {
  const said = headerValue(headers, name) ?? '';
  return /^\d{1,15}$/.test(said) ? Number(said) : undefined;
}

/** The sum of counts; undefined where one of them is, as a partial sum would mislead. */
export function sumOf(counts: readonly (number | undefined)[]): number | undefined {
  return counts.reduce<number | undefined>(
    (sum, count) => (sum === undefined || count === undefined ? undefined : sum + count),
    0,
  );
}

export function at(value: Json | undefined, ...names: readonly string[]): Json | undefined {
  let found = value;
  for (const name of names) found = isJsonObject(found) ? found[name] : undefined;
  return found;
}

/** Orders a list by each element's index; every index must occur once, and none be missing. */
export function byIndex(list: readonly Json[], name: string, what: string): readonly JsonObject[] {
  const ordered = new Array<JsonObject | undefined>(list.length);
  for (const element of list) {
    const object = objectIn(element, what);
    const index = countIn(object[name]);
    if (index === undefined) throw new Unfit(`${what} has no ${name}`);
    if (index >= list.length) throw new Unfit(`${what} has the ${name} ${index}, and there are ${list.length}`);
    if (ordered[index] !== undefined) throw new Unfit(`${name} ${index} stands twice`);
    ordered[index] = object;
  }
  return ordered.filter((object) => object !== undefined);
}

export function isVector(value: Json | undefined): value is JsonNumbers {
  return value instanceof JsonNumbers;
}
