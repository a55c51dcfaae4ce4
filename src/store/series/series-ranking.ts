/** Ranks the lines of a split by their weight over all blocks, and remembers where the cells of each begin. */

import type { SeriesQuery } from '../../core/store/series.ts';
import { Sketch } from '../../lib/sketch.ts';
import { type BlockReader, countAt, nameAt, noName, others } from './series-block.ts';
import type { Selection } from './series-selection.ts';

/** Whether each call counts for the upstream that was called, instead of the upstream of its request. */
export const isByTargetIn = ({ filter, by }: SeriesQuery): boolean =>
  (filter.upstream !== undefined || by.includes('upstream')) &&
  filter.outcomes === undefined &&
  filter.code === undefined &&
  filter.cache === undefined &&
  !by.some((name) => name === 'outcome' || name === 'code' || name === 'cache');

const separator = '\0';

/** The lines of a split, numbered from 0. Lines are found by the numbers of their names; joining a text for each cell would take most of the time. */
export class Groups {
  readonly names: (readonly string[])[] = [];
  readonly weights: number[] = [];
  readonly #latencies: Sketch[] = [];
  /** The number of each name over all blocks, from 1. */
  readonly #numbers = new Map<string, number>();
  /** The line by the numbers of its first and second name; a number is 0 where the line has no such name. */
  readonly #byNumbers: number[][] = [];
  readonly #first: number;
  readonly #second: number | undefined;

  constructor([first = 'model', second]: SeriesQuery['by']) {
    this.#first = nameAt[first];
    this.#second = second && nameAt[second];
  }

  of(names: readonly string[]): number {
    const [first = '', second] = names;
    const numbers = [this.#numberOf(first), second === undefined ? 0 : this.#numberOf(second)] as const;
    return this.#byNumbers[numbers[0]]?.[numbers[1]] ?? this.#add(...numbers, names);
  }

  at(selection: Selection): number {
    const first = this.#numberIn(selection, this.#first);
    const second = this.#second === undefined ? 0 : this.#numberIn(selection, this.#second);
    return this.#byNumbers[first]?.[second] ?? this.#add(first, second, this.#namesOf(selection));
  }

  addLatency(group: number, reader: BlockReader): void {
    reader.readFigures(1);
    this.#latencies[group] ??= new Sketch();
    this.#latencies[group].add(reader.sketches[0] ?? [], reader.lengths[0] ?? 0);
  }

  weighByLatency(): void {
    for (const group of this.names.keys()) this.weights[group] = this.#latencies[group]?.quantile(0.95) ?? 0;
  }

  largest(most: number): (readonly string[])[] {
    const named = this.names.map((names, group) => ({ names, weight: this.weights[group] ?? 0 }));
    const candidates = named.filter(({ names }) => !names.includes(others));
    // Sorting all lines by name would take longer.
    const least =
      Float64Array.from(candidates, ({ weight }) => weight)
        .sort()
        .at(-most) ?? 0;
    return candidates
      .filter(({ weight }) => weight >= least)
      .sort((a, b) => b.weight - a.weight || (a.names.join(separator) < b.names.join(separator) ? -1 : 1))
      .slice(0, most)
      .map(({ names }) => names);
  }

  #add(first: number, second: number, names: readonly string[]): number {
    const group = this.names.push(names) - 1;
    this.weights.push(0);
    this.#byNumbers[first] ??= [];
    this.#byNumbers[first][second] = group;
    return group;
  }

  #namesOf({ reader }: Selection): string[] {
    const places = this.#second === undefined ? [this.#first] : [this.#first, this.#second];
    return places.map((place) => reader.text(reader.names[place] ?? noName));
  }

  #numberOf(text: string): number {
    const number = this.#numbers.get(text) ?? this.#numbers.size + 1;
    this.#numbers.set(text, number);
    return number;
  }

  #numberIn({ reader, numbers }: Selection, place: number): number {
    const name = reader.names[place] ?? noName;
    const known = numbers[name] ?? 0;
    if (known !== 0) return known;
    const number = this.#numberOf(reader.text(name));
    numbers[name] = number;
    return number;
  }
}

/** Where the cells of a block begin, and the line of each, so that a line's cells are found again without reading the others. */
export class RankedCells {
  readonly starts: Int32Array;
  readonly groups: Int32Array;
  count = 0;

  constructor(most: number) {
    this.starts = new Int32Array(most);
    this.groups = new Int32Array(most);
  }
}

export function rankCells(
  query: SeriesQuery,
  selections: readonly Selection[],
  groups: Groups,
): Map<Selection, RankedCells> {
  const { order } = query;
  const isByTarget = isByTargetIn(query);
  const ranked = new Map<Selection, RankedCells>();
  for (const selection of selections) ranked.set(selection, rankBlock(selection, { order, isByTarget, groups }));
  if (order === 'p95') groups.weighByLatency();
  return ranked;
}

interface Ranking {
  readonly order: SeriesQuery['order'];
  readonly isByTarget: boolean;
  readonly groups: Groups;
}

function rankBlock(selection: Selection, { order, isByTarget, groups }: Ranking): RankedCells {
  const { reader } = selection;
  const { weights } = groups;
  const cells = new RankedCells(reader.cellCount);
  selection.rewind();
  while (selection.next()) {
    if (selection.isAttempt && !isByTarget) continue;
    const group = groups.at(selection);
    cells.starts[cells.count] = reader.start;
    cells.groups[cells.count++] = group;
    if (selection.isAttempt) continue;
    const { facts } = selection;
    if (order === 'p95') {
      if (facts.isMeasured) groups.addLatency(group, reader);
    } else if (order === 'cost') {
      reader.readCounts();
      weights[group] = (weights[group] ?? 0) + (reader.counts[countAt.costNanos] ?? 0);
    } else if (order === 'requests' || facts.result === order) {
      weights[group] = (weights[group] ?? 0) + reader.readRequests();
    }
  }
  return cells;
}
