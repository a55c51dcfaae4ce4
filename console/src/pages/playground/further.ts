/** Fields that the page has no field for, written as JSON. */

import { isMapping } from '../../parts/forms/is-mapping.ts';

/** A sentence where it is no object. */
export function parseFurther(text: string): Readonly<Record<string, unknown>> | string {
  if (text.trim() === '') return {};
  try {
    const value: unknown = JSON.parse(text);
    return isMapping(value) ? value : 'Write an object: {"seed": 7}.';
  } catch {
    return 'This is not JSON yet.';
  }
}
