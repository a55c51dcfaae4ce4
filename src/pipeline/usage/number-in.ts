/** What a body says by a field, where nobody may have said something else: a number, or that a stream is wanted. */

import { textOf } from '../../lib/json/json-scan.ts';
import type { Question } from '../question.ts';

/** Undefined where it is not there. Some upstreams read `MAX_TOKENS` too, or take "100" for 100: that might be anything. */
export function numberIn({ body, scan, form }: Question, name: string): number | undefined {
  const field = scan.fields.get(name);
  if (field === undefined) return scan.foldedOnly.includes(name) ? Number.POSITIVE_INFINITY : undefined;
  if (field.kind === 'null') return undefined;
  // Parts of forms are texts, all of them.
  if (form !== undefined && field.kind === 'string') return numberOf(textOf(body, field));
  return field.kind === 'number' ? Number(body.toString('latin1', field.start, field.end)) : Number.POSITIVE_INFINITY;
}

const numberOf = (text: string): number => (/^\d{1,9}$/.test(text) ? Number(text) : Number.POSITIVE_INFINITY);

const LOWER_T = 0x74;

export function isStreamAsked({ body, scan, form }: Question): boolean {
  const field = scan.fields.get('stream');
  if (field === undefined) return false;
  return form === undefined ? body[field.start] === LOWER_T : field.kind === 'string' && textOf(body, field) === 'true';
}
