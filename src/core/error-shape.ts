/** Additional error fields for clients of other services' APIs. */

import type { RerankShape } from './translation.ts';

/** What it is called there. */
export const errorMember: Readonly<Record<RerankShape, 'detail' | 'message'>> = {
  voyage: 'detail',
  jina: 'detail',
  cohere: 'message',
  tei: 'message',
};

/** By this header Anthropic's clients are known on paths that they share with others. */
export const anthropicHeader = 'anthropic-version';

/** What clients read: of another service's shape by their own choice, or Anthropic's on its paths. */
export type ErrorShape = RerankShape | 'anthropic';

export function besideError(shape: ErrorShape | undefined, message: string): Readonly<Record<string, string>> {
  if (shape === undefined) return {};
  return shape === 'anthropic' ? { type: 'error' } : { [errorMember[shape]]: message };
}
