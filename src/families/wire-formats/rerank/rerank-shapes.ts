/** Writes a rerank response with the common fields, and those of another service's clients beside them. */

import type { RerankShape } from '../../../core/translation.ts';
import { isJsonObject, type Json, type JsonNumber, type JsonObject } from '../../../lib/json/json-text.ts';

/** A client's document with its score; `index` is its position in the client's list. */
export interface Scored {
  readonly index: number;
  readonly score: JsonNumber;
  readonly document: Json;
}

export interface Reranked {
  readonly scored: readonly Scored[];
  readonly withDocuments: boolean;
  readonly model: Json;
  readonly id: Json;
  readonly meta: Json | undefined;
  readonly promptTokens: number | undefined;
  readonly totalTokens: number | undefined;
  readonly searchUnits: number | undefined;
  /** Where the upstream counted nothing. */
  estimateTokens(): number;
}

interface Shaped {
  readonly body: Json;
  readonly isEstimated: boolean;
}

/** The fields of Cohere and Jina together, which clients of most services read; Voyage's list beside them. */
export function inRerankShape(reranked: Reranked, shape: RerankShape | undefined): Shaped {
  if (shape === 'tei') return inTeiShape(reranked);
  const { id, model, scored, withDocuments, ...counts } = reranked;
  const said = counts.totalTokens ?? counts.promptTokens;
  const total = said ?? counts.estimateTokens();
  return {
    body: {
      id,
      object: 'list',
      model,
      ...(shape === 'voyage' && { data: scored.map((one) => toVoyageResult(one, withDocuments)) }),
      results: scored.map((one) => toResult(one, withDocuments)),
      meta: metaOf(reranked),
      usage: { prompt_tokens: counts.promptTokens ?? total, total_tokens: total },
    },
    isEstimated: said === undefined,
  };
}

const version2 = { api_version: { version: '2' } };

/** Some clients require it. */
function metaOf({ meta, searchUnits }: Reranked): JsonObject {
  if (isJsonObject(meta)) return { ...version2, ...meta };
  return { ...version2, billed_units: searchUnits === undefined ? undefined : { search_units: searchUnits } };
}

function inTeiShape({ scored, withDocuments }: Reranked): Shaped {
  return {
    body: scored.map(({ index, score, document }) => ({
      index,
      score,
      text: withDocuments ? plainText(document) : undefined,
    })),
    isEstimated: false,
  };
}

function toResult({ index, score, document }: Scored, withDocuments: boolean): JsonObject {
  const shown = typeof document === 'string' ? { text: document } : document;
  return { index, relevance_score: score, document: withDocuments ? shown : undefined };
}

function toVoyageResult({ index, score, document }: Scored, withDocuments: boolean): JsonObject {
  return { index, relevance_score: score, document: withDocuments ? plainText(document) : undefined };
}

function plainText(document: Json): Json {
  return isJsonObject(document) && typeof document.text === 'string' ? document.text : document;
}
