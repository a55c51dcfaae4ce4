/** Responses of OpenAI-compatible services: vectors, completions and ranks computed from the request. */

import * as z from 'zod';
import type { WireReply } from './fixture.ts';
import { base64Of, ranked, replyTo, tokensIn, vectorOf } from './wire.ts';

export const text = z.string();
export const texts = z.array(z.string());
const tokens = z.array(z.int().min(0)).min(1);
export const textOrTexts = z.union([text, texts]);
export const anyInput = z.union([text, texts, tokens, z.array(tokens).min(1)]);

/** What a service makes of each input or prompt: of token IDs, their JSON. */
export function toTexts(input: z.output<typeof anyInput>): string[] {
  if (typeof input === 'string') return [input];
  if (input.every((item) => typeof item === 'number')) return [JSON.stringify(input)];
  return input.map((item) => (typeof item === 'string' ? item : JSON.stringify(item)));
}

interface EmbeddingsAsked {
  readonly model: string;
  readonly encoding_format?: 'float' | 'base64' | null | undefined;
  readonly dimensions?: number | null | undefined;
}

export function embeddingsOf(inputs: readonly string[], asked: EmbeddingsAsked): WireReply {
  const usage = { prompt_tokens: tokensIn(...inputs), total_tokens: tokensIn(...inputs) };
  const data = inputs.map((input, index) => {
    const vector = vectorOf(input, asked.dimensions ?? undefined);
    return { object: 'embedding', index, embedding: asked.encoding_format === 'base64' ? base64Of(vector) : vector };
  });
  return { body: { object: 'list', data, model: asked.model, usage } };
}

/** What every service reads of a completion beside its prompt. */
export const completionAsked = z.object({
  model: text,
  n: z.int().min(1).max(128).nullish(),
  echo: z.boolean().nullish(),
  stream: z.boolean().nullish(),
  stream_options: z.object({ include_usage: z.boolean().optional() }).nullish(),
});

/** `n` choices of each prompt, the first prompt's before the second's. */
export function completionOf(prompts: readonly string[], asked: z.output<typeof completionAsked>): WireReply {
  const n = asked.n ?? 1;
  const head = { id: 'cmpl-x1', object: 'text_completion', created: 1_790_000_000, model: asked.model };
  const said = prompts.flatMap((prompt) =>
    Array.from({ length: n }, () => (asked.echo ? prompt : '') + replyTo(prompt)),
  );
  const usage = {
    prompt_tokens: tokensIn(...prompts),
    completion_tokens: tokensIn(...said),
    total_tokens: tokensIn(...prompts, ...said),
  };
  const choice = (index: number, part: string, reason: string | null) => ({
    index,
    text: part,
    logprobs: null,
    finish_reason: reason,
  });
  if (!asked.stream) return { body: { ...head, choices: said.map((one, index) => choice(index, one, 'stop')), usage } };
  const chunk = (choices: readonly unknown[]) => ({ ...head, choices });
  return {
    events: [
      ...said.flatMap((one, index) => [
        chunk([choice(index, one.slice(0, 1), null)]),
        chunk([choice(index, one.slice(1), 'stop')]),
      ]),
      ...(asked.stream_options?.include_usage ? [{ ...chunk([]), usage }] : []),
      '[DONE]',
    ],
  };
}

interface RanksAsked {
  readonly query: string;
  readonly top_n?: number | null | undefined;
  readonly return_documents?: boolean | null | undefined;
}

/** The best first; each document as it came, text as `{text}`. */
export function ranksOf(
  documents: readonly (string | { readonly text: string })[],
  { query, top_n: top, return_documents: withDocuments }: RanksAsked,
): { index: number; relevance_score: number; document?: { text: string } }[] {
  const plain = documents.map((document) => (typeof document === 'string' ? document : document.text));
  return ranked(query, plain)
    .slice(0, top ?? undefined)
    .map(({ index, score, text: document }) => ({
      index,
      relevance_score: score,
      ...(withDocuments && { document: { text: document } }),
    }));
}
