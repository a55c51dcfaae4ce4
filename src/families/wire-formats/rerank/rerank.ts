/** Translates rerank between the format of Cohere and Jina and others: documents, calls of a fitting size, ranked results. */

import type { Usage } from '../../../core/accounting/usage.ts';
import { countsCharacters } from '../../../core/believable.ts';
import type { KnownLimits } from '../../../core/list-limits.ts';
import type { ScoreScale } from '../../../core/scores.ts';
import { type Asked, type Translation, Unfit, type WireAnswer, type WireRequest } from '../../../core/translation.ts';
import { type Json, JsonNumber, type JsonObject } from '../../../lib/json/json-text.ts';
import { isSliceOver, nextSlice } from '../../../lib/time-slices.ts';
import { estimateTokens } from '../../../lib/token-ids.ts';
import { toConversation } from '../conversation.ts';
import { at, countIn, textIn } from '../reading.ts';
import { type RerankQuestion, type RerankTakes, readRerankQuestion } from './rerank-question.ts';
import { inRerankShape, type Reranked, type Scored } from './rerank-shapes.ts';

interface RerankCall {
  /** Text; an object too, where the wire format takes them. */
  readonly query: Json;
  readonly documents: readonly Json[];
  readonly model: string;
  /** Number of results for these documents; undefined: one for each. */
  readonly topN: number | undefined;
  /** The wire format's own parameters, and unknown ones where they may pass. */
  readonly more: JsonObject;
  readonly asked: Asked;
}

interface Ranked {
  readonly index: Json | undefined;
  /** In the upstream's own digits. */
  readonly score: Json | undefined;
}

export interface RerankResult {
  readonly results: readonly Ranked[];
  readonly id?: Json | undefined;
  readonly model?: Json | undefined;
  readonly meta?: Json | undefined;
  readonly promptTokens?: number | undefined;
  readonly totalTokens?: number | undefined;
  readonly searchUnits?: number | undefined;
}

export interface RerankWireFormat extends RerankTakes {
  /** Limits of one call: the tokens of a query count with each document. Without, the upstream enforces its own. */
  readonly limits?: KnownLimits;
  write(call: RerankCall): WireRequest;
  /** Throws `Unfit`. */
  read(answer: WireAnswer, call: RerankCall): RerankResult;
}

export function translateRerank(wireFormat: RerankWireFormat): Translation {
  return {
    ...(wireFormat.limits !== undefined && { limits: wireFormat.limits }),
    async ask(asked) {
      const question = await readRerankQuestion(asked, wireFormat);
      const { documents, query, topN, more } = question;
      const wanted = topN === undefined ? undefined : Math.min(topN, documents.length);
      const call: RerankCall = { query, documents, model: asked.model, topN: wanted, more, asked };
      return toConversation(wireFormat.write(call), (answer) => toReply(wireFormat, call, answer, question));
    },
  };
}

async function toReply(
  wireFormat: RerankWireFormat,
  call: RerankCall,
  answer: WireAnswer,
  { originals, query, topN, withDocuments, shape, scoring }: RerankQuestion,
): Promise<{ body: Json; usage: Usage | null; isEstimated: boolean }> {
  const { asked } = call;
  const result = wireFormat.read(answer, call);
  const { promptTokens, totalTokens, searchUnits } = result;
  const scored = checked(result.results, call).map(({ index, score }): Scored & { readonly value: number } => ({
    index,
    score,
    value: score.value,
    document: originals[index] ?? null,
  }));
  // Each of these steps covers all documents.
  if (isSliceOver()) await nextSlice();
  // Equal scores stay in the upstream's order.
  scored.sort((a, b) => b.value - a.value);
  if (isSliceOver()) await nextSlice();
  const reranked: Reranked = {
    scored: scored.slice(0, topN).map((one) => ({ ...one, score: rescaled(one.score, scoring?.from, scoring?.to) })),
    withDocuments,
    model: textIn(result.model) ?? asked.model,
    id: result.id ?? `rerank-${asked.id}`,
    meta: result.meta,
    // Character counts stay in the exchange's record: the client pays for tokens.
    ...(countsCharacters(asked.options)
      ? { promptTokens: undefined, totalTokens: undefined }
      : { promptTokens, totalTokens }),
    searchUnits,
    estimateTokens: () =>
      originals.reduce<number>((sum, one) => sum + estimateOf(one), originals.length * estimateOf(query)),
  };
  const counted = promptTokens ?? totalTokens ?? searchUnits;
  const usage: Usage | null =
    counted === undefined
      ? null
      : {
          promptTokens: promptTokens ?? null,
          completionTokens: null,
          totalTokens: totalTokens ?? null,
          searchUnits: searchUnits ?? null,
        };
  return { ...inRerankShape(reranked, shape), usage };
}

const estimateOf = (value: Json): number => {
  if (typeof value === 'string') return estimateTokens(value);
  const text = at(value, 'text');
  return typeof text === 'string' ? estimateTokens(text) : 1;
};

/** One result for each document, or as many as requested; no duplicates, no unknown document. */
function checked(results: readonly Ranked[], { documents, topN }: RerankCall): { index: number; score: JsonNumber }[] {
  const seen = new Set<number>();
  const good = results.map(({ index, score }) => {
    const position = countIn(index);
    if (position === undefined) throw new Unfit('a result has no index');
    if (position >= documents.length) {
      throw new Unfit(`a result is of document ${position}, and there are ${documents.length}`);
    }
    if (seen.has(position)) throw new Unfit(`document ${position} has two results`);
    seen.add(position);
    if (!(score instanceof JsonNumber) || !Number.isFinite(score.value)) {
      throw new Unfit(`the score of document ${position} is no number`);
    }
    return { index: position, score };
  });
  const wanted = Math.min(topN ?? documents.length, documents.length);
  if (good.length < wanted) throw new Unfit(`${good.length} results for ${wanted} documents`);
  return good;
}

/** Tolerance for rounding beyond the bounds. */
const slack = 1e-6;
const leastShare = Number.MIN_VALUE;
const mostShare = 1 - Number.EPSILON / 2;

/** Monotonic, so the order stays; always finite. Throws `Unfit` where a score is outside its declared scale. */
export function rescaled(score: JsonNumber, from: ScoreScale | undefined, to: ScoreScale | undefined): JsonNumber {
  if (from === to || from === undefined || to === undefined) return score;
  return new JsonNumber(String(to === 'raw' ? logitOf(score) : sigmoidOf(score.value)));
}

function sigmoidOf(logit: number): number {
  return 1 / (1 + Math.exp(-logit));
}

function logitOf({ value, source }: JsonNumber): number {
  if (value < -slack || value > 1 + slack) {
    throw new Unfit(`a score is ${source.slice(0, 30)}, and those of this target are said to lie between 0 and 1`);
  }
  const share = Math.min(Math.max(value, leastShare), mostShare);
  return Math.log(share) - Math.log1p(-share);
}
