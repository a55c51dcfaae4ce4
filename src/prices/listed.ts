/** Looks prices up in the table that comes with Postern, and knows of a price whether it came from there. */

import type { Price } from '../core/accounting/price.ts';
import { parseDollars } from '../lib/money.ts';
import { type PriceList, priceTable, type WrittenPrice } from './table.ts';

interface CompiledList {
  readonly list: PriceList;
  readonly prices: ReadonlyMap<string, Price>;
}

const compiled = new Map<string, CompiledList>();
const origins = new WeakMap<Price, PriceList>();

for (const list of priceTable) {
  if (compiled.has(list.family)) throw new TypeError(`family ${list.family} stands twice in the table of prices`);
  const prices = Object.entries(list.models).map(([model, written]) => [model, toPrice(written)] as const);
  compiled.set(list.family, { list, prices: new Map(prices) });
  for (const [, price] of prices) origins.set(price, list);
}

/** Undefined where the table has none, or where someone else than the maker answers at that origin. */
export function listedPrice(family: string, origin: string | undefined, model: string): Price | undefined {
  const found = compiled.get(family);
  if (found === undefined || origin === undefined) return undefined;
  const host = URL.parse(origin)?.hostname ?? '';
  return found.list.hosts.test(host) ? found.prices.get(model) : undefined;
}

/** The part of the table that a price came from; undefined where an operator wrote it. */
export function listOf(price: Price): PriceList | undefined {
  return origins.get(price);
}

function toPrice(written: WrittenPrice): Price {
  return Object.freeze({
    input: toNanos(written.input),
    cachedInput: toNanos(written.cachedInput),
    cacheWrite: undefined,
    output: toNanos(written.output),
    searchUnit: toNanos(written.searchUnit),
    request: undefined,
    item: undefined,
    image: undefined,
  });
}

function toNanos(dollars: string | undefined): number | undefined {
  if (dollars === undefined) return undefined;
  const nanos = parseDollars(dollars);
  if (nanos === undefined) throw new TypeError(`the table of prices holds ${dollars}, which is no amount`);
  return nanos;
}
