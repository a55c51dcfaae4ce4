/** An upstream that embeds and ranks with fixed digits per text, formatted as in Python. */

import type { Handler, UpstreamRequest } from './fake-upstream.ts';

export const json: [string, string][] = [['content-type', 'application/json']];

interface Asked {
  readonly input?: string | readonly string[];
  readonly documents?: readonly string[];
  readonly top_n?: number;
}

const askedIn = ({ body }: UpstreamRequest): Asked => JSON.parse(body.toString());
export const inputsOf = (request: UpstreamRequest): readonly string[] => [askedIn(request).input ?? []].flat();

/** Of each text always the same digits, which no number of JavaScript's would keep; spaced as Python writes. */
const vectorOf = (text: string): string => `[${text.length}.10, -${text.length}e-3, 0.12345678901234567890]`;
export const embeddingsOf = (texts: readonly string[]): string => {
  const data = texts.map((text, index) => `{"object": "embedding", "index": ${index}, "embedding": ${vectorOf(text)}}`);
  const tokens = texts.join('').length;
  return `{"object": "list", "data": [${data.join(', ')}], "model": "m", "usage": {"prompt_tokens": ${tokens}, "total_tokens": ${tokens}}}`;
};
export const embeds: Handler = (request, reply) => reply.bytes(200, json, embeddingsOf(inputsOf(request)));

const scoreOf = (text: string): string => `0.${String(text.length).padStart(2, '0')}00`;
export const ranked = (documents: readonly string[], top = documents.length): string => {
  const results = documents
    .map((text, index) => ({ index, score: scoreOf(text) }))
    .toSorted((a, b) => Number(b.score) - Number(a.score) || a.index - b.index)
    .slice(0, top);
  const written = results.map(({ index, score }) => `{"index":${index},"relevance_score":${score}}`);
  return `{"id":"r","results":[${written.join(',')}],"meta":{"billed_units":{"search_units":1}}}`;
};
export const ranks: Handler = (request, reply) => {
  const { documents = [], top_n: top } = askedIn(request);
  return reply.bytes(200, json, ranked(documents, top));
};
