/** Represents JSON values so that numbers keep all their digits. */

export type Json = null | boolean | number | string | JsonNumber | JsonNumbers | readonly Json[] | JsonObject;

export interface JsonObject {
  readonly [name: string]: Json | undefined;
}

/** A number as written: `1.0`, `1e3` and twenty digits are kept. */
export class JsonNumber {
  readonly source: string;

  constructor(source: string) {
    this.source = source;
  }

  get value(): number {
    return Number(this.source);
  }
}

/** A list of one or more numbers and nothing else, such as a vector: not parsed until its values are used. */
export class JsonNumbers {
  readonly source: string;
  readonly length: number;

  constructor(source: string, length: number) {
    this.source = source;
    this.length = length;
  }

  values(): number[] {
    return JSON.parse(this.source);
  }
}

export function isJsonObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !isList(value) && !isNumeric(value);
}

/** Whether a value is a list of any kind; a list of numbers stays unparsed. */
export function isJsonList(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value);
}

/** The value of a number in either representation; undefined for anything else. */
export function numberOf(value: Json | undefined): number | undefined {
  if (value instanceof JsonNumber) return value.value;
  return typeof value === 'number' ? value : undefined;
}

const isList = (value: object): value is readonly Json[] => Array.isArray(value);
const isNumeric = (value: object): value is JsonNumber | JsonNumbers =>
  value instanceof JsonNumber || value instanceof JsonNumbers;
