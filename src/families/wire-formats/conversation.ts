/** One question to an upstream, and what is made of its answer. */

import type { Conversation, Reply, WireAnswer, WireRequest } from '../../core/translation.ts';

export function toConversation(
  request: WireRequest,
  read: (answer: WireAnswer) => Reply | Promise<Reply>,
): Conversation {
  return {
    requests: [request],
    read([answer]) {
      if (answer === undefined) throw new TypeError('a call without an answer');
      return read(answer);
    },
  };
}
