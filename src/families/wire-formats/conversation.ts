/** One translated call: the request to an upstream, and the reader of its response. */

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
