/** What is counted of the usage that one upstream was billed for one model. */

import type { Bill } from '../../core/accounting/price.ts';
import type { Counter, Registry } from './registry.ts';

export class UsageCounts {
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
    if (bill.units?.savedItems === undefined) return;
    this.#savedItems.add(bill.units.savedItems);
    this.#savedTokens.add(bill.units.savedTokens ?? 0);
    this.#savedDollars.add((bill.units.savedNanos ?? 0) / 1e9);
  }
}
