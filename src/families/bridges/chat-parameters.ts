/** Converts the parameters of a completion or edit to those of chat: unchanged, renamed or dropped. */

import type { Asked } from '../../core/translation.ts';
import { type Json, type JsonObject, numberOf } from '../../lib/json/json-text.ts';
import { asksForNothing, choicesEach, limitNameFor } from '../wire-formats/completions/completions.ts';
import { hints } from '../wire-formats/parameters.ts';

export interface ChatFacts {
  /** The chat's names for OpenAI's parameters, where they differ. */
  readonly names?: ReadonlyMap<string, string>;
  /** All parameters of the chat beside the messages, where it refuses unknown ones. */
  readonly knows?: readonly string[];
  /** The chat's streams always include usage, and it refuses `stream_options`. */
  readonly countsUnasked?: true;
}

export function isKnown(name: string, { knows }: ChatFacts): boolean {
  return knows === undefined || knows.includes(name);
}

/** Parameters for the chat, without the `handled` ones; unknown ones pass unless the chat refuses them. */
export function chatParameters(asked: Asked, handled: ReadonlySet<string>, facts: ChatFacts): JsonObject {
  const parameters: Record<string, Json> = Object.create(null);
  for (const [name, value] of Object.entries({ ...asked.body, ...limitOf(asked) })) {
    if (value === undefined || handled.has(name) || (facts.countsUnasked && name === 'stream_options')) continue;
    if (name === 'n' && asksForNothing(name, value)) continue; // one is the default, and not every service has the parameter
    const own = facts.names?.get(name) ?? name;
    if (isKnown(own, facts)) parameters[own] = value;
    else if (hints.has(name)) asked.canDoWithout(name);
    else if (!asksForNothing(name, value)) asked.cannot(name);
  }
  return parameters;
}

export function refuseWhatChatLacks(asked: Asked): void {
  const { suffix, best_of: bestOf } = asked.body;
  if (!asksForNothing('suffix', suffix)) asked.cannot('suffix', 'speaks chat, which continues a text and fills no gap');
  if (!asksForNothing('best_of', bestOf) && numberOf(bestOf) !== choicesEach(asked)) {
    asked.cannot('best_of', 'speaks chat, which gives every answer that it makes ("n" asks for several)');
  }
}

/** The limit of output tokens, only if the client sets one: the default of completions, 16 tokens, is too little for a chat. */
function limitOf({ body, model }: Asked): JsonObject {
  const { max_tokens: limit, max_completion_tokens: limitAnew } = body;
  if (limitAnew === undefined && limitNameFor([model]) === 'max_tokens') return {};
  return { max_tokens: undefined, max_completion_tokens: limit ?? limitAnew };
}
