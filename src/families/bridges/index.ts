/** Serving other operations by way of chat: what each bridge offers, over a family's path for chat. */

import type { Offers } from '../../core/family.ts';
import { chatOffers } from './chat.ts';
import type { ChatFacts } from './chat-parameters.ts';
import { guardOffers } from './guard.ts';

export function bridgesOver(chat: string, facts?: ChatFacts): Readonly<Record<string, Offers>> {
  return { chat: chatOffers(chat, facts), guard: guardOffers(chat) };
}
