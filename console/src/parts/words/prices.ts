/** Formats prices: what is billed, and where the price comes from. */

import { type ModelTarget, type Operation, operationRows } from '../../../../src/admin/contract.ts';
import { formatMoney, formatPriceDay } from './format.ts';

export const unitWords = {
  input: '1M input tokens',
  cached_input: '1M cached input tokens',
  cache_write: '1M input tokens put into the cache',
  cache_write_1h: '1M input tokens put there for an hour',
  audio_input: '1M input tokens of sound',
  image_input: '1M input tokens of images',
  output: '1M output tokens',
  audio_output: '1M output tokens of sound',
  image_output: '1M output tokens of images',
  search_unit: 'Search unit',
  request: 'Request',
  item: 'Input or document',
  image: 'Image',
  minute: 'Minute of a recording',
  character: '1M characters',
} as const;

export type PriceUnit = keyof typeof unitWords;
export const priceUnits = Object.keys(unitWords) as readonly PriceUnit[];

/** The units that requests of these operations are mostly billed by. */
export const unitsOf = (served: readonly Operation[]): PriceUnit[] =>
  [...new Set(served.flatMap((operation) => operationRows[operation].billedBy))].filter(
    (unit) => unit !== 'request' && unit !== 'item',
  );

type Price = NonNullable<ModelTarget['price']>;
type Amounts = NonNullable<Price['amounts']>;

const units: readonly (readonly [keyof Amounts, string])[] = [
  ['input', 'per 1M input tokens'],
  ['cachedInput', 'per 1M cached tokens'],
  ['cacheWrite', 'per 1M tokens put into the cache'],
  ['cacheWriteHour', 'per 1M tokens put there for an hour'],
  ['audioInput', 'per 1M input tokens of sound'],
  ['imageInput', 'per 1M input tokens of images'],
  ['output', 'per 1M output tokens'],
  ['audioOutput', 'per 1M output tokens of sound'],
  ['imageOutput', 'per 1M output tokens of images'],
  ['searchUnit', 'per search unit'],
  ['request', 'per request'],
  ['item', 'per item'],
  ['image', 'per image'],
  ['minute', 'per minute'],
  ['character', 'per 1M characters'],
];

/** The amounts of a price as texts, one for each billed unit; empty if it is free or unknown. */
function amountsInWords(amounts: Amounts | null): string[] {
  if (amounts === null) return [];
  return units.flatMap(([unit, words]) => {
    const amount = amounts[unit];
    return amount === undefined || Number(amount) === 0 ? [] : [`${formatMoney(amount)} ${words}`];
  });
}

export function priceInWords(price: Price | null): string {
  if (price === null) return 'Not in force yet';
  if (price.amounts === null) return 'Unknown';
  if (price.isFree) return 'Free';
  return amountsInWords(price.amounts).join(', ');
}

/** The price in short: that of texts without its unit (1M tokens), or the first amount of other prices. */
export function priceInShort(price: Price | null): string {
  const { input, output } = price?.amounts ?? {};
  const perTokens = [
    ...(Number(input ?? 0) > 0 ? [`${formatMoney(input ?? 0)} in`] : []),
    ...(Number(output ?? 0) > 0 ? [`${formatMoney(output ?? 0)} out`] : []),
  ];
  if (perTokens.length > 0) return perTokens.join(', ');
  return price?.isFree === false && price.amounts !== null
    ? (amountsInWords(price.amounts)[0] ?? '')
    : priceInWords(price);
}

export function sourceInWords(price: Price | null): string {
  if (price === null) return '';
  switch (price.source) {
    case 'target':
      return price.amounts === null ? 'Its target says that it is unknown.' : 'Set at its target.';
    case 'model':
      return price.amounts === null ? 'The model says that it is unknown.' : 'Set at the model.';
    case 'table': {
      const { listed } = price;
      if (listed === null) return 'From the table of prices.';
      const checked = listed.verified ? 'checked' : 'not checked since';
      return `From the table of prices, as of ${formatPriceDay(listed.asOf)}, ${checked}.`;
    }
    case 'imported': {
      const { listed } = price;
      return listed === null
        ? 'From imported prices.'
        : `From imported prices (${listed.source}), as of ${formatPriceDay(listed.asOf)}.`;
    }
    case 'inside':
      return 'It answers inside the gateway, and nobody sends a bill.';
    case 'unknown':
      return 'It is unknown; requests are counted without a cost. Set a price to count money.';
  }
}
