/** Parses a response in an upstream's own wire format as one JSON document. */

import type { Buffer } from 'node:buffer';
import { Unfit } from '../../core/translation.ts';
import { type Json, JsonTextError, parseJsonSliced } from '../../lib/json/json-text.ts';
import { whatIsNoJson } from '../../lib/json/no-json.ts';

/** Returns an error with a message where it is no JSON. */
export async function toDocument(bytes: Buffer): Promise<Json | Unfit> {
  try {
    return await parseJsonSliced(bytes);
  } catch (error) {
    if (!(error instanceof JsonTextError)) throw error;
    return new Unfit(whatIsNoJson(bytes, error.message));
  }
}
