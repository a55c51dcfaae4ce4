/** What clients may send as text: a string, several, or token IDs in place of either. */

import type { Asked } from '../../core/translation.ts';
import { isJsonList, type Json, JsonNumbers, writeJson } from '../../lib/json/json-text.ts';
import { mostTokenIds, textOfTokens, type Vocabulary, vocabularyOf } from '../../lib/token-ids.ts';
import { isTurnOver, nextTurn, turnIfOver } from '../../lib/turns.ts';

export interface Texts {
  /** In the client's order. What is no text, such as an image, is there as it came. */
  readonly items: readonly Json[];
  /** The client sent one, and not a list. */
  readonly isSingle: boolean;
}

/** The field as texts; token IDs are decoded. */
export async function toTexts(asked: Asked, field: string): Promise<Texts> {
  const value = asked.body[field];
  if (value === undefined) throw asked.refusal(field, `wants "${field}", which is not there`);
  checkTokenCount(asked, field, value);
  if (value instanceof JsonNumbers) return { items: [await decoded(asked, field, value)], isSingle: true };
  if (!isJsonList(value)) return { items: [value], isSingle: true };
  const items: Json[] = [];
  for (const item of value) {
    items.push(item instanceof JsonNumbers ? await decoded(asked, field, item) : item);
    if (item instanceof JsonNumbers) await turnIfOver();
  }
  return { items, isSingle: false };
}

/** Decoding takes its time, which others wait for. */
function checkTokenCount(asked: Asked, field: string, value: Json): void {
  const lists = isJsonList(value) ? value : [value];
  const count = lists.reduce<number>((sum, list) => sum + (list instanceof JsonNumbers ? list.length : 0), 0);
  if (count <= mostTokenIds) return;
  const why = `has a vocabulary of its own, and ${count} token IDs are too many to be decoded for one request`;
  throw asked.refusal(field, why, `send ${mostTokenIds} at most, or text`);
}

/** The same, where the upstream takes nothing but text. */
export async function toPlainTexts(asked: Asked, field: string): Promise<{ texts: string[]; isSingle: boolean }> {
  const { items, isSingle } = await toTexts(asked, field);
  const texts = items.map((item) => {
    if (typeof item === 'string') return item;
    throw asked.refusal(field, 'takes text only');
  });
  return { texts, isSingle };
}

async function decoded(asked: Asked, field: string, tokens: JsonNumbers): Promise<string> {
  const text = asked.tokenIds === 'pass' ? undefined : await textOfTokens(vocabularyFor(asked), tokens.values());
  if (text !== undefined) return text;
  throw asked.refusal(
    field,
    'has a vocabulary of its own, and the token IDs are of none that is known here',
    'send text (LangChain: check_embedding_ctx_length=False), or have the operator name the vocabulary in targets[].token_ids',
  );
}

function vocabularyFor({ tokenIds, publicModel }: Asked): Vocabulary {
  return tokenIds === 'decode' || tokenIds === 'pass' ? vocabularyOf(publicModel) : tokenIds;
}

/** Where texts are calls, alone or a few at a time, one request must not become any number of them. */
export const mostCalls = 2048;

/** Items in a call, at most; or by what is asked. Without, the upstream is the judge. */
export type ItemLimit = number | ((asked: Asked) => number);

export function mostItems(asked: Asked, { maxItems = Number.POSITIVE_INFINITY }: { maxItems?: ItemLimit }): number {
  return typeof maxItems === 'number' ? maxItems : maxItems(asked);
}

/** A limit beside that of their number: what the sizes of a part's items may come to. */
export interface SizeLimit<T> {
  readonly most: number;
  sizeOf(item: T): number;
}

/** In parts of so many at most, in their order; an empty list is one part, and an item that is over a limit is one alone. */
export async function inParts<T>(
  items: readonly T[],
  most: number,
  ...limits: readonly SizeLimit<T>[]
): Promise<(readonly T[])[]> {
  let part: T[] = [];
  const parts = [part];
  let sizes = limits.map(() => 0);
  for (const item of items) {
    const own = limits.map(({ sizeOf }) => sizeOf(item));
    const isOver = limits.some((limit, index) => (sizes[index] ?? 0) + (own[index] ?? 0) > limit.most);
    if (part.length > 0 && (part.length >= most || isOver)) {
      part = [];
      parts.push(part);
      sizes = own;
    } else {
      sizes = own.map((size, index) => (sizes[index] ?? 0) + size);
    }
    part.push(item);
    if (limits.length > 0 && isTurnOver()) await nextTurn();
  }
  return parts;
}

/** Refuses what would be more calls than that. */
export function checkCalls(asked: Asked, field: string, calls: number): void {
  if (calls <= mostCalls) return;
  const why = `would be asked in ${calls} calls for it, and one request may become ${mostCalls}`;
  throw asked.refusal(field, why, 'send it in smaller requests');
}

/** As JSON, where that is no more than `most`: what is longer is not written to count it. */
export function bytesOf(item: Json, most: number): number {
  const leastBytes = typeof item === 'string' ? Buffer.byteLength(item) + 2 : 0;
  return leastBytes > most ? leastBytes : writeJson(item).length;
}

/** Rarely fewer tokens than it has: one for three bytes. */
export function tokensAtMost(item: Json): number {
  if (item instanceof JsonNumbers) return item.length;
  return typeof item === 'string' ? Math.ceil(Buffer.byteLength(item) / 3) : 1;
}
