/** Usage metrics of one upstream and model. */

import type { Bill } from '../../core/accounting/price.ts';
import { countToolCalls, type UnitName, type Units } from '../../core/accounting/units.ts';
import type { MetricName } from './definitions.ts';
import type { Counter, Registry } from './registry.ts';

/** Beside tokens and items; units with their own metric are left out. */
const unitWords = [
  ['images', 'images'],
  ['seconds', 'seconds'],
  ['characters', 'characters'],
  ['reasoningTokens', 'reasoning_tokens'],
  ['cacheWriteTokens', 'cache_write_tokens'],
  ['audioInputTokens', 'audio_input_tokens'],
  ['imageInputTokens', 'image_input_tokens'],
  ['audioOutputTokens', 'audio_output_tokens'],
  ['imageOutputTokens', 'image_output_tokens'],
] as const satisfies readonly (readonly [UnitName, string])[];

function countersOf(registry: Registry, model: string, upstream: string) {
  const of = (name: MetricName, ...more: string[]): Counter => registry.counter(name, model, upstream, ...more);
  return {
    input: of('postern_tokens_total', 'input'),
    output: of('postern_tokens_total', 'output'),
    cached: of('postern_cached_tokens_total'),
    searchUnits: of('postern_search_units_total'),
    items: of('postern_items_total'),
    dollars: of('postern_cost_dollars_total'),
    savedItems: of('postern_saved_items_total'),
    savedTokens: of('postern_saved_tokens_total'),
    savedDollars: of('postern_saved_cost_dollars_total'),
    unpriced: of('postern_unpriced_requests_total'),
    estimated: of('postern_estimated_requests_total'),
    unit: (word: string) => of('postern_units_total', word),
  };
}

export class UsageCounts {
  readonly #of: ReturnType<typeof countersOf>;

  constructor(registry: Registry, model: string, upstream: string) {
    this.#of = countersOf(registry, model, upstream);
  }

  count(bill: Bill): void {
    this.#of.input.add(bill.inputTokens);
    this.#of.output.add(bill.outputTokens);
    this.#of.cached.add(bill.cachedTokens);
    this.#of.searchUnits.add(bill.searchUnits);
    this.#of.items.add(bill.items);
    if (bill.costNanos === null) this.#of.unpriced.add(1);
    else this.#of.dollars.add(bill.costNanos / 1e9);
    if (bill.isEstimated) this.#of.estimated.add(1);
    if (bill.units !== undefined) this.#countUnits(bill.units);
  }

  /** Most models use none of them, and then have no series. */
  #countUnits(units: Units): void {
    for (const [name, word] of unitWords) this.#addUnit(word, units[name]);
    if (units.toolCalls !== undefined) this.#addUnit('tool_calls', countToolCalls(units));
    if (units.savedItems === undefined) return;
    this.#of.savedItems.add(units.savedItems);
    this.#of.savedTokens.add(units.savedTokens ?? 0);
    this.#of.savedDollars.add((units.savedNanos ?? 0) / 1e9);
  }

  #addUnit(word: string, count: number | undefined): void {
    if (count !== undefined) this.#of.unit(word).add(count);
  }
}
