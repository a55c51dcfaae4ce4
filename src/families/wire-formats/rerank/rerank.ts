/** Translates rerank between the format of Cohere and Jina and other formats: documents, calls of a fitting size, ranked results. */

import { countsCharacters } from '../../../core/believable.ts';
import type { ScoreScale } from '../../../core/scores.ts';
import {
  type Asked,
  type KnownLimits,
  plainText,
  type Reply,
  type Translation,
  Unfit,
  type WireAnswer,
  type WireRequest,
  withData,
} from '../../../core/translation.ts';
import { isJsonObject, type Json, JsonNumber, type JsonObject } from '../../../lib/json/json-text.ts';
import { isSliceOver, nextSlice } from '../../../lib/time-slices.ts';
import { estimateTokens } from '../../../lib/token-ids.ts';
import { toConversation } from '../conversation.ts';
import { countIn, listIn, objectIn, textIn } from '../reading.ts';
import { type RerankQuestion, type RerankTakes, readRerankQuestion } from './rerank-question.ts';

interface RerankCall {
  /** The query: a text; an object too, where the wire format takes them. */
  readonly query: Json;
  readonly documents: readonly Json[];
  readonly model: string;
  /** Number of results to request for these documents; undefined: one for each. */
  readonly topN: number | undefined;
  /** Further parameters: the wire format's own, and unknown ones where they may pass. */
  readonly more: JsonObject;
  readonly asked: Asked;
}

interface Ranked {
  readonly index: Json | undefined;
  readonly score: Json | undefined;
}

export function rankedIn(list: Json | undefined, what: string, scoreName: string): Ranked[] {
  return listIn(list, what).map((result) => {
    const { index, [scoreName]: score } = objectIn(result, 'a result');
    return { index, score };
  });
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
  /** Limits of one call; a query's tokens count with each document. Without limits, the upstream enforces its own. */
  readonly limits?: KnownLimits;
  write(call: RerankCall): WireRequest;
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
): Promise<Reply> {
  const { asked } = call;
  const result = wireFormat.read(answer, call);
  const { promptTokens = null, totalTokens = null, searchUnits = null } = result;
  const checked = checkedIn(result.results, call);
  // Each of these steps covers all documents, so the time slice is checked between them.
  if (isSliceOver()) await nextSlice();
  // Equal scores stay in the upstream's order.
  checked.sort((a, b) => b.value - a.value);
  if (isSliceOver()) await nextSlice();
  const scored = checked.slice(0, topN).map(({ index, score }): Scored => {
    const document = withDocuments ? (originals[index] ?? null) : undefined;
    return { index, score: rescaled(score, scoring?.from, scoring?.to), document };
  });
  const isCounted = promptTokens !== null || totalTokens !== null || searchUnits !== null;
  const usage = isCounted ? { promptTokens, completionTokens: null, totalTokens, searchUnits } : null;
  if (shape === 'tei') return { body: scored.map(toTeiResult), usage, isEstimated: false };
  // Character counts stay in the exchange's record: the client pays for tokens.
  const said = countsCharacters(asked.options) ? null : (totalTokens ?? promptTokens);
  const total =
    said ?? originals.reduce<number>((sum, one) => sum + estimateOf(one), originals.length * estimateOf(query));
  // The fields of Cohere and Jina together, which clients of most services read.
  const body = {
    id: result.id ?? `rerank-${asked.id}`,
    object: 'list',
    model: textIn(result.model) ?? asked.model,
    results: scored.map(toResult),
    meta: metaOf(result),
    usage: { prompt_tokens: (said === null ? null : promptTokens) ?? total, total_tokens: total },
  };
  // The answers to the parts of a list are merged into one list first.
  return { body: shape === 'voyage' && !asked.isPart ? withData(body) : body, usage, isEstimated: said === null };
}

interface Scored {
  readonly index: number;
  readonly score: JsonNumber;
  readonly document: Json | undefined;
}

function toResult({ index, score, document }: Scored): JsonObject {
  return { index, relevance_score: score, document: typeof document === 'string' ? { text: document } : document };
}

function toTeiResult({ index, score, document }: Scored): JsonObject {
  return { index, score, text: plainText(document) };
}

/** The field `meta` of an answer, which some clients require, with `billed_units` in it. */
function metaOf({ meta, searchUnits }: RerankResult): JsonObject {
  return {
    api_version: { version: '2' },
    billed_units: { search_units: searchUnits },
    ...(isJsonObject(meta) && meta),
  };
}

const estimateOf = (value: Json): number => {
  const text = plainText(value);
  return typeof text === 'string' ? estimateTokens(text) : 1;
};

/** There must be one result for each document, or as many as requested; no duplicates, no unknown document. */
function checkedIn(
  results: readonly Ranked[],
  { documents, topN }: RerankCall,
): { index: number; score: JsonNumber; value: number }[] {
  const seen = new Set<number>();
  const good = results.map(({ index, score }) => {
    const position = countIn(index);
    if (position === undefined) throw new Unfit('a result has no index');
    if (position >= documents.length) {
      throw new Unfit(`a result is of document ${position}, and there are ${documents.length}`);
    }
    if (seen.has(position)) throw new Unfit(`document ${position} has two results`);
    seen.add(position);
    const value = score instanceof JsonNumber ? score.value : Number.NaN;
    if (!(score instanceof JsonNumber && Number.isFinite(value))) {
      throw new Unfit(`the score of document ${position} is no number`);
    }
    return { index: position, score, value };
  });
  const wanted = Math.min(topN ?? documents.length, documents.length);
  if (good.length < wanted) throw new Unfit(`${good.length} results for ${wanted} documents`);
  return good;
}

/** Tolerance for scores that rounding moved beyond the bounds. */
const slack = 1e-6;
const leastShare = Number.MIN_VALUE;
const mostShare = 1 - Number.EPSILON / 2;

/** Converts a score to another scale: always finite, and the order stays. Throws `Unfit` where it is outside its declared scale. */
export function rescaled(score: JsonNumber, from: ScoreScale | undefined, to: ScoreScale | undefined): JsonNumber {
  if (from === to || from === undefined || to === undefined) return score;
  const sigmoid = 1 / (1 + Math.exp(-score.value));
  return new JsonNumber(String(to === 'raw' ? logitOf(score) : sigmoid));
}

function logitOf({ value, source }: JsonNumber): number {
  if (value < -slack || value > 1 + slack) {
    throw new Unfit(`a score is ${source.slice(0, 30)}, and those of this target are said to lie between 0 and 1`);
  }
  const share = Math.min(Math.max(value, leastShare), mostShare);
  return Math.log(share) - Math.log1p(-share);
}
