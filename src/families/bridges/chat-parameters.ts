/** Converts request parameters for chat: unchanged, renamed or dropped. */

import type { Asked } from '../../core/translation.ts';
import { type Json, type JsonObject, numberOf } from '../../lib/json/json-text.ts';
import { asksForNothing, choicesEach, limitNameFor } from '../wire-formats/completions/completions.ts';
import { hints } from '../wire-formats/hints.ts';

/** What a chat has that is nearly OpenAI's. */
export interface ChatFacts {
  /** Its own names for OpenAI's. */
  readonly names?: ReadonlyMap<string, string>;
  /** By its own names, all that it takes beside the messages: it refuses what it does not know. */
  readonly knows?: readonly string[];
  /** Its streams count without being asked, and it refuses `stream_options`. */
  readonly countsUnasked?: true;
}

export function isKnown(name: string, { knows }: ChatFacts): boolean {
  return knows === undefined || knows.includes(name);
}

/** Of all parameters those that are not `handled`; unknown ones pass where nothing says that they cannot. */
export function chatParameters(asked: Asked, handled: ReadonlySet<string>, facts: ChatFacts): JsonObject {
  const parameters: Record<string, Json> = Object.create(null);
  for (const [name, value] of Object.entries({ ...asked.body, ...limitOf(asked) })) {
    if (value === undefined || handled.has(name) || (facts.countsUnasked && name === 'stream_options')) continue;
    if (name === 'n' && asksForNothing(name, value)) continue; // one is what comes, and not everybody knows it
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

/** None where the client sets none: the 16 tokens of old are no answer of a model that converses. */
function limitOf({ body, model }: Asked): JsonObject {
  const { max_tokens: limit, max_completion_tokens: limitAnew } = body;
  if (limitAnew === undefined && limitNameFor([model]) === 'max_tokens') return {};
  return { max_tokens: undefined, max_completion_tokens: limit ?? limitAnew };
}
