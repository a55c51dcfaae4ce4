/** Reads the fields of a request body for local models, and refuses invalid ones by name in OpenAI's format. `null` counts as absent. */

import {
  isJsonList,
  isJsonObject,
  type Json,
  JsonNumber,
  JsonNumbers,
  type JsonObject,
  numberOf,
} from '../../lib/json/json-text.ts';

export type Fields = JsonObject;

/** Reads a boolean. `mayBeText`: accepts "true" and "false" as text, which some clients write. */
export function readFlag(fields: Fields, name: string, { mayBeText = false } = {}): boolean {
  const value = fields[name] ?? false;
  if (mayBeText && typeof value === 'string' && /^(?:true|false)$/i.test(value)) return value.toLowerCase() === 'true';
  if (typeof value === 'boolean') return value;
  throw new Refusal('invalid_type', name, `"${name}" must be true or false, not ${kindOf(value)}; change it.`);
}

export function readInteger(
  fields: Fields,
  name: string,
  { min, max = Number.MAX_SAFE_INTEGER, absent }: { min: number; max?: number; absent: number },
): number {
  const value = numberOf(fields[name] ?? absent);
  if (value !== undefined && Number.isInteger(value) && value >= min && value <= max) return value;
  const range = max === Number.MAX_SAFE_INTEGER ? `of at least ${min}` : `from ${min} to ${max}`;
  const sent = value === undefined ? kindOf(fields[name]) : String(value);
  throw new Refusal(
    value === undefined ? 'invalid_type' : 'invalid_value',
    name,
    `"${name}" must be a whole number ${range}, not ${sent}; change it or leave it out.`,
  );
}

export function readText(value: Json, param: string): string {
  if (typeof value === 'string') return value;
  if (isJsonObject(value) && typeof value.text === 'string') return value.text;
  throw new Refusal(
    'invalid_type',
    param,
    `"${param}" must be a text or {"text": "..."}, not ${kindOf(value)}; this model reads text only.`,
  );
}

export function readRequired(fields: Fields, name: string, wanted: string): Json {
  const value = fields[name];
  if (value !== undefined && value !== null) return value;
  throw new Refusal('missing_required_parameter', name, `"${name}" is missing; send ${wanted}.`);
}

/** Reads a list within the limit; a single value becomes a list of one. */
export function readList(fields: Fields, name: string, wanted: string, maxItems: number): readonly Json[] {
  const value = readRequired(fields, name, wanted);
  const list = listOf(value);
  const { length } = value instanceof JsonNumbers ? value : list;
  if (length <= maxItems) return list;
  throw new Refusal(
    'array_above_max_length',
    name,
    `"${name}" has ${length} items, and this model takes at most ${maxItems} a request; split it.`,
  );
}

function listOf(value: Json): readonly Json[] {
  if (isJsonList(value)) return value;
  // No caller reads numbers, so the first one stands for all.
  return [value instanceof JsonNumbers ? new JsonNumber('0') : value];
}

export function readTexts(fields: Fields, name: string, wanted: string, maxItems: number): readonly string[] {
  const single = !isList(fields[name]);
  const list = readList(fields, name, wanted, maxItems);
  return list.map((item, index) => readText(item, single ? name : `${name}[${index}]`));
}

/** Refuses token IDs, given as one list or a list of lists: local models read text. */
export function refuseTokens(value: Json | undefined, param: string, fix: string): void {
  const isOfTokens = isJsonList(value) && value.some((item) => item instanceof JsonNumber || isList(item));
  if (!(isOfTokens || value instanceof JsonNumbers)) return;
  throw new Refusal('invalid_type', param, `"${param}" holds token ids, and this model reads text; ${fix}.`);
}

const isList = (value: Json | undefined): boolean => isJsonList(value) || value instanceof JsonNumbers;

function kindOf(value: Json | undefined): string {
  if (value === null) return 'null';
  if (isList(value)) return 'a list';
  if (value instanceof JsonNumber) return 'a number';
  if (typeof value === 'string') return 'a text';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

export type RefusalCode =
  | 'invalid_json'
  | 'body_too_large'
  | 'missing_required_parameter'
  | 'invalid_type'
  | 'invalid_value'
  | 'array_above_max_length'
  | 'string_above_max_length';

export class Refusal extends Error {
  readonly code: RefusalCode;
  readonly param: string | null;

  constructor(code: RefusalCode, param: string | null, message: string) {
    super(message);
    this.name = 'Refusal';
    this.code = code;
    this.param = param;
  }
}
