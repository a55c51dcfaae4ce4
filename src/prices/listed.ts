/** Looks prices up in the table that comes with Postern, and knows of a price whether it came from there. */

import type { Price } from '../core/accounting/price.ts';
import type { Model } from '../core/snapshot.ts';
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

/** Who a price comes from that no operator wrote at the model. */
export const priceSources = ['table', 'imported'] as const;

export interface PriceDate {
  readonly source: (typeof priceSources)[number];
  /** As of which day the prices are. */
  readonly asOf: string;
  /** How many models go by them. */
  readonly models: number;
}

/** The lists that prices of these models come from, the oldest first. */
export function priceDates(models: Iterable<Pick<Model, 'targets'>>): PriceDate[] {
  const found = new Map<string, PriceDate>();
  for (const { targets } of models) {
    const lists = new Map<string, Pick<PriceDate, 'source' | 'asOf'>>();
    for (const { price } of targets) {
      const list = price === undefined ? undefined : listOf(price);
      if (list !== undefined) lists.set(`${list.asOf} table`, { source: 'table', asOf: list.asOf });
    }
    for (const [name, list] of lists) found.set(name, { ...list, models: (found.get(name)?.models ?? 0) + 1 });
  }
  return [...found.values()].sort((one, other) => (one.asOf < other.asOf ? -1 : 1));
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
