/** Parses an upstream's answer in its own wire format as one JSON document. */

import type { Buffer } from 'node:buffer';
import { Unfit } from '../../core/translation.ts';
import { type Json, JsonTextError, parseJsonInTurns } from '../../lib/json/json-text.ts';

/** What is none is told in words. */
export async function toDocument(bytes: Buffer): Promise<Json | Unfit> {
  try {
    return await parseJsonInTurns(bytes);
  } catch (error) {
    if (!(error instanceof JsonTextError)) throw error;
    const start = bytes.toString('latin1', 0, 200).trimStart();
    if (start === '') return new Unfit('its body is empty');
    return new Unfit(start.startsWith('<') ? 'a page came instead of JSON' : `its body is no JSON: ${error.message}`);
  }
}
