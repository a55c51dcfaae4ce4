/** One item's known result, with facts of its response. */

import type { ListAnswered, ReadPart } from '../core/lists.ts';
import { headerValue } from '../lib/raw-headers.ts';
import type { Envelope, ReadAnswer, Result } from './codecs/codec.ts';
import { sharesOf } from './decimals.ts';

export interface Found {
  readonly result: Result;
  readonly envelope: Envelope;
  /** Its share of the answer's counts, by path. */
  readonly counts: ReadonlyMap<string, string>;
  /** The answer covered several items: the split of its counts is an estimate. */
  readonly isShare: boolean;
  readonly origin: ListAnswered['origin'];
}

/** For each item of a part, by its position there; counts are split by weight. */
export function foundIn({ envelope, results }: ReadAnswer, { answer }: ReadPart, weights: readonly number[]): Found[] {
  const { headers, translated, ignored = [] } = answer;
  const origin: Found['origin'] = {
    contentType: headerValue(headers, 'content-type'),
    translatedBy: translated?.by,
    ignored: translated?.ignored ?? ignored,
  };
  const shares = envelope.counts.map(({ path, source }) => ({ path, each: sharesOf(source, weights) }));
  const found: Found[] = [];
  for (const { item, result } of results) {
    const counts = new Map(shares.map(({ path, each }) => [path, each[item] ?? '0']));
    found[item] = { result, envelope, counts, isShare: results.length > 1 && counts.size > 0, origin };
  }
  return found;
}
