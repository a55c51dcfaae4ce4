/** What a model that speaks chat and nothing else can serve: completions and edits. */

import type { Offers } from '../../core/family.ts';
import type { ChatFacts } from './chat-parameters.ts';
import { completionsOverChat } from './completions.ts';
import { editsOverChat } from './edits.ts';

const translatedBy = 'chat';
/** What the model is told of its task: fewer bytes than this. */
const mostTaskTokens = 1_024;

export function chatOffers(chat: string, facts: ChatFacts = {}): Offers {
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
