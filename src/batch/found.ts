/** Holds the known result of one item, with facts of the response that it came in. */

import type { ListAnswered, ReadPart } from '../core/lists.ts';
import { headerValue } from '../lib/raw-headers.ts';
import type { Envelope, ReadAnswer, Result } from './codecs/codec.ts';
import { sharesOf } from './decimals.ts';

export interface Found {
  readonly result: Result;
  readonly envelope: Envelope;
  /** The item's share of each count in the answer, by the count's path. */
  readonly counts: ReadonlyMap<string, string>;
  /** True where the answer covered several items, so that their shares of its counts are estimates. */
  readonly isShare: boolean;
  readonly origin: ListAnswered['origin'];
}

/** The results of a part's items, by position in the part; the answer's counts are divided by the items' weights. */
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
