/** A rerank response as client APIs need it: scores in the upstream's digits, by document index. */

import { Unfit } from '../core/translation.ts';
import { at, countIn, listIn } from '../families/wire-formats/reading.ts';
import { isJsonList, type Json, numberOf } from '../lib/json/json-text.ts';
import { estimateTokens } from '../lib/token-ids.ts';

interface ScoredIndex {
  readonly index: number;
  readonly score: Json;
}

/** In the order of the answer, which is that of the scores; of each document, or of the requested number. */
export function scoresIn(
  body: Json,
  documents: readonly string[],
  wanted: 'all' | 'any' = 'all',
): readonly ScoredIndex[] {
  const list = isJsonList(body) ? body : listIn(at(body, 'results'), 'results');
  const scored = list.map((one) => {
    const index = countIn(at(one, 'index'));
    const score = at(one, 'relevance_score') ?? at(one, 'score');
    if (index === undefined || index >= documents.length) throw new Unfit('a result is of no document');
    if (score === undefined || numberOf(score) === undefined) throw new Unfit('a result has no score');
    return { index, score };
  });
  const known = new Set(scored.map(({ index }) => index)).size;
  if (known !== scored.length || (wanted === 'all' && known !== documents.length)) {
    throw new Unfit(`${scored.length} results for ${documents.length} documents`);
  }
  return scored;
}

/** The reported count, or else an estimate: the query counts with each document. */
export function rerankTokensIn(body: Json, query: string, documents: readonly string[]): number {
  const usage = isJsonList(body) ? undefined : at(body, 'usage');
  const counted = countIn(at(usage, 'total_tokens')) || countIn(at(usage, 'prompt_tokens'));
  const each = estimateTokens(query);
  return counted ?? documents.reduce((sum, document) => sum + each + estimateTokens(document), 0);
}
