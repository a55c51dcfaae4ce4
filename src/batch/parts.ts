/** Splits a list of items into calls that a target accepts. */

import type { Buffer } from 'node:buffer';
import type { ListLimits } from '../core/list-limits.ts';

/** Rarely fewer tokens than there are: one for three bytes. */
const bytesPerToken = 3;

export const tokensAtMost = (bytes: number): number => Math.ceil(bytes / bytesPerToken);

const OPEN_LIST = 0x5b;
const QUOTE = 0x22;
const COMMA = 0x2c;

/** Of an item as it stands in the request: token IDs are counted, and the quotes of a text are not. */
function tokensOf(item: Buffer): number {
  if (item[0] !== OPEN_LIST) return tokensAtMost(item[0] === QUOTE ? item.length - 2 : item.length);
  let commas = 0;
  for (const byte of item) if (byte === COMMA) commas += 1;
  return commas + 1;
}

/** By which a count is shared among items: tokens where they are counted, else the bytes of a text without its quotes. */
export function weightOf(item: Buffer): number {
  return item[0] === OPEN_LIST ? tokensOf(item) : Math.max(1, item.length - 2);
}

/** `besideTokens`: what is read once more with each item. One item alone always fits: what it is for, the upstream says. */
export function fits(items: readonly Buffer[], limits: ListLimits, besideTokens = 0): boolean {
  if (items.length <= 1) return true;
  const { items: most = Number.POSITIVE_INFINITY, tokens: mostTokens, bytes: mostBytes } = limits;
  if (items.length > most) return false;
  if (mostTokens === undefined && mostBytes === undefined) return true;
  let bytes = 0;
  let tokens = 0;
  for (const item of items) {
    bytes += item.length + 1;
    tokens += tokensOf(item) + besideTokens;
  }
  return bytes <= (mostBytes ?? Number.POSITIVE_INFINITY) && tokens <= (mostTokens ?? Number.POSITIVE_INFINITY);
}

/** Whether an item is more than a call may hold by itself: bytes and token IDs are counted, the tokens of a text are an estimate. */
export function isTooLong(item: Buffer, { bytes = Number.POSITIVE_INFINITY, tokens }: ListLimits): boolean {
  if (item.length > bytes) return true;
  return tokens !== undefined && item[0] === OPEN_LIST && tokensOf(item) > tokens;
}

/** In their order, each part as large as it may be. */
export function inParts<T>(
  items: readonly T[],
  bytesOf: (item: T) => Buffer,
  {
    items: most = Number.POSITIVE_INFINITY,
    tokens: mostTokens = Number.POSITIVE_INFINITY,
    bytes: mostBytes = Number.POSITIVE_INFINITY,
  }: ListLimits,
  besideTokens = 0,
): (readonly T[])[] {
  const parts: T[][] = [];
  let part: T[] = [];
  let bytes = 0;
  let tokens = 0;
  for (const item of items) {
    const itself = bytesOf(item);
    const ownBytes = itself.length + 1;
    const ownTokens = tokensOf(itself) + besideTokens;
    const isFull = part.length >= most || bytes + ownBytes > mostBytes || tokens + ownTokens > mostTokens;
    if (part.length > 0 && isFull) {
      parts.push(part);
      part = [];
      bytes = 0;
      tokens = 0;
    }
    part.push(item);
    bytes += ownBytes;
    tokens += ownTokens;
  }
  if (part.length > 0) parts.push(part);
  return parts;
}
