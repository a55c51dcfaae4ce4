/** Checks the token counts that an upstream reported against the gateway's estimate, and drops those that are impossible. */

import type { Usage } from './accounting/usage.ts';
import type { Exchange } from './exchange.ts';

/** Upper bound for the average length of a token in any tokenizer, in bytes of JSON. */
const mostBytesPerToken = 16;
const likelyBytesPerToken = 4;
/** A count up to this many times the estimate of one prompt (or choice) may be the count of that one alone, not of all. */
const slack = 1.5;

/** Token counts to bill by; null where the upstream counted nothing, or something impossible. */
interface Believable {
  readonly inputTokens: number | null;
  readonly outputTokens: number | null;
}

/** Whether the upstream is configured as one that counts characters in place of tokens. */
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

/** Whether the count is too low to be true: each prompt has at least one token, unless its text is empty. */
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

/** The input tokens; derived from the sum where the upstream reports only the sum of input and output. */
function inputTokensIn({ promptTokens, totalTokens, completionTokens }: Usage): number | null {
  if (promptTokens !== null || totalTokens === null) return promptTokens;
  return Math.max(totalTokens - (completionTokens ?? 0), 0);
}

/** The output tokens. Some upstreams count reasoning tokens in the sum only; nothing but input and output is in the sum. */
function outputTokensIn(
  { promptTokens, totalTokens, completionTokens }: Usage,
  mayHaveThought: boolean,
): number | null {
  if (totalTokens === null) return completionTokens;
  const beyond = promptTokens === null ? 0 : Math.max(totalTokens - promptTokens, 0);
  if (completionTokens === null) return beyond;
  return mayHaveThought ? Math.max(completionTokens, beyond) : completionTokens;
}
