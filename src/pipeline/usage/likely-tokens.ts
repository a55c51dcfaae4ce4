/** How many tokens a text likely has that was only seen in part. */

import { Buffer } from 'node:buffer';
import type { Written } from '../../core/accounting/usage.ts';
import { countTokens } from '../../lib/token-count.ts';
import { vocabularyOf } from '../../lib/token-ids.ts';

/** By the vocabulary that goes with the name of the model, from the beginning of the text to all of it. */
export async function likelyTokens({ sample, bytes }: Written, model: string): Promise<number> {
  const tokens = await countTokens(vocabularyOf(model), toText(sample));
  return Math.max(1, Math.round((tokens * bytes) / Math.max(1, sample.length)));
}

/** What is cut in the middle of an escape or a character at its end is as good as whole. */
function toText(sample: string): string {
  const json = Buffer.from(sample, 'latin1').toString('utf8');
  try {
    return String(JSON.parse(`"${json.replace(/\\(?:u[0-9a-fA-F]{0,3})?$/, '')}"`));
  } catch {
    return json; // it is no JSON, and its bytes count as they are
  }
}
