/** Finds Ollama's own count at the end of an answer, whole or in lines. */

import { Buffer } from 'node:buffer';
import type { Usage } from '../../core/accounting/usage.ts';
import { compileWatchedKeys, type JsonObjectScan, scanJson } from '../../lib/json/json-scan.ts';
import type { Excerpt } from '../answers/excerpt.ts';

/** In the order in which they stand; the first is left out where the prompt was in the cache. */
const keys = ['prompt_eval_count', 'eval_count'] as const;
const watched = compileWatchedKeys(keys);
const openingBrace = Buffer.from('{');
const LINE_FEED = 0x0a;
const BACKSLASH = 0x5c;

/** What follows a key at the top of an object is, with a brace before it, an object again; what follows one further down is not. */
export function readLineUsage(excerpt: Excerpt): Usage | null {
  const tail = excerpt.tail();
  for (const key of keys) {
    const quoted = Buffer.from(`"${key}"`);
    for (let at = tail.lastIndexOf(quoted); at > 0; at = tail.lastIndexOf(quoted, at - 1)) {
      if (tail[at - 1] === BACKSLASH) continue;
      const end = tail.indexOf(LINE_FEED, at);
      const object = Buffer.concat([openingBrace, tail.subarray(at, end === -1 ? tail.length : end)]);
      const scan = scanJson(object, watched);
      if (scan.ok) return toUsage(object, scan);
    }
  }
  return null;
}

function toUsage(object: Buffer, scan: JsonObjectScan): Usage {
  const [promptTokens = null, completionTokens = null] = keys.map((key) => countIn(object, scan, key));
  return { promptTokens, completionTokens, totalTokens: null, searchUnits: null };
}

function countIn(object: Buffer, { fields }: JsonObjectScan, key: string): number | null {
  const field = fields.get(key);
  const count = field?.kind === 'number' ? Number(object.toString('latin1', field.start, field.end)) : null;
  return count !== null && Number.isSafeInteger(count) && count >= 0 ? count : null;
}
