/** Reranked documents in the shape that a client wants: that of Cohere and Jina, or of another service that it was written for. */

import type { RerankShape } from '../../core/translation.ts';
import { isJsonObject, type Json, type JsonNumber, type JsonObject } from '../../lib/json-text.ts';

/** A document of the client's with its score; `index` is its place in the client's list. */
export interface Scored {
  readonly index: number;
  readonly score: JsonNumber;
  readonly document: Json;
}

/** Everything that a shape is made of. */
export interface Reranked {
  readonly scored: readonly Scored[];
  readonly withDocuments: boolean;
  readonly model: Json;
  readonly id: Json | undefined;
  readonly meta: Json | undefined;
  readonly promptTokens: number | undefined;
  readonly totalTokens: number | undefined;
  readonly searchUnits: number | undefined;
  /** For shapes whose readers cannot do without a count. */
  estimateTokens(): number;
}

interface Shaped {
  readonly body: Json;
  readonly isEstimated: boolean;
}

export function inRerankShape(reranked: Reranked, shape: RerankShape | undefined): Shaped {
  switch (shape) {
    case undefined:
      return inCommonShape(reranked);
    case 'cohere':
      return inCohereShape(reranked);
    case 'jina':
      return inJinaShape(reranked);
    case 'voyage':
      return inVoyageShape(reranked);
    case 'tei':
      return inTeiShape(reranked);
  }
}

const version2 = { api_version: { version: '2' } };

function inCommonShape({ id, model, meta, scored, withDocuments, ...reranked }: Reranked): Shaped {
  const { promptTokens, totalTokens, searchUnits } = reranked;
  const counted = totalTokens ?? promptTokens;
  return {
    body: {
      id,
      object: 'list',
      model,
      results: scored.map((one) => toResult(one, withDocuments)),
      // Some clients take no answer without it.
      meta: isJsonObject(meta) ? meta : { ...version2, billed_units: searchUnits && { search_units: searchUnits } },
      usage:
        counted === undefined
          ? undefined
          : { prompt_tokens: promptTokens ?? counted, total_tokens: totalTokens ?? counted },
    },
    isEstimated: false,
  };
}

function inCohereShape({ id, meta, scored, withDocuments, ...counts }: Reranked): Shaped {
  const { searchUnits, promptTokens, totalTokens } = counts;
  const tokens = totalTokens ?? promptTokens;
  const billed: JsonObject = {
    search_units: searchUnits,
    input_tokens: searchUnits === undefined ? tokens : undefined,
  };
  return {
    body: {
      id,
      results: scored.map((one) => toResult(one, withDocuments)),
      meta: isJsonObject(meta) && meta.api_version !== undefined ? meta : { ...version2, billed_units: billed },
    },
    isEstimated: false,
  };
}

function inJinaShape({ model, scored, withDocuments, ...counts }: Reranked): Shaped {
  const said = counts.totalTokens ?? counts.promptTokens;
  const total = said ?? counts.estimateTokens();
  return {
    body: {
      model,
      object: 'list',
      usage: { total_tokens: total, prompt_tokens: counts.promptTokens ?? total },
      results: scored.map((one) => toResult(one, withDocuments)),
    },
    isEstimated: said === undefined,
  };
}

function inVoyageShape({ model, scored, withDocuments, ...counts }: Reranked): Shaped {
  const said = counts.totalTokens ?? counts.promptTokens;
  return {
    body: {
      object: 'list',
      data: scored.map(({ index, score, document }) => ({
        index,
        relevance_score: score,
        document: withDocuments ? plainText(document) : undefined,
      })),
      model,
      usage: { total_tokens: said ?? counts.estimateTokens() },
    },
    isEstimated: said === undefined,
  };
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

function plainText(document: Json): Json {
  return isJsonObject(document) && typeof document.text === 'string' ? document.text : document;
}
