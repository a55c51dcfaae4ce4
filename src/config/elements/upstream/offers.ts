/** The operations that a target offers under each label, with the paths that they are called at. */

import { type Offer, type Offers, type Options, withOptions } from '../../../core/family.ts';
import { labels } from '../../../core/label.ts';
import { operations } from '../../../core/operations/index.ts';
import { offerKey } from '../../../core/snapshot.ts';

/** Those that are wanted, with the upstream's options in their paths. */
export function toOfferMap(
  offers: Offers,
  options: Options,
  isWanted: (offer: Offer) => boolean,
): ReadonlyMap<string, Offer> {
  const wanted = new Map<string, Offer>();
  for (const label of labels) {
    for (const operation of operations) {
      const offer = offers[label]?.[operation];
      if (offer === undefined || !isWanted(offer)) continue;
      wanted.set(offerKey(label, operation), Object.freeze({ ...offer, path: withOptions(offer.path, options) }));
    }
  }
  return wanted;
}
