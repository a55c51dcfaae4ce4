/** Reads the text inputs of a request: one string, several, or token IDs, which are decoded. */

import type { Asked } from '../../core/translation.ts';
import { isJsonList, type Json, JsonNumbers } from '../../lib/json/json-text.ts';
import { sliceIfOver } from '../../lib/time-slices.ts';
import { mostTokenIds, textOfTokens, type Vocabulary, vocabularyOf } from '../../lib/token-ids.ts';

export interface Texts {
  /** Inputs in the client's order. Those that are no text, such as images, are unchanged. */
  readonly items: readonly Json[];
  /** The client sent one input, not in a list. */
  readonly isSingle: boolean;
}

export async function toTexts(asked: Asked, field: string): Promise<Texts> {
  const value = asked.body[field];
  if (value === undefined) throw asked.refusal(field, `wants "${field}", which is not there`);
  checkTokenCount(asked, field, value);
  if (value instanceof JsonNumbers) return { items: [await decoded(asked, field, value)], isSingle: true };
  if (!isJsonList(value)) return { items: [value], isSingle: true };
  const items: Json[] = [];
  for (const item of value) {
    items.push(item instanceof JsonNumbers ? await decoded(asked, field, item) : item);
    if (item instanceof JsonNumbers) await sliceIfOver();
  }
  return { items, isSingle: false };
}

/** Refuses too many token IDs: decoding takes time, for which other requests wait. */
function checkTokenCount(asked: Asked, field: string, value: Json): void {
  const lists = isJsonList(value) ? value : [value];
  const count = lists.reduce<number>((sum, list) => sum + (list instanceof JsonNumbers ? list.length : 0), 0);
  if (count <= mostTokenIds) return;
  const why = `has a vocabulary of its own, and ${count} token IDs are too many to be decoded for one request`;
  throw asked.refusal(field, why, `send ${mostTokenIds} at most, or text`);
}

export async function toPlainTexts(asked: Asked, field: string): Promise<Texts> {
  const texts = await toTexts(asked, field);
  if (texts.items.every((item) => typeof item === 'string')) return texts;
  throw asked.refusal(field, 'takes text only');
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

/** Limit of the upstream calls for one request, where each call takes few texts. */
export const mostCalls = 2048;
