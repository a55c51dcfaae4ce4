/** Reranking between the shape that Cohere and Jina share and any other: documents, calls of a size that fits, results in order. */

import type { Usage } from '../../../core/accounting/usage.ts';
import { countsCharacters } from '../../../core/believable.ts';
import { type Asked, type Translation, Unfit, type WireAnswer, type WireRequest } from '../../../core/translation.ts';
import { type Json, JsonNumber, type JsonObject } from '../../../lib/json/json-text.ts';
import { estimateTokens } from '../../../lib/token-ids.ts';
import { isTurnOver, nextTurn } from '../../../lib/turns.ts';
import { at, countIn, readEach, sumOf, textIn } from '../reading.ts';
import { checkCalls, type ItemLimit, inParts, mostItems, type SizeLimit, tokensAtMost } from '../texts.ts';
import { type RerankQuestion, type RerankTakes, readRerankQuestion } from './rerank-question.ts';
import { inRerankShape, type Reranked, type Scored } from './rerank-shapes.ts';
import { rescaled } from './score-scales.ts';

/** One call: the query and some of the client's documents. */
interface RerankCall {
  /** Text; an object too, where the dialect takes them. */
  readonly query: Json;
  readonly documents: readonly Json[];
  readonly model: string;
  /** How many results are wanted of these documents; undefined: of each of them one. */
  readonly topN: number | undefined;
  /** The dialect's own parameters, and unknown ones where they may pass. */
  readonly more: JsonObject;
  readonly asked: Asked;
}

/** What an upstream says of one document. */
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
  /** What it counted, where it says so. */
  readonly promptTokens?: number | undefined;
  readonly totalTokens?: number | undefined;
  readonly searchUnits?: number | undefined;
}

export interface RerankDialect extends RerankTakes {
  /** Documents in a call, at most. */
  readonly maxItems?: ItemLimit;
  /** Tokens in a call, at most: its documents', and the query's once for each. They are estimated, and rather too high. */
  readonly maxTokens?: (asked: Asked) => number;
  write(call: RerankCall): WireRequest;
  /** Throws `Unfit`. */
  read(answer: WireAnswer, call: RerankCall): RerankResult;
}

export function translateRerank(dialect: RerankDialect): Translation {
  return {
    async ask(asked) {
      const question = await readRerankQuestion(asked, dialect);
      const { documents, query, topN, more } = question;
      const parts = await inParts(documents, mostItems(asked, dialect), ...limitsOf(asked, query, dialect));
      checkCalls(asked, 'documents', parts.length);
      const calls = parts.map((part): RerankCall => {
        const wanted = topN === undefined ? undefined : Math.min(topN, part.length);
        return { query, documents: part, model: asked.model, topN: wanted, more, asked };
      });
      return {
        requests: calls.map((call) => dialect.write(call)),
        read: (answers) => toReply(dialect, calls, answers, question, asked),
      };
    },
  };
}

/** A reranker reads the query with each document. */
function limitsOf(asked: Asked, query: Json, { maxTokens }: RerankDialect): SizeLimit<Json>[] {
  if (maxTokens === undefined) return [];
  const each = tokensAtMost(query);
  return [{ most: maxTokens(asked), sizeOf: (document) => each + tokensAtMost(document) }];
}

async function toReply(
  dialect: RerankDialect,
  calls: readonly RerankCall[],
  answers: readonly WireAnswer[],
  { originals, query, topN, withDocuments, shape, scoring }: RerankQuestion,
  asked: Asked,
): Promise<{ body: Json; usage: Usage | null; isEstimated: boolean }> {
  const scored: (Scored & { readonly value: number })[] = [];
  let offset = 0;
  const results = await readEach(calls, answers, (answer, call) => {
    const result = dialect.read(answer, call);
    for (const { index: place, score } of checked(result.results, call)) {
      scored.push({ index: offset + place, score, value: score.value, document: originals[offset + place] ?? null });
    }
    offset += call.documents.length;
    return result;
  });
  // Each of these steps goes over all of them.
  if (isTurnOver()) await nextTurn();
  // Equal scores stay in the upstream's order.
  scored.sort((a, b) => b.value - a.value);
  const promptTokens = sumOf(results.map((one) => one.promptTokens));
  const totalTokens = sumOf(results.map((one) => one.totalTokens));
  const searchUnits = sumOf(results.map((one) => one.searchUnits));
  if (isTurnOver()) await nextTurn();
  const [first] = results;
  const reranked: Reranked = {
    scored: scored.slice(0, topN).map((one) => ({ ...one, score: rescaled(one.score, scoring?.from, scoring?.to) })),
    withDocuments,
    model: textIn(first?.model) ?? asked.model,
    id: first?.id ?? `rerank-${asked.id}`,
    meta: calls.length === 1 ? first?.meta : undefined,
    // Characters stand in the exchange's record, and are nothing to tell a client that pays for tokens.
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

/** One result for each document, or for as many as were wanted; none twice, none of a document that is not there. */
function checked(results: readonly Ranked[], { documents, topN }: RerankCall): { index: number; score: JsonNumber }[] {
  const seen = new Set<number>();
  const good = results.map(({ index, score }) => {
    const place = countIn(index);
    if (place === undefined) throw new Unfit('a result has no index');
    if (place >= documents.length) {
      throw new Unfit(`a result is of document ${place}, and there are ${documents.length}`);
    }
    if (seen.has(place)) throw new Unfit(`document ${place} has two results`);
    seen.add(place);
    if (!(score instanceof JsonNumber) || !Number.isFinite(score.value)) {
      throw new Unfit(`the score of document ${place} is no number`);
    }
    return { index: place, score };
  });
  const wanted = Math.min(topN ?? documents.length, documents.length);
  if (good.length < wanted) throw new Unfit(`${good.length} results for ${wanted} documents`);
  return good;
}
