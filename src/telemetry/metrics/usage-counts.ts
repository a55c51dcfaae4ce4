/** Usage metrics of one upstream and model. */

import type { Bill } from '../../core/accounting/price.ts';
import { countToolCalls, type UnitName, type Units } from '../../core/accounting/units.ts';
import type { Counter, Registry } from './registry.ts';

/** Beside tokens and items; those that a row counts in another metric are not here. */
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

export class UsageCounts {
  readonly #registry: Registry;
  readonly #model: string;
  readonly #upstream: string;
  readonly #input: Counter;
  readonly #output: Counter;
  readonly #cached: Counter;
  readonly #searchUnits: Counter;
  readonly #items: Counter;
  readonly #dollars: Counter;
  readonly #savedItems: Counter;
  readonly #savedTokens: Counter;
  readonly #savedDollars: Counter;
  readonly #unpriced: Counter;
  readonly #estimated: Counter;

  constructor(registry: Registry, model: string, upstream: string) {
    this.#registry = registry;
    this.#model = model;
    this.#upstream = upstream;
    this.#input = registry.counter('postern_tokens_total', model, upstream, 'input');
    this.#output = registry.counter('postern_tokens_total', model, upstream, 'output');
    this.#cached = registry.counter('postern_cached_tokens_total', model, upstream);
    this.#searchUnits = registry.counter('postern_search_units_total', model, upstream);
    this.#items = registry.counter('postern_items_total', model, upstream);
    this.#dollars = registry.counter('postern_cost_dollars_total', model, upstream);
    this.#savedItems = registry.counter('postern_saved_items_total', model, upstream);
    this.#savedTokens = registry.counter('postern_saved_tokens_total', model, upstream);
    this.#savedDollars = registry.counter('postern_saved_cost_dollars_total', model, upstream);
    this.#unpriced = registry.counter('postern_unpriced_requests_total', model, upstream);
    this.#estimated = registry.counter('postern_estimated_requests_total', model, upstream);
  }

  count(bill: Bill): void {
    this.#input.add(bill.inputTokens);
    this.#output.add(bill.outputTokens);
    this.#cached.add(bill.cachedTokens);
    this.#searchUnits.add(bill.searchUnits);
    this.#items.add(bill.items);
    if (bill.costNanos === null) this.#unpriced.add(1);
    else this.#dollars.add(bill.costNanos / 1e9);
    if (bill.isEstimated) this.#estimated.add(1);
    if (bill.units !== undefined) this.#countUnits(bill.units);
  }

  /** Most models count none of them, and have no line for them then. */
  #countUnits(units: Units): void {
    for (const [name, word] of unitWords) this.#addUnit(word, units[name]);
    if (units.toolCalls !== undefined) this.#addUnit('tool_calls', countToolCalls(units));
    if (units.savedItems === undefined) return;
    this.#savedItems.add(units.savedItems);
    this.#savedTokens.add(units.savedTokens ?? 0);
    this.#savedDollars.add((units.savedNanos ?? 0) / 1e9);
  }

  #addUnit(word: string, count: number | undefined): void {
    if (count !== undefined)
      this.#registry.counter('postern_units_total', this.#model, this.#upstream, word).add(count);
  }
}
