/** Reads a number or flag of a body, if the field has only one spelling there. */

import { isMapping } from '../../lib/is-mapping.ts';
import { textOf } from '../../lib/json/json-scan.ts';
import { LOWER_T } from '../../lib/json/json-tokens.ts';
import type { Question } from '../question.ts';

/** The field's number; undefined where it is absent. Infinite where upstreams may read another value, such as `MAX_TOKENS`, or "100" as 100. */
export function numberIn(question: Question, name: string): number | undefined {
  const { body, scan, form } = question;
  const [outer = '', inner] = name.split('.');
  if (inner !== undefined) return numberWithin(question, outer, inner);
  const field = scan.fields.get(name);
  if (field === undefined) return scan.foldedOnly.includes(name) ? Number.POSITIVE_INFINITY : undefined;
  if (field.kind === 'null') return undefined;
  // All parts of forms are texts.
  if (form !== undefined && field.kind === 'string') return numberOf(textOf(body, field));
  return field.kind === 'number' ? Number(body.toString('latin1', field.start, field.end)) : Number.POSITIVE_INFINITY;
}

/** Longer settings are not parsed: their numbers are then unknown. */
const longestSettingsBytes = 64 * 1024;

function numberWithin({ body, scan }: Question, outer: string, inner: string): number | undefined {
  const field = scan.fields.get(outer);
  if (field === undefined) return scan.foldedOnly.includes(outer) ? Number.POSITIVE_INFINITY : undefined;
  if (field.kind === 'null') return undefined;
  if (field.end - field.start > longestSettingsBytes) return Number.POSITIVE_INFINITY;
  const settings: unknown = JSON.parse(body.toString('utf8', field.start, field.end));
  const value = isMapping(settings) ? settings[inner] : undefined;
  if (value === undefined || value === null) return undefined;
  return typeof value === 'number' ? value : Number.POSITIVE_INFINITY;
}

const numberOf = (text: string): number => (/^\d{1,9}$/.test(text) ? Number(text) : Number.POSITIVE_INFINITY);

export function isStreamAsked({ body, scan, form }: Question): boolean {
  const field = scan.fields.get('stream');
  if (field === undefined) return false;
  return form === undefined ? body[field.start] === LOWER_T : field.kind === 'string' && textOf(body, field) === 'true';
}
