/** What clients that were written for another service read of an error, beside the one that every client gets. */

import type { RerankShape } from './translation.ts';

/** What it is called there. */
export const errorMember: Readonly<Record<RerankShape, 'detail' | 'message'>> = {
  voyage: 'detail',
  jina: 'detail',
  cohere: 'message',
  tei: 'message',
};

export function besideError(shape: RerankShape | undefined, message: string): Readonly<Record<string, string>> {
  return shape === undefined ? {} : { [errorMember[shape]]: message };
}
