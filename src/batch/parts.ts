/** Divides a list of items into calls that a target accepts. */

import type { Buffer } from 'node:buffer';
import type { ListLimits } from '../core/translation.ts';
import { COMMA, OPEN_BRACKET, QUOTE } from '../lib/json/json-tokens.ts';

/** Bytes that count as one token: few, so that estimates are rather too high. */
const bytesPerToken = 3;

export const tokensAtMost = (bytes: number): number => Math.ceil(bytes / bytesPerToken);

/** The number of tokens in an item: token IDs are counted, those of a text estimated without its quotes. */
function tokensOf(item: Buffer): number {
  if (item[0] !== OPEN_BRACKET) return tokensAtMost(item[0] === QUOTE ? item.length - 2 : item.length);
  let commas = 0;
  for (const byte of item) if (byte === COMMA) commas += 1;
  return commas + 1;
}

/** An item's weight when a count is divided: its number of token IDs, else the bytes of its text without quotes. */
export function weightOf(item: Buffer): number {
  return item[0] === OPEN_BRACKET ? tokensOf(item) : Math.max(1, item.length - 2);
}

/** Whether an item alone exceeds a target's limits, by its bytes or its number of token IDs; the tokens of a text are never certain. */
export function isTooLong(item: Buffer, { bytes = Number.POSITIVE_INFINITY, tokens }: ListLimits): boolean {
  if (item.length > bytes) return true;
  return tokens !== undefined && item[0] === OPEN_BRACKET && tokensOf(item) > tokens;
}

export function fits(items: readonly Buffer[], limits: ListLimits, besideTokens = 0): boolean {
  const { items: most, tokens, bytes } = limits;
  if (most === undefined && tokens === undefined && bytes === undefined) return true;
  const parts = inParts(items, (item) => item, limits, besideTokens);
  parts.next();
  return parts.next().done === true;
}

/** The items in order, in parts as large as the limits permit. An item too long is a part of its own. `besideTokens` count with each item. */
export function* inParts<T>(
  items: readonly T[],
  bytesOf: (item: T) => Buffer,
  {
    items: most = Number.POSITIVE_INFINITY,
    tokens: mostTokens = Number.POSITIVE_INFINITY,
    bytes: mostBytes = Number.POSITIVE_INFINITY,
  }: ListLimits,
  besideTokens = 0,
): Generator<readonly T[], void, undefined> {
  let part: T[] = [];
  let bytes = 0;
  let tokens = 0;
  for (const item of items) {
    const itself = bytesOf(item);
    const ownBytes = itself.length + 1;
    const ownTokens = tokensOf(itself) + besideTokens;
    const isFull = part.length >= most || bytes + ownBytes > mostBytes || tokens + ownTokens > mostTokens;
    if (part.length > 0 && isFull) {
      yield part;
      part = [];
      bytes = 0;
      tokens = 0;
    }
    part.push(item);
    bytes += ownBytes;
    tokens += ownTokens;
  }
  if (part.length > 0) yield part;
}
