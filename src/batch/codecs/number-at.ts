/** A number of a JSON document, by the place where it stands. */

import type { Buffer } from 'node:buffer';
import type { JsonSpan } from '../../lib/json/json-elements.ts';

/** `NaN` where something else stands there. */
export function numberAt(bytes: Buffer, { start, end }: JsonSpan): number {
  const source = bytes.toString('latin1', start, end);
  return /^[-0-9]/.test(source) ? Number(source) : Number.NaN;
}
