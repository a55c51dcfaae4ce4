/** What clients that were written for another service read of an error, beside the one that every client gets. */

import type { RerankShape } from './translation.ts';

const memberOf: Readonly<Record<RerankShape, 'detail' | 'message'>> = {
  voyage: 'detail',
  jina: 'detail',
  cohere: 'message',
  tei: 'message',
};

export function besideError(shape: RerankShape | undefined, message: string): Readonly<Record<string, string>> {
  return shape === undefined ? {} : { [memberOf[shape]]: message };
}
