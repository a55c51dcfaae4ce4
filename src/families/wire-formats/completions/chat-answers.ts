/** Parses responses of a chat upstream: text, finish reason and logprobs of each choice. */

import { Unfit } from '../../../core/translation.ts';
import { isJsonList, isJsonObject, type Json, JsonNumber, type JsonObject } from '../../../lib/json/json-text.ts';
import { at, byIndex, listIn, objectIn } from '../reading.ts';

interface ChatChoice {
  readonly text: string;
  readonly finishReason: string | null;
  readonly logprobs: Json | undefined;
}

export interface ChatAnswer {
  readonly choices: readonly ChatChoice[];
  readonly head: JsonObject;
  readonly usage: Json | undefined;
}

export function readChat(body: Json): ChatAnswer {
  const { choices, usage, ...rest } = objectIn(body, 'the answer');
  return {
    choices: byIndex(listIn(choices, 'choices'), 'index', 'a choice').map(readChoice),
    head: chatHead(rest),
    usage,
  };
}

/** The fields beside the choices, with the ID prefix of completions. */
export function chatHead(head: JsonObject): JsonObject {
  const { id } = head;
  return typeof id === 'string' && id !== '' ? { ...head, id: `cmpl-${id.replace(/^(?:chat)?cmpl-/, '')}` } : head;
}

function readChoice(choice: JsonObject): ChatChoice {
  const message = objectIn(choice.message, 'the message of a choice');
  const finishReason = finishReasonIn(choice);
  const isCutShort = finishReason === 'length' || finishReason === 'content_filter';
  const text = textIn(message) ?? (isCutShort ? '' : undefined);
  if (text === undefined) throw noText(message);
  return { text, finishReason: toCompletionReason(finishReason), logprobs: choice.logprobs };
}

export function textIn({ content, refusal }: JsonObject): string | undefined {
  if (typeof content === 'string') return content;
  if (isJsonList(content)) return content.map(textOfPart).join('');
  if (content !== undefined && content !== null) throw new Unfit('the content of a message is no text');
  return typeof refusal === 'string' ? refusal : undefined;
}

/** The text of a message's part; parts of other kinds (reasoning, references) have none. */
function textOfPart(part: Json): string {
  const { type, text } = objectIn(part, 'a part of a message');
  if (type !== 'text') return '';
  if (typeof text !== 'string') throw new Unfit('a part of a message has no text');
  return text;
}

function noText({ tool_calls: calls, function_call: call }: JsonObject): Unfit {
  return isJsonList(calls) || isJsonObject(call) ? toolCalled() : new Unfit('a message has no content');
}

export function toolCalled(): Unfit {
  return new Unfit('the model calls a tool in place of an answer');
}

/** The finish reason; null while the choice continues, which some servers write as the text "null". */
export function finishReasonIn({ finish_reason: reason }: JsonObject): string | null {
  if (reason === undefined || reason === null || reason === '' || reason === 'null') return null;
  if (typeof reason !== 'string') throw new Unfit('the finish_reason of a choice is no text');
  if (reason === 'error') throw new Unfit('a choice ended with an error');
  return reason;
}

const completionReasons: ReadonlyMap<string, string> = new Map([
  ['tool_calls', 'stop'],
  ['function_call', 'stop'],
  ['model_length', 'length'],
]);

/** Converts chat's finish reason: completions know `stop`, `length` and `content_filter`; unknown reasons stay. */
export function toCompletionReason(reason: string | null): string | null {
  return reason === null ? null : (completionReasons.get(reason) ?? reason);
}

/** Converts the log probabilities of one choice to the shape of completions: parallel lists with the offset of each token. */
export class TokenLists {
  #offset = 0;

  /** Converts the logprobs of the next piece; null where it has none. */
  next(logprobs: Json | undefined): JsonObject | null {
    const content = at(logprobs, 'content');
    if (content === undefined || content === null) return null;
    const likelihoods = listIn(content, 'the content of logprobs').map(likelihoodIn);
    const tokens = likelihoods.map(({ token }) => token);
    const offsets: number[] = [];
    for (const token of tokens) {
      offsets.push(this.#offset);
      this.#offset += [...token].length;
    }
    return {
      tokens,
      token_logprobs: likelihoods.map(({ logprob }) => logprob),
      top_logprobs: likelihoods.map(({ top_logprobs: alternatives }) => alternatives),
      text_offset: offsets,
    };
  }
}

interface Likelihood {
  readonly token: string;
  readonly logprob: JsonNumber;
}

/** Reads a token with its alternatives, among which completions also list the chosen token. */
function likelihoodIn(element: Json): Likelihood & { readonly top_logprobs: JsonObject } {
  const chosen = likelihoodOf(element);
  const alternatives: Record<string, Json> = Object.create(null);
  const listed = at(element, 'top_logprobs');
  for (const one of isJsonList(listed) ? listed : []) {
    const { token, logprob } = likelihoodOf(one);
    alternatives[token] ??= logprob;
  }
  alternatives[chosen.token] ??= chosen.logprob;
  return { ...chosen, top_logprobs: alternatives };
}

function likelihoodOf(element: Json): Likelihood {
  const { token, logprob } = objectIn(element, 'an element of logprobs');
  if (typeof token !== 'string') throw new Unfit('an element of logprobs has no token');
  if (!(logprob instanceof JsonNumber && Number.isFinite(logprob.value)))
    throw new Unfit('the logprob of a token is no number');
  return { token, logprob };
}
