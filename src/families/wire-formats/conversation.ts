/** Builds the translation of a request that needs one upstream call: the request, and the reader of the response. */

import {
  type Conversation,
  limitsFor,
  type Reply,
  type Translation,
  type WireAnswer,
  type WireRequest,
} from '../../core/translation.ts';

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

export function byModel(translationOf: (model: string) => Translation): Translation {
  return {
    limits: (model, options) => limitsFor(translationOf(model).limits, model, options),
    ask: (asked) => translationOf(asked.model).ask(asked),
  };
}
