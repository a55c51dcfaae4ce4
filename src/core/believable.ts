/** Checks an upstream's usage against the gateway's estimate: a lower count may be right, an impossible one is dropped. */

import type { Usage } from './accounting/usage.ts';
import type { Exchange } from './exchange.ts';

/** No tokenizer's tokens are longer on average, measured as JSON. */
const mostBytesPerToken = 16;
const likelyBytesPerToken = 4;
/** How far above its estimate the count of one prompt or choice may be, and still be the count of a single one. */
const slack = 1.5;

/** Null where it was not counted, or is impossible. */
interface Believable {
  readonly inputTokens: number | null;
  readonly outputTokens: number | null;
}

/** Whether the upstream's service counts characters in place of tokens, by its options. */
export const countsCharacters = (options: Readonly<Record<string, string>> | undefined): boolean =>
  options?.usage_unit === 'characters';

export function believableIn({ usage, estimate, target, written, route }: Exchange): Believable {
  if (usage === null) return { inputTokens: null, outputTokens: null };
  const { family, options } = target?.upstream ?? {};
  if (countsCharacters(options)) return { inputTokens: null, outputTokens: null };
  const input = inputTokensIn(usage);
  const output = outputTokensIn(usage, route?.row.yields === 'text');
  const countsOne = family?.countsOneChoice === true && route?.operation === 'completions';
  const isInputWrong = input !== null && estimate !== undefined && isTooFewOf(estimate, input, countsOne);
  const isOutputWrong = output !== null && written !== undefined && isTooFewFor(written, output, countsOne);
  return { inputTokens: isInputWrong ? null : input, outputTokens: isOutputWrong ? null : output };
}

/** Each prompt has at least one token; a list of empty texts may have none. */
function isTooFewOf(
  { items, images, likelyInputTokens }: NonNullable<Exchange['estimate']>,
  tokens: number,
  countsOne: boolean,
): boolean {
  if (images > 0 || likelyInputTokens < items) return false;
  return tokens < items || (countsOne && items > 1 && tokens <= (likelyInputTokens / items) * slack);
}

function isTooFewFor(
  { choices, bytes }: NonNullable<Exchange['written']>,
  tokens: number,
  countsOne: boolean,
): boolean {
  if (tokens < choices) return true;
  if (choices < 2) return false;
  return tokens < bytes / mostBytesPerToken || (countsOne && tokens <= (bytes / likelyBytesPerToken / choices) * slack);
}

/** Some report only the sum of both. */
function inputTokensIn({ promptTokens, totalTokens, completionTokens }: Usage): number | null {
  if (promptTokens !== null || totalTokens === null) return promptTokens;
  return Math.max(totalTokens - (completionTokens ?? 0), 0);
}

/** Some count reasoning tokens in the sum only, and not in the output; nothing else is in the sum that is not input. */
function outputTokensIn(
  { promptTokens, totalTokens, completionTokens }: Usage,
  mayHaveThought: boolean,
): number | null {
  if (totalTokens === null) return completionTokens;
  const beyond = promptTokens === null ? 0 : Math.max(totalTokens - promptTokens, 0);
  if (completionTokens === null) return beyond;
  return mayHaveThought ? Math.max(completionTokens, beyond) : completionTokens;
}
