/** Looks up prices in imported lists and the built-in table, with their source. */

import type { Price, priceSources } from '../core/accounting/price.ts';
import type { Family } from '../core/family.ts';
import type { Model } from '../core/snapshot.ts';
import { parseDollars } from '../lib/money.ts';
import { type ImportedPrices, priceOf } from './imported.ts';
import { type PriceList, priceTable, type WrittenPrice } from './table.ts';

interface CompiledList {
  readonly list: PriceList;
  readonly prices: ReadonlyMap<string, Price>;
}

const compiled = new Map<string, CompiledList>();
export interface PriceOrigin extends Pick<PriceList, 'source' | 'asOf'> {
  readonly verified: boolean;
  readonly from: (typeof priceSources)[number];
}

const origins = new WeakMap<Price, PriceOrigin>();

for (const list of priceTable) {
  if (compiled.has(list.family)) throw new TypeError(`family ${list.family} stands twice in the table of prices`);
  const prices = Object.entries(list.models).map(([model, written]) => [model, toPrice(written)] as const);
  compiled.set(list.family, { list, prices: new Map(prices) });
  const { source, asOf, verified = false } = list;
  for (const [, price] of prices) origins.set(price, { from: 'table', source, asOf, verified });
}

/** Whether a family has its maker's own address, and so the maker's prices. */
export const hasMaker = ({ id, baseUrl = '' }: Pick<Family, 'id' | 'baseUrl'>): boolean =>
  compiled.has(id) || baseUrl.startsWith('https:');

function isMaker({ id, baseUrl = '' }: Pick<Family, 'id' | 'baseUrl'>, host: string): boolean {
  const list = compiled.get(id)?.list;
  return list === undefined ? host === URL.parse(baseUrl)?.hostname : list.hosts.test(host);
}

/** The price in the lists; undefined where no list has one, or the origin is another service than the maker's. */
export function listedPrice(
  family: Pick<Family, 'id' | 'baseUrl'>,
  origin: string | undefined,
  model: string,
  imported?: ImportedPrices,
): Price | undefined {
  if (origin === undefined) return undefined;
  const host = URL.parse(origin)?.hostname ?? '';
  const ofMaker = isMaker(family, host);
  if (imported !== undefined) {
    const { services, source, asOf } = imported;
    const price = services.get(host)?.get(model) ?? (ofMaker ? services.get(family.id)?.get(model) : undefined);
    if (price !== undefined) {
      origins.set(price, { from: 'imported', source, asOf, verified: true });
      return price;
    }
  }
  return ofMaker ? compiled.get(family.id)?.prices.get(model) : undefined;
}

export function listOf(price: Price): PriceOrigin | undefined {
  return origins.get(price);
}

export interface PriceDate {
  readonly source: (typeof priceSources)[number];
  readonly asOf: string;
  readonly models: number;
}

export function priceDates(models: Iterable<Pick<Model, 'targets'>>): PriceDate[] {
  const found = new Map<string, PriceDate>();
  for (const { targets } of models) {
    const lists = new Map<string, Pick<PriceDate, 'source' | 'asOf'>>();
    for (const { price } of targets) {
      const list = price === undefined ? undefined : listOf(price);
      if (list !== undefined) lists.set(`${list.asOf} ${list.from}`, { source: list.from, asOf: list.asOf });
    }
    for (const [name, list] of lists) found.set(name, { ...list, models: (found.get(name)?.models ?? 0) + 1 });
  }
  return [...found.values()].sort((one, other) => (one.asOf < other.asOf ? -1 : 1));
}

function toPrice({ input, cachedInput, output, searchUnit }: WrittenPrice): Price {
  const [cached_input, search_unit] = [toNanos(cachedInput), toNanos(searchUnit)];
  return priceOf({ input: toNanos(input), cached_input, output: toNanos(output), search_unit });
}

function toNanos(dollars: string | undefined): number | undefined {
  if (dollars === undefined) return undefined;
  const nanos = parseDollars(dollars);
  if (nanos === undefined) throw new TypeError(`the table of prices holds ${dollars}, which is no amount`);
  return nanos;
}

const dayMs = 86_400_000;
const oldAfterDays = 180;

/** The text `", 386 days old"`, or an empty one for a recent list. */
export function ageText(asOf: string, nowMs: number): string {
  const days = Math.floor((nowMs - Date.parse(`${asOf}T00:00:00Z`)) / dayMs);
  return days > oldAfterDays ? `, ${days} days old` : '';
}
