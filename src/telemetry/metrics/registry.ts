/** Keeps counters and histograms by labels. Each is looked up once; its user keeps it. */

import { getOrMake } from '../../lib/get-or-make.ts';
import { type Definition, definitions, type MetricName, metricNames } from './definitions.ts';
import type { Exemplar, Exemplars, TraceAt } from './exemplars.ts';
import { type Reading, type Series, toLabels } from './reading.ts';

export class Counter {
  total = 0;

  add(count: number): void {
    this.total += count;
  }

  read(): number {
    return this.total;
  }

  static sum(cells: readonly Counter[]): number {
    let total = 0;
    for (const cell of cells) total += cell.total;
    return total;
  }
}

export class Histogram {
  readonly #bounds: readonly number[];
  /** Counts of observations: one for each bound, one above the last bound, and at the end the sum of all values. */
  readonly #counts: number[];
  #exemplars: (Exemplar | null)[] | undefined = undefined;

  constructor(bounds: readonly number[]) {
    this.#bounds = bounds;
    this.#counts = new Array<number>(bounds.length + 2).fill(0);
  }

  observe(value: number, trace?: TraceAt): void {
    const bounds = this.#bounds;
    let at = 0;
    while (at < bounds.length && value > (bounds[at] ?? 0)) at += 1;
    this.#counts[at] = (this.#counts[at] ?? 0) + 1;
    this.#counts[bounds.length + 1] = (this.#counts[bounds.length + 1] ?? 0) + value;
    if (trace === undefined) return;
    this.#exemplars ??= new Array<Exemplar | null>(bounds.length + 1).fill(null);
    this.#exemplars[at] = { traceId: trace.id, value, atS: trace.atS };
  }

  get exemplars(): readonly (Exemplar | null)[] | undefined {
    return this.#exemplars;
  }

  read(): number[] {
    return [...this.#counts];
  }

  static sum(cells: readonly Histogram[]): number[] {
    const total: number[] = [];
    for (const cell of cells) {
      for (let at = 0; at < cell.#counts.length; at += 1) total[at] = (total[at] ?? 0) + (cell.#counts[at] ?? 0);
    }
    return total;
  }
}

interface Making<T> {
  make(): T;
  sum(cells: readonly T[]): number | number[];
}

class Family<T extends Counter | Histogram> {
  readonly definition: Definition;
  /** Each child by its labels as Prometheus writes them. */
  readonly #children = new Map<string, T>();
  readonly #groups = new Map<string, T[]>();
  readonly #making: Making<T>;

  constructor(definition: Definition, making: Making<T>) {
    this.definition = definition;
    this.#making = making;
  }

  child(values: readonly string[]): T {
    const labels = toLabels(this.definition.labels, values);
    let child = this.#children.get(labels);
    if (child === undefined) {
      child = this.#making.make();
      this.#children.set(labels, child);
      this.#group(values, child);
    }
    return child;
  }

  #group(values: readonly string[], child: T): void {
    const { labels, summedBy } = this.definition;
    if (summedBy === undefined) return;
    const kept = summedBy.map((name) => values[labels.indexOf(name)] ?? '');
    const group = toLabels(summedBy, kept);
    getOrMake(this.#groups, group, () => []).push(child);
  }

  forget(label: string, values: ReadonlySet<string>): void {
    if (!this.definition.labels.some((name) => name === label)) return;
    const gone = new Set([...values].map((value) => toLabels([label], [value]).slice(1, -1)));
    // A quote within a value always follows a backslash.
    const written = new RegExp(`[{,](${label}="(?:[^"\\\\]|\\\\.)*")`);
    const cells = new Set<T>();
    for (const [labels, cell] of this.#children) {
      const [, found = ''] = written.exec(labels) ?? [];
      if (!gone.has(found)) continue;
      this.#children.delete(labels);
      cells.add(cell);
    }
    if (cells.size === 0) return;
    for (const [group, all] of this.#groups) {
      const left = all.filter((cell) => !cells.has(cell));
      if (left.length === 0) this.#groups.delete(group);
      else this.#groups.set(group, left);
    }
  }

  *exemplars(): Generator<[string, readonly (Exemplar | null)[]]> {
    for (const [labels, cell] of this.#children) {
      if (cell instanceof Histogram && cell.exemplars !== undefined) yield [labels, [...cell.exemplars]];
    }
  }

  *series(): Generator<undefined, Series, undefined> {
    const series: Series = {};
    for (const [labels, cell] of this.#children) {
      yield;
      series[labels] = cell.read();
    }
    return series;
  }

  /** The values summed by the labels of `summedBy`; where there are none, those of all children. */
  *sums(): Generator<undefined, Series, undefined> {
    if (this.definition.summedBy === undefined) return yield* this.series();
    const series: Series = {};
    for (const [group, cells] of this.#groups) {
      yield;
      series[group] = this.#making.sum(cells);
    }
    return series;
  }
}

function exemplarsOf(families: Iterable<readonly [MetricName, Family<Histogram>]>): Exemplars | undefined {
  const exemplars: Partial<Record<MetricName, Record<string, readonly (Exemplar | null)[]>>> = {};
  let isEmpty = true;
  for (const [name, family] of families) {
    for (const [labels, own] of family.exemplars()) {
      exemplars[name] = { ...exemplars[name], [labels]: own };
      isEmpty = false;
    }
  }
  return isEmpty ? undefined : exemplars;
}

export class Registry {
  readonly #counters = new Map<MetricName, Family<Counter>>();
  readonly #histograms = new Map<MetricName, Family<Histogram>>();

  constructor() {
    for (const name of metricNames) {
      const definition = definitions[name];
      const { type, buckets } = definition;
      if (type === 'counter') {
        this.#counters.set(name, new Family(definition, { make: () => new Counter(), sum: Counter.sum }));
      } else if (type === 'histogram') {
        this.#histograms.set(name, new Family(definition, { make: () => new Histogram(buckets), sum: Histogram.sum }));
      }
    }
  }

  /** The counter with these labels, in the order of the definition; always the same object. */
  counter(name: MetricName, ...values: string[]): Counter {
    return familyOf(this.#counters, name).child(values);
  }

  histogram(name: MetricName, ...values: string[]): Histogram {
    return familyOf(this.#histograms, name).child(values);
  }

  forget(label: string, values: ReadonlySet<string>): void {
    if (values.size === 0) return;
    for (const family of [...this.#counters.values(), ...this.#histograms.values()]) family.forget(label, values);
  }

  /** Reads all metrics, or those in `only`, summed as defined. It may pause at every `yield`. */
  *reading(only?: ReadonlySet<MetricName>): Generator<undefined, Reading, undefined> {
    const reading: Reading = {};
    for (const [name, family] of [...this.#counters, ...this.#histograms]) {
      if (only === undefined) reading[name] = yield* family.series();
      else if (only.has(name)) reading[name] = yield* family.sums();
    }
    const exemplars = only === undefined ? exemplarsOf(this.#histograms) : undefined;
    return exemplars === undefined ? reading : { ...reading, exemplars };
  }
}

function familyOf<T>(families: ReadonlyMap<MetricName, T>, name: MetricName): T {
  const family = families.get(name);
  if (family === undefined) throw new TypeError(`${name} is a metric of another type`);
  return family;
}
