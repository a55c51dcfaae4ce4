/** Additional error fields for clients of other services' APIs. */

import type { RerankShape } from './translation.ts';

export const errorMember: Readonly<Record<RerankShape, 'detail' | 'message'>> = {
  voyage: 'detail',
  jina: 'detail',
  cohere: 'message',
  tei: 'message',
};

/** Anthropic's clients send it, also on paths shared with others. */
export const anthropicHeader = 'anthropic-version';

/** The shape of errors: chosen by the client, or Anthropic's on its paths. */
export type ErrorShape = RerankShape | 'anthropic';

export function besideError(shape: ErrorShape | undefined, message: string): Readonly<Record<string, string>> {
  if (shape === undefined) return {};
  return shape === 'anthropic' ? { type: 'error' } : { [errorMember[shape]]: message };
}
