/** Builds the bridges of a family: offers that serve completions, edits and moderations through the family's chat. */

import type { Offers } from '../../core/family.ts';
import type { Asked, Translation } from '../../core/translation.ts';
import { JsonNumber, type JsonObject } from '../../lib/json/json-text.ts';
import { createChatStream, readChatCompletion } from '../wire-formats/completions/chat-completions.ts';
import { asksForNothing, translateCompletions } from '../wire-formats/completions/completions.ts';
import { type ChatFacts, chatParameters, isKnown, refuseWhatChatLacks } from './chat-parameters.ts';
import { editsOverChat } from './edits.ts';
import { guardOffers } from './guard.ts';

export function bridgesOver(chat: string, facts?: ChatFacts): Readonly<Record<string, Offers>> {
  return { chat: chatOffers(chat, facts), guard: guardOffers(chat) };
}

const translatedBy = 'chat';
/** Upper bound for the tokens of the instructions that an edit's prompt adds to the client's text: the instructions' size in bytes. */
const mostTaskTokens = 1_024;

function chatOffers(chat: string, facts: ChatFacts = {}): Offers {
  return {
    openai: {
      completions: {
        path: chat,
        translation: completionsOverChat(facts),
        translatedBy,
        isUnlimited: true,
        facts: 'a call for each prompt; no `suffix`, no `best_of`, no `logprobs` of an `echo`',
      },
      edits: {
        path: chat,
        translation: editsOverChat(facts),
        translatedBy,
        addedTokens: { input: mostTaskTokens, output: 0 },
        isUnlimited: true,
        facts: '20 edits of a text at most',
      },
    },
  };
}

const handled = new Set(['model', 'prompt', 'messages', 'best_of', 'suffix', 'echo', 'logprobs']);

function completionsOverChat(facts: ChatFacts): Translation {
  return translateCompletions({
    onePromptACall: true,
    parameters(asked) {
      refuseWhatChatLacks(asked);
      refuseOddEcho(asked);
      return { ...chatParameters(asked, handled, facts), ...logprobsOf(asked, facts) };
    },
    write: ({ prompt, parameters, asked: { model } }) => ({
      body: { model, messages: [{ role: 'user', content: prompt }], ...parameters },
    }),
    read: readChatCompletion,
    stream: createChatStream,
  });
}

function refuseOddEcho(asked: Asked): void {
  const { echo, messages } = asked.body;
  if (echo !== undefined && typeof echo !== 'boolean') asked.cannot('echo', 'wants true or false for it');
  if (messages !== undefined) asked.cannot('messages', 'gets them from the prompt');
}

/** Chat has one parameter that requests logprobs, and another for the number of alternatives. */
function logprobsOf(asked: Asked, facts: ChatFacts): JsonObject {
  const { logprobs, echo } = asked.body;
  if (asksForNothing('logprobs', logprobs)) return {};
  if (!isKnown('logprobs', facts)) asked.cannot('logprobs');
  else if (echo === true) {
    asked.cannot('logprobs', 'speaks chat, which has none of the prompt, and "echo" asks for these');
  } else if (logprobs === true) return { logprobs };
  else if (logprobs instanceof JsonNumber) {
    return { logprobs: true, top_logprobs: logprobs.value === 0 ? undefined : logprobs };
  } else asked.cannot('logprobs', 'wants a whole number for it');
  return {};
}
