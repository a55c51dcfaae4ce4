/** How a client says in which format it wants its vectors. */

import type { Json } from '../../../lib/json/json-text.ts';

export type VectorFormat = 'float' | 'base64';

const formats: ReadonlyMap<string, VectorFormat> = new Map([
  ['base64', 'base64'],
  ['float', 'float'],
  ['floats', 'float'],
  ['float32', 'float'],
]);
const ofNone = new Set(['', 'none', 'auto', 'default']);

/** `none` where it is said that it does not matter; undefined where another format is meant, or nothing that is known. In any letter case, as some take it. */
export function formatSaid(written: Json): VectorFormat | 'none' | undefined {
  if (typeof written !== 'string') return undefined;
  const folded = written.toLowerCase();
  return ofNone.has(folded) ? 'none' : formats.get(folded);
}
