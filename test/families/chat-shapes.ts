/** Responses of chat services: each choice answers the last message as `wire.ts` defines. */

import * as z from 'zod';
import type { WireReply } from './fixture.ts';
import { replyTo, tokensIn } from './wire.ts';

export const messages = z
  .array(z.object({ role: z.enum(['system', 'user', 'assistant']), content: z.string() }))
  .min(1);

interface ChatAsked {
  readonly model: string;
  readonly n?: number | undefined;
  readonly stream?: boolean | undefined;
  readonly logprobs?: boolean | undefined;
  readonly top_logprobs?: number | undefined;
}

interface Ways {
  /** The usage comes with the last choice, not in a chunk of its own. */
  readonly countsAtEnd?: boolean;
  readonly countsApart?: boolean | undefined;
}

export function chatOf(
  prompt: string,
  asked: ChatAsked,
  { countsAtEnd = false, countsApart = false }: Ways,
): WireReply {
  const { n = 1, model, stream = false } = asked;
  const said = replyTo(prompt);
  const head = { id: 'chatcmpl-x1', created: 1_790_000_000, model, system_fingerprint: 'fp_1' };
  const usage = {
    prompt_tokens: tokensIn(prompt),
    completion_tokens: n * tokensIn(said),
    total_tokens: tokensIn(prompt) + n * tokensIn(said),
  };
  const indexes = Array.from({ length: n }, (_, index) => index);
  if (!stream) {
    const choices = indexes.map((index) => ({
      index,
      message: { role: 'assistant', content: said, refusal: null },
      logprobs: likelihoods([...said], asked),
      finish_reason: 'stop',
    }));
    return { body: { object: 'chat.completion', ...head, choices, usage } };
  }
  const chunk = (choices: readonly unknown[], more = {}) => ({
    object: 'chat.completion.chunk',
    ...head,
    choices,
    ...more,
  });
  const part = (index: number, delta: object, reason: string | null = null, characters: readonly string[] = []) => ({
    index,
    delta,
    logprobs: likelihoods(characters, asked),
    finish_reason: reason,
  });
  return {
    events: [
      ...indexes.map((index) => chunk([part(index, { role: 'assistant', content: '' })])),
      ...[...said].flatMap((one) => indexes.map((index) => chunk([part(index, { content: one }, null, [one])]))),
      ...indexes.map((index) => chunk([part(index, {}, 'stop')], countsAtEnd ? { usage } : {})),
      ...(countsApart ? [chunk([], { usage })] : []),
      '[DONE]',
    ],
  };
}

/** Every character is a token. */
function likelihoods(characters: readonly string[], { logprobs = false, top_logprobs: top = 0 }: ChatAsked) {
  if (!logprobs) return null;
  const content = characters.map((token) => ({
    token,
    logprob: -0.5,
    bytes: [...Buffer.from(token)],
    top_logprobs: [token, '~', '!']
      .slice(0, top)
      .map((one, index) => ({ token: one, logprob: -index - 0.5, bytes: [] })),
  }));
  return { content, refusal: null };
}
