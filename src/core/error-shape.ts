/** Adds fields to error responses that clients of other services' APIs read. */

import type { RerankShape } from './translation.ts';

export const errorMember: Readonly<Record<RerankShape, 'detail' | 'message'>> = {
  voyage: 'detail',
  jina: 'detail',
  cohere: 'message',
  tei: 'message',
};

/** A request header by which Anthropic's clients are recognised, also on paths that other clients use. */
export const anthropicHeader = 'anthropic-version';

/** The format of errors: a client's rerank shape, or Anthropic's on paths of its API. */
export type ErrorShape = RerankShape | 'anthropic';

export function besideError(shape: ErrorShape | undefined, message: string): Readonly<Record<string, string>> {
  if (shape === undefined) return {};
  return shape === 'anthropic' ? { type: 'error' } : { [errorMember[shape]]: message };
}
