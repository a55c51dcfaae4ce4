/** A number that a body says, where nobody may have said another one. */

import type { Question } from '../question.ts';

/** Undefined where it is not there. Some upstreams read `MAX_TOKENS` too, or take "100" for 100: that might be anything. */
export function numberIn({ body, scan }: Question, name: string): number | undefined {
  const field = scan.fields.get(name);
  if (field === undefined) return scan.foldedOnly.includes(name) ? Number.POSITIVE_INFINITY : undefined;
  if (field.kind === 'null') return undefined;
  return field.kind === 'number' ? Number(body.toString('latin1', field.start, field.end)) : Number.POSITIVE_INFINITY;
}
