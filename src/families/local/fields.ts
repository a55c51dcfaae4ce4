/** Reads the fields of a request body. `null` counts as absent; a value of the wrong kind is refused by name. */

import { Refusal } from './refusal.ts';

export type Fields = Readonly<Record<string, unknown>>;

export function readFlag(fields: Fields, name: string): boolean {
  const value = fields[name] ?? false;
  if (typeof value === 'boolean') return value;
  throw new Refusal('invalid_type', name, `"${name}" must be true or false, not ${kindOf(value)}; change it.`);
}

export function readInteger(
  fields: Fields,
  name: string,
  { min, max = Number.MAX_SAFE_INTEGER, absent }: { min: number; max?: number; absent: number },
): number {
  const value = fields[name] ?? absent;
  if (typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max) return value;
  const range = max === Number.MAX_SAFE_INTEGER ? `of at least ${min}` : `from ${min} to ${max}`;
  const sent = typeof value === 'number' ? String(value) : kindOf(value);
  throw new Refusal(
    typeof value === 'number' ? 'invalid_value' : 'invalid_type',
    name,
    `"${name}" must be a whole number ${range}, not ${sent}; change it or leave it out.`,
  );
}

/** A text, or an object that holds one as `text`. */
export function readText(value: unknown, param: string): string {
  if (typeof value === 'string') return value;
  if (isTextObject(value)) return value.text;
  throw new Refusal(
    'invalid_type',
    param,
    `"${param}" must be a text or {"text": "..."}, not ${kindOf(value)}; this model reads text only.`,
  );
}

/** The field's value, which must be there. */
export function readRequired(fields: Fields, name: string, wanted: string): unknown {
  const value = fields[name] ?? undefined;
  if (value !== undefined) return value;
  throw new Refusal('missing_required_parameter', name, `"${name}" is missing; send ${wanted}.`);
}

/** The field's list, or its one value as a list of one, within the limit. */
export function readList(fields: Fields, name: string, wanted: string, maxItems: number): readonly unknown[] {
  const value = readRequired(fields, name, wanted);
  const list: readonly unknown[] = Array.isArray(value) ? value : [value];
  if (list.length <= maxItems) return list;
  throw new Refusal(
    'array_above_max_length',
    name,
    `"${name}" has ${list.length} items, and this model takes at most ${maxItems} a request; split it.`,
  );
}

/** The same, every item of it a text. */
export function readTexts(fields: Fields, name: string, wanted: string, maxItems: number): readonly string[] {
  const single = !Array.isArray(fields[name]);
  const list = readList(fields, name, wanted, maxItems);
  return list.map((item, index) => readText(item, single ? name : `${name}[${index}]`));
}

/** Token ids mean nothing to a model that reads text, whether one list of them or a list of lists. */
export function refuseTokens(value: unknown, param: string, mend: string): void {
  if (!Array.isArray(value) || !value.some((item) => typeof item === 'number' || Array.isArray(item))) return;
  throw new Refusal('invalid_type', param, `"${param}" holds token ids, and this model reads text; ${mend}.`);
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  switch (typeof value) {
    case 'string':
      return 'a text';
    case 'object':
      return 'an object';
    default:
      return `a ${typeof value}`;
  }
}

function isTextObject(value: unknown): value is { text: string } {
  return typeof value === 'object' && value !== null && 'text' in value && typeof value.text === 'string';
}
