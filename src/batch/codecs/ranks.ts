/** Reads rerank requests and answers item by item: the items are documents under one query, the results their scores, best first. */

import { Buffer } from 'node:buffer';
import { Unfit } from '../../core/translation.ts';
import type { JsonSpan } from '../../lib/json/json-elements.ts';
import { LOWER_N } from '../../lib/json/json-tokens.ts';
import { type Codec, type ListRequest, numberAt, type Result, type Top } from './codec.ts';
import { readEnvelope } from './envelope.ts';

export const tops = ['top_n', 'top_k'];
const isTop: ReadonlySet<string> = new Set(tops);
const scores: ReadonlySet<string> = new Set(['relevance_score', 'score']);

export const ranks: Codec = {
  idle: ['user', ...tops],

  takes: (request) => (request.list.firstElement !== undefined && topsIn(request).every(isCount) ? 'each' : undefined),
  topOf: (request) => topsIn(request)[0],
  beside: 'query',

  *read(bytes, { items, best }) {
    const results: { item: number; result: Result }[] = [];
    const seen = new Set<number>();
    const envelope = yield* readEnvelope(bytes, {
      lists: ['results', 'data'],
      element(walk) {
        const start = walk.at;
        let indexAt: JsonSpan | undefined;
        let scoreAt: JsonSpan | undefined;
        walk.object((name) => {
          walk.peek();
          const span = walk.value();
          if (name === 'index') {
            if (indexAt !== undefined) throw new Unfit('a result has two indices');
            indexAt = span;
          } else if (scores.has(name)) scoreAt = span;
        });
        const item = indexAt === undefined ? Number.NaN : numberAt(bytes, indexAt);
        if (indexAt === undefined || !Number.isInteger(item)) throw new Unfit('a result has no index');
        if (item < 0 || item >= items) throw new Unfit(`a result is of document ${item}, and there are ${items}`);
        if (seen.has(item)) throw new Unfit(`document ${item} has two results`);
        seen.add(item);
        const score = scoreAt === undefined ? Number.NaN : numberAt(bytes, scoreAt);
        if (!Number.isFinite(score)) throw new Unfit(`the score of document ${item} is no number`);
        const index = { start: indexAt.start - start, end: indexAt.end - start };
        results.push({ item, result: { bytes: bytes.subarray(start, walk.at), index, score } });
      },
    });
    const wanted = Math.min(best, items);
    if (results.length < wanted) throw new Unfit(`${results.length} results for ${wanted} documents`);
    for (let item = 0; item < items; item += 1) if (!seen.has(item)) results.push({ item, result: leftOut });
    return { envelope, results };
  },
};

/** The result of a document that is not among the best: it ranks after all that are. */
const leftOut: Result = { bytes: Buffer.alloc(0), index: undefined, score: Number.NEGATIVE_INFINITY };

/** Whether the limit of best results is a usable number; any other is left to the upstream to refuse. */
const isCount = ({ count }: Top): boolean => Number.isInteger(count) && count > 0;

function topsIn({ body, members }: ListRequest): Top[] {
  const given = members.filter(({ name, value }) => isTop.has(name) && body[value.start] !== LOWER_N);
  return given.map(({ value }) => ({ span: value, count: numberAt(body, value) }));
}
