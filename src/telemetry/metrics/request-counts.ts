/** Counts requests by route and model, and usage by upstream and model. All labels come from the configuration or fixed tables. */

import { type RowOutcome, rowOutcomes } from '../../core/accounting/ledger-row.ts';
import type { Bill } from '../../core/accounting/price.ts';
import { countToolCalls, type UnitName, type Units } from '../../core/accounting/units.ts';
import type { ErrorCode } from '../../core/errors.ts';
import type { Exchange } from '../../core/exchange.ts';
import { getOrMake } from '../../lib/get-or-make.ts';
import type { MetricName } from './definitions.ts';
import type { TraceAt } from './exemplars.ts';
import type { Counter, Histogram, Registry } from './registry.ts';

const statusClasses = ['none', '1xx', '2xx', '3xx', '4xx', '5xx', 'other'] as const;
const clientGoneStatus = 499;

/** The route as labels have it; `none` where unknown, as for a path or a model that does not exist. */
interface CountedRoute {
  readonly route: string;
  readonly operation: string;
  readonly model: string;
}

export class RequestCounts {
  readonly #registry: Registry;
  readonly #counted: CountedRoute;
  /** Counters by outcome and by status class; created when first needed. */
  readonly #ended: (Counter | undefined)[] = [];
  #failed: Map<ErrorCode, Counter> | undefined = undefined;
  #duration: Histogram | undefined = undefined;
  #firstByte: Histogram | undefined = undefined;

  constructor(registry: Registry, counted: CountedRoute) {
    this.#registry = registry;
    this.#counted = counted;
  }

  /** Creates the counters with the value 0, so that the first request already shows as an increase. */
  show(): void {
    this.#endedAs('ok', 2).add(0);
  }

  /** Counts an exchange that has ended. `found`: its trace. */
  count(exchange: Exchange, nowMs: number, found: TraceAt | undefined): void {
    const { errorCode, startedMs, firstByteAtMs } = exchange;
    this.#endedAs(outcomeOf(exchange), statusClassOf(exchange)).add(1);
    if (errorCode !== undefined) this.#failedWith(errorCode).add(1);
    const { route, model } = this.#counted;
    this.#duration ??= this.#registry.histogram('postern_request_duration_seconds', route, model);
    this.#duration.observe((nowMs - startedMs) / 1000, found);
    if (firstByteAtMs === 0) return;
    this.#firstByte ??= this.#registry.histogram('postern_first_byte_seconds', route);
    this.#firstByte.observe((firstByteAtMs - startedMs) / 1000, found);
  }

  #endedAs(outcome: RowOutcome, statusClass: number): Counter {
    const at = rowOutcomes.indexOf(outcome) * statusClasses.length + statusClass;
    const known = this.#ended[at];
    if (known !== undefined) return known;
    const { route, operation, model } = this.#counted;
    const status = statusClasses[statusClass] ?? 'other';
    const made = this.#registry.counter('postern_requests_total', route, operation, model, status, outcome);
    this.#ended[at] = made;
    return made;
  }

  #failedWith(code: ErrorCode): Counter {
    this.#failed ??= new Map();
    return getOrMake(this.#failed, code, () =>
      this.#registry.counter('postern_errors_total', this.#counted.route, code),
    );
  }
}

function outcomeOf({ outcome, errorCode }: Exchange): RowOutcome {
  if (errorCode === undefined) return outcome ?? 'ok';
  // The request failed only as its end could not be written: until then it had no fault.
  if (outcome !== undefined) return outcome === 'ok' ? 'error' : outcome;
  return errorCode === 'client_closed' ? 'aborted' : 'refused';
}

/** The status class of a request. A client that left counts as gone, even after the answer's head was sent. */
function statusClassOf({ status, errorCode }: Exchange): number {
  const shown = errorCode === 'client_closed' ? clientGoneStatus : status;
  const hundreds = Math.floor(shown / 100);
  return hundreds < statusClasses.length - 1 ? hundreds : statusClasses.length - 1;
}

/** Labels of units besides tokens and items; units that have a metric of their own are left out. */
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

  /** Counts units. Most models use none of them, and then have no series. */
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
