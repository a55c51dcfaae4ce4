/** What a model costs, as the list of models tells it: dollars for one of each, as text, so that no digit is lost. */

import type { PriceUnit } from '../core/accounting/price.ts';
import type { Model } from '../core/snapshot.ts';

/** By the names that clients know from OpenRouter, and after their kind; `decimals` of a price in whole nano-dollars. */
const told: Readonly<Record<PriceUnit, readonly [name: string, decimals: number]>> = {
  input: ['prompt', 15],
  cachedInput: ['input_cache_read', 15],
  cacheWrite: ['input_cache_write', 15],
  output: ['completion', 15],
  character: ['character', 15],
  cacheWriteHour: ['input_cache_write_1h', 15],
  audioInput: ['input_audio', 15],
  imageInput: ['input_image', 15],
  audioOutput: ['output_audio', 15],
  imageOutput: ['output_image', 15],
  request: ['request', 9],
  searchUnit: ['search_unit', 9],
  item: ['item', 9],
  image: ['image', 9],
  minute: ['minute', 9],
};

function toText(units: number, decimals: number): string {
  const digits = BigInt(units)
    .toString()
    .padStart(decimals + 1, '0');
  const fraction = digits.slice(-decimals).replace(/0+$/, '');
  return `${digits.slice(0, -decimals)}${fraction === '' ? '' : `.${fraction}`}`;
}

/** That of the dearest of its targets, kind by kind; undefined where one of them has none that is known. */
export function pricingOf({ targets }: Model): Readonly<Record<string, string>> | undefined {
  const prices = targets.flatMap(({ price, weight }) => (weight > 0 ? [price] : []));
  const known = prices.filter((price) => price !== undefined);
  if (known.length === 0 || known.length < prices.length) return undefined;
  const kinds = Object.entries(told) as [PriceUnit, readonly [string, number]][];
  const pricing = kinds.flatMap(([kind, [name, decimals]]) => {
    const amounts = known.flatMap((price) => price[kind] ?? []);
    return amounts.length === 0 ? [] : [[name, toText(Math.max(...amounts), decimals)] as const];
  });
  return Object.fromEntries(pricing);
}
