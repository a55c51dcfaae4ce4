/** Reads the service tier, speed and region from a request and from its response. */

import { Buffer } from 'node:buffer';
import type { Terms } from '../../core/accounting/price.ts';
import type { Usage } from '../../core/accounting/usage.ts';
import { compileWatchedKeys, scanJson, scanJsonHead, textOf } from '../../lib/json/json-scan.ts';
import { BACKSLASH, LINE_FEED } from '../../lib/json/json-tokens.ts';
import type { Question } from '../question.ts';
import type { Excerpt } from './excerpt.ts';

/** The request fields with each term; Google has two spellings of one. */
const asked: readonly (readonly [keyof Terms, readonly string[]])[] = [
  ['serviceTier', ['service_tier', 'serviceTier']],
  ['speed', ['speed']],
  ['inferenceGeo', ['inference_geo']],
];
/** Stands for a value that upstreams may interpret in any way. */
const anything = '?';

export function termsIn({ body, scan }: Question): Terms | undefined {
  let terms: Terms | undefined;
  for (const [name, fields] of asked) {
    for (const field of fields) {
      const found = scan.fields.get(field);
      if (found === undefined && !scan.foldedOnly.includes(field)) continue;
      if (found?.kind === 'null') continue;
      const isAgain = terms?.[name] !== undefined;
      const word = found?.kind === 'string' && !isAgain ? textOf(body, found) : anything;
      terms = { ...terms, [name]: word };
    }
  }
  return terms;
}

const key = Buffer.from('"service_tier"');
const watched = compileWatchedKeys(['service_tier', 'response']);
const openingBrace = Buffer.from('{');
const openingResponse = Buffer.from('{"response":{');
/** Limit of the bytes from a key to the end of its value. */
const longestBytes = 128;

/** Adds to the usage the service tier that the answer reports. `isInResponse`: the tier is inside an object of each event. */
export function withTier(
  usage: Usage | null,
  excerpt: Excerpt,
  isStream: boolean,
  isInResponse: boolean,
): Usage | null {
  if (usage === null) return null;
  const serviceTier = isStream ? tierInEvents(excerpt, isInResponse) : tierInWhole(excerpt);
  return serviceTier === undefined ? usage : { ...usage, units: { ...usage.units, serviceTier } };
}

function tierInWhole(excerpt: Excerpt): string | undefined {
  const tail = excerpt.tail();
  for (const at of offsetsIn(tail)) {
    // From a top-level key on, the text with a brace before it is an object again; from a nested key on it is not.
    const word = wordIn(Buffer.concat([openingBrace, tail.subarray(at)]));
    if (word !== undefined) return word;
  }
  const head = excerpt.head();
  const at = head.indexOf(key);
  if (at === -1) return undefined;
  const start = head.subarray(0, at + longestBytes);
  const field = scanJsonHead(start, watched).get('service_tier');
  return field?.kind === 'string' ? textOf(start, field) : undefined;
}

function tierInEvents(excerpt: Excerpt, isInResponse: boolean): string | undefined {
  const tail = excerpt.tail();
  for (const at of offsetsIn(tail)) {
    const end = tail.indexOf(LINE_FEED, at);
    const behind = tail.subarray(at, end === -1 ? tail.length : end);
    const word = isInResponse ? wordInResponse(behind) : wordIn(Buffer.concat([openingBrace, behind]));
    if (word !== undefined) return word;
  }
  return undefined;
}

function* offsetsIn(tail: Buffer): Generator<number, void, undefined> {
  for (let at = tail.lastIndexOf(key); at > 0; at = tail.lastIndexOf(key, at - 1)) {
    if (tail[at - 1] !== BACKSLASH) yield at;
  }
}

function wordIn(object: Buffer): string | undefined {
  const scan = scanJson(object, watched);
  const field = scan.ok ? scan.fields.get('service_tier') : undefined;
  return field?.kind === 'string' ? textOf(object, field) : undefined;
}

function wordInResponse(behind: Buffer): string | undefined {
  const event = Buffer.concat([openingResponse, behind]);
  const scan = scanJson(event, watched);
  const field = scan.ok ? scan.fields.get('response') : undefined;
  return field === undefined ? undefined : wordIn(event.subarray(field.start, field.end));
}
