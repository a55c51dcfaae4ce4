/** Reads token usage from responses: plausible counts only, summed over calls. */

import type { Usage } from '../../core/accounting/usage.ts';
import {
  isJsonList,
  isJsonObject,
  type Json,
  JsonNumber,
  JsonNumbers,
  type JsonObject,
} from '../../lib/json/json-text.ts';
import { countIn } from './reading.ts';

const countNames = ['prompt_tokens', 'completion_tokens', 'total_tokens'] as const;

const isSaid = (value: Json | undefined): boolean => value !== undefined && value !== null;

/** The usage without invalid extra numbers. Undefined where a count itself is invalid: then none is reliable. */
export function soundUsage(usage: Json | undefined): JsonObject | undefined {
  if (!isJsonObject(usage)) return undefined;
  const isOdd = countNames.some((name) => isSaid(usage[name]) && countIn(usage[name]) === undefined);
  return isOdd ? undefined : withoutOddNumbers(usage);
}

function withoutOddNumbers(object: JsonObject): JsonObject {
  const sound: Record<string, Json> = Object.create(null);
  for (const [name, value] of Object.entries(object)) {
    if (isJsonObject(value)) sound[name] = withoutOddNumbers(value);
    else if (value !== undefined && isSound(value)) sound[name] = value;
  }
  return sound;
}

function isSound(value: Json): boolean {
  if (value instanceof JsonNumber) return isAmount(value.value);
  if (value instanceof JsonNumbers) return value.values().every(isAmount);
  if (isJsonList(value)) return value.every(isSound);
  return !isJsonObject(value) || Object.values(value).every((member) => member === undefined || isSound(member));
}

const isAmount = (value: number): boolean => Number.isFinite(value) && value >= 0;

/** The usage of one answer, or the sum over several. Undefined where one has none, or other fields than the others. */
export function sumOfUsage(usages: readonly (Json | undefined)[]): JsonObject | undefined {
  const said = usages.map(soundUsage).filter((usage) => usage !== undefined);
  if (said.length < usages.length) return undefined;
  // A count that only some answers report would be missing from the sum unnoticed.
  const isPartial = countNames.some((name) => {
    const count = said.filter((usage) => isSaid(usage[name])).length;
    return count > 0 && count < said.length;
  });
  return isPartial ? undefined : sumOfObjects(said);
}

function sumOfObjects([first, ...others]: readonly JsonObject[]): JsonObject | undefined {
  if (first === undefined || others.length === 0) return first;
  const sum: Record<string, Json> = Object.create(null);
  for (const name of Object.keys(first)) {
    const total = sumOfValues([first, ...others].map((usage) => usage[name]));
    if (total !== undefined) sum[name] = total;
  }
  return sum;
}

function sumOfValues(values: readonly (Json | undefined)[]): Json | undefined {
  if (values.every((value) => isJsonObject(value))) return sumOfObjects(values);
  const counts = values.flatMap((value) => countIn(value) ?? []);
  return counts.length === values.length ? counts.reduce((sum, count) => sum + count, 0) : undefined;
}

/** Converts usage for the exchange's record; null where nothing was counted. */
export function toUsage(usage: JsonObject): Usage | null {
  const [promptTokens = null, completionTokens = null, totalTokens = null] = countNames.map((name) =>
    countIn(usage[name]),
  );
  const isNothing = promptTokens === null && completionTokens === null && totalTokens === null;
  if (isNothing) return null;
  const cachedTokens = cachedIn(usage);
  const counts = { promptTokens, completionTokens, totalTokens, searchUnits: null };
  return cachedTokens === undefined ? counts : { ...counts, cachedTokens };
}

function cachedIn({ prompt_tokens_details: details, prompt_cache_hit_tokens: hits }: JsonObject): number | undefined {
  return countIn(isJsonObject(details) ? details.cached_tokens : undefined) ?? countIn(hits);
}

export const usageOf = (prompt: number, completion: number, total = prompt + completion): JsonObject => ({
  prompt_tokens: prompt,
  completion_tokens: completion,
  total_tokens: total,
});
