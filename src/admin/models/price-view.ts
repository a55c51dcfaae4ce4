/** What a target costs, and who says so. */

import type { Price } from '../../core/accounting/price.ts';
import type { ElementDocument } from '../../core/resource-desk.ts';
import type { Target } from '../../core/snapshot.ts';
import { toDollars } from '../../lib/money.ts';
import { listOf, type PriceOrigin } from '../../prices/listed.ts';

type Source = 'target' | 'model' | PriceOrigin['from'] | 'inside' | 'unknown';

/** `document` is the model as it is written. */
export function toPriceView({ upstream, model, price, offers }: Target, document: ElementDocument) {
  const list = price === undefined ? undefined : listOf(price);
  return {
    source: sourceOf(),
    amounts: price === undefined ? null : toAmounts(price),
    isFree: price !== undefined && Object.values(price).every((nanos) => nanos === 0 || nanos === undefined),
    listed: list === undefined ? null : { source: list.source, asOf: list.asOf, verified: list.verified },
  };

  function sourceOf(): Source {
    if (list !== undefined) return list.from;
    const written = targetsIn(document).find(
      (one) => one.upstream === upstream.id && (one.model ?? document.id) === model,
    );
    if (isSet(written?.price)) return 'target';
    if (isSet(document.price)) return 'model';
    return price !== undefined && offers.values().some(({ make }) => make !== undefined) ? 'inside' : 'unknown';
  }
}

const isSet = (written: unknown): boolean => written !== undefined && written !== null;

export function targetsIn({ targets }: ElementDocument): Readonly<Record<string, unknown>>[] {
  return Array.isArray(targets) ? targets.filter((one) => typeof one === 'object' && one !== null) : [];
}

const names = [
  'input',
  'cachedInput',
  'cacheWrite',
  'cacheWriteHour',
  'audioInput',
  'imageInput',
  'output',
  'audioOutput',
  'imageOutput',
  'searchUnit',
  'request',
  'item',
  'image',
  'minute',
  'character',
] as const;
type Amounts = Partial<Record<(typeof names)[number], string>>;

function toAmounts(price: Price): Amounts {
  const amounts: Amounts = {};
  for (const name of names) {
    const nanos = price[name];
    if (nanos !== undefined) amounts[name] = toDollars(nanos);
  }
  return amounts;
}
