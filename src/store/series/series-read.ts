/** Answers a series query from blocks: first the lines, then their points and percentiles. */

import { rowOutcomes } from '../../core/accounting/ledger-row.ts';
import {
  latencyKinds,
  type Percentiles,
  resultOf,
  type SeriesAnswer,
  type SeriesCount,
  type SeriesFigures,
  type SeriesLine,
  type SeriesPoints,
  type SeriesQuery,
  seriesCounts,
} from '../../core/store/series.ts';
import { getOrMake } from '../../lib/get-or-make.ts';
import { boundOf, type Pairs, quantilesOf, Sketch } from '../../lib/sketch.ts';
import { BlockReader, counted, noName, others, sketched } from './series-block.ts';
import type { SeriesPlan } from './series-plan.ts';
import { nameAt, pointAt, Selection } from './series-selection.ts';

export interface StoredBlock {
  readonly at: number;
  readonly data: Uint8Array;
}

/** Positions of a count in a cell and in the answer. Unrolled: it is read for each cell. */
const cellAt = {
  requests: counted.indexOf('requests'),
  attempts: counted.indexOf('attempts'),
  failedAttempts: counted.indexOf('failedAttempts'),
  direct: counted.indexOf('direct'),
  directFailed: counted.indexOf('directFailed'),
  costNanos: counted.indexOf('costNanos'),
};
const shownAt = {
  attempts: seriesCounts.indexOf('attempts'),
  failedAttempts: seriesCounts.indexOf('failedAttempts'),
  cached: seriesCounts.indexOf('cached'),
};

function addTo(sums: Float64Array, at: number, amount: number): void {
  sums[at] = (sums[at] ?? 0) + amount;
}

/** Counts copied unchanged from cells, as pairs of indexes. */
const copied = seriesCounts.flatMap((name, to) => {
  const from = (counted as readonly string[]).indexOf(name);
  return from === -1 || name === 'attempts' || name === 'failedAttempts' ? [] : [[from, to] as const];
});

/** Typed arrays: destructuring pairs takes several times as long, for each cell. */
const copiedFrom = Uint8Array.from(copied, ([from]) => from);
const copiedTo = Uint8Array.from(copied, ([, to]) => to);

const mostCodes = 10;
const shares = [0.5, 0.95, 0.99];
const heatmapRows = 30;
/** Counts with a value for each step. */
const pointCounts = [
  ...['requests', 'succeeded', 'failed', 'refused', 'cancelled', 'attempts', 'failedAttempts'],
  ...['inputTokens', 'outputTokens', 'items', 'costNanos'],
] as SeriesCount[];

const none: Pairs = [];

/** Sums of one line, or of all; step by step, in the order of time. */
class Line {
  readonly names: readonly string[];
  readonly isOthers: boolean;
  readonly sums = new Float64Array(seriesCounts.length);
  readonly sketches = sketched.map(() => new Sketch());
  readonly stepSums = new Float64Array(seriesCounts.length);
  readonly #stepSketch = new Sketch();
  readonly counts: readonly Float64Array[];
  readonly percentiles: (Percentiles | null)[];
  /** For a heat map. */
  readonly pairs: Pairs[] = [];
  readonly #keepsPairs: boolean;
  /** The latency shown step by step: its total is the sum of the steps. */
  readonly #latency: number;

  constructor(names: readonly string[], isOthers: boolean, steps: number, latency: number, keepsPairs = false) {
    this.names = names;
    this.isOthers = isOthers;
    this.counts = steps === 0 ? [] : pointCounts.map(() => new Float64Array(steps));
    this.percentiles = Array.from({ length: steps }, () => null);
    this.#keepsPairs = keepsPairs;
    this.#latency = steps === 0 ? -1 : latency;
  }

  take(selection: Selection, isByTarget: boolean): void {
    const { reader } = selection;
    const { counts } = reader;
    const sums = this.stepSums;
    const requests = counts[cellAt.requests] ?? 0;
    if (selection.isAttempt) {
      addTo(sums, shownAt.attempts, requests);
      if (selection.isFailure) addTo(sums, shownAt.failedAttempts, requests);
      return;
    }
    for (let at = 0; at < copiedTo.length; at++) addTo(sums, copiedTo[at] ?? 0, counts[copiedFrom[at] ?? 0] ?? 0);
    if (selection.result >= 0) addTo(sums, selection.result, requests);
    if (selection.isCached) addTo(sums, shownAt.cached, requests);
    addTo(sums, shownAt.attempts, counts[isByTarget ? cellAt.direct : cellAt.attempts] ?? 0);
    addTo(sums, shownAt.failedAttempts, counts[isByTarget ? cellAt.directFailed : cellAt.failedAttempts] ?? 0);
    if (!selection.isMeasured) return;
    const latency = this.#latency;
    for (let at = 0; at < this.sketches.length; at++)
      this.#addSketch(reader, at, at === latency ? this.#stepSketch : this.sketches[at]);
  }

  #addSketch({ sketches, lengths }: BlockReader, at: number, to: Sketch | undefined): void {
    const pairs = sketches[at];
    const length = lengths[at] ?? 0;
    if (length > 0 && pairs !== undefined) to?.add(pairs, length);
  }

  /** Ends a step; this line is the sum of these lines. */
  endStepOf(lines: readonly Line[], step: number): void {
    for (const line of lines) {
      for (let at = 0; at < this.stepSums.length; at++) addTo(this.stepSums, at, line.stepSums[at] ?? 0);
      const pairs = line.endStep(step);
      this.#stepSketch.add(pairs, pairs.length);
    }
    this.endStep(step);
  }

  /** Sketches that are not split by steps. */
  addSketchesOf(lines: readonly Line[]): void {
    for (const line of lines) {
      for (const [at, sketch] of this.sketches.entries()) {
        if (at === this.#latency) continue;
        const pairs = line.sketches[at]?.toPairs() ?? [];
        sketch.add(pairs, pairs.length);
      }
    }
  }

  endStep(step: number): Pairs {
    const { sums, stepSums } = this;
    for (let at = 0; at < sums.length; at++) sums[at] = (sums[at] ?? 0) + (stepSums[at] ?? 0);
    for (const [index, list] of this.counts.entries())
      list[step] = stepSums[pointAt(pointCounts[index] ?? 'requests')] ?? 0;
    stepSums.fill(0);
    if (this.#stepSketch.isEmpty) return none;
    const pairs = this.#stepSketch.toPairs();
    this.#stepSketch.clear();
    this.sketches[this.#latency]?.add(pairs, pairs.length);
    this.percentiles[step] = toPercentiles(pairs) ?? null;
    if (this.#keepsPairs) this.pairs[step] = pairs;
    return pairs;
  }
}

export function readSeries(
  query: SeriesQuery,
  plan: SeriesPlan,
  blocks: readonly StoredBlock[],
  sinceMs: number,
): SeriesAnswer {
  const selections = blocks
    .toSorted((a, b) => a.at - b.at)
    .map(({ at, data }) => new Selection(query, at, new BlockReader(data)));
  const steps = query.wantsPoints ? plan.steps : 0;
  const latency = latencyKinds.indexOf(query.latency);
  const total = new Line([], false, steps, latency, query.wantsHeatmap);
  const isByTarget = isByTargetIn(query);
  const lines = query.by.length === 0 ? undefined : new Lines(query, selections, steps, latency);
  const all = lines?.all ?? [];
  const tally = new Tally();
  let step = 0;
  for (const selection of selections) {
    const ofBlock = steps === 0 ? 0 : Math.floor((selection.at - plan.firstMs) / plan.stepMs);
    if (ofBlock !== step) {
      total.endStepOf(all, step);
      step = ofBlock;
    }
    addBlock(selection, { total, lines, tally, isByTarget });
  }
  total.endStepOf(all, step);
  total.addSketchesOf(all);
  return {
    fromMs: plan.fromMs,
    toMs: plan.toMs,
    stepMs: plan.stepMs,
    timesMs: Array.from({ length: plan.steps }, (_, at) => Math.max(plan.fromMs, plan.firstMs + at * plan.stepMs)),
    sinceMs,
    total: toLine(total),
    lines: all.filter(({ sums, isOthers }) => !isOthers || sums.some((sum) => sum > 0)).map(toLine),
    heatmap:
      query.wantsHeatmap && steps > 0
        ? toHeatmap(Array.from({ length: steps }, (_, at) => total.pairs[at] ?? []))
        : undefined,
    codes: tally.codes(),
    attemptErrors: tally.attemptErrors(),
  };
}

interface Adding {
  readonly total: Line;
  readonly lines: Lines | undefined;
  readonly tally: Tally;
  readonly isByTarget: boolean;
}

/** A separate function, like `rankBlock`: V8 would compile a nested loop anew for each block. */
function addBlock(selection: Selection, { total, lines, tally, isByTarget }: Adding): void {
  selection.rewind();
  while (selection.next()) {
    tally.count(selection);
    if (selection.isAttempt && !isByTarget) continue;
    selection.reader.readFigures();
    // Each cell belongs to one line, and the total is their sum.
    (lines?.lineOf(selection) ?? total).take(selection, isByTarget);
  }
}

/** Whether calls count for the upstream that was called, and not for their request's. */
const isByTargetIn = ({ filter, by }: SeriesQuery): boolean =>
  (filter.upstream !== undefined || by.includes('upstream')) &&
  filter.outcomes === undefined &&
  filter.code === undefined &&
  filter.cache === undefined &&
  !by.some((name) => name === 'outcome' || name === 'code' || name === 'cache');

const separator = '\0';

/** The largest lines in the requested order, and one for all others; or the requested lines. */
class Lines {
  readonly all: readonly Line[];
  readonly #groups: Groups;
  readonly #rest: Line;

  constructor(query: SeriesQuery, selections: readonly Selection[], steps: number, latency: number) {
    this.#groups = new Groups(query.by.map((name) => nameAt[name]));
    const names = query.lines ?? rank(query, selections, this.#groups);
    const lines = names.map((one) => new Line(one, false, steps, latency));
    for (const line of lines) this.#groups.of(line.names.join(separator)).line = line;
    this.#rest = new Line(
      query.by.map(() => ''),
      true,
      steps,
      latency,
    );
    this.all = [...lines, this.#rest];
  }

  lineOf(selection: Selection): Line {
    return this.#groups.at(selection).line ?? this.#rest;
  }
}

interface Group {
  weight: number;
  readonly sketch: Sketch;
  line: Line | undefined;
}

class Groups {
  readonly byKey = new Map<string, Group>();
  readonly #indexes: readonly number[];
  /** By the block's name numbers: texts are looked up once. */
  readonly #known = new Map<Selection, Map<number, Group>>();
  #block: Selection | undefined = undefined;
  #ofBlock = new Map<number, Group>();

  constructor(indexes: readonly number[]) {
    this.#indexes = indexes;
  }

  of(key: string): Group {
    return getOrMake(this.byKey, key, () => ({ weight: 0, sketch: new Sketch(), line: undefined }));
  }

  at(selection: Selection): Group {
    const { reader } = selection;
    if (this.#block !== selection) this.#enter(selection);
    const number = numberOf(reader, this.#indexes);
    let group = this.#ofBlock.get(number);
    if (group === undefined) {
      group = this.of(keyOf(reader, this.#indexes));
      this.#ofBlock.set(number, group);
    }
    return group;
  }

  #enter(selection: Selection): void {
    this.#block = selection;
    this.#ofBlock = this.#known.get(selection) ?? new Map();
    this.#known.set(selection, this.#ofBlock);
  }
}

function numberOf({ names, nameCount }: BlockReader, indexes: readonly number[]): number {
  const one = names[indexes[0] ?? 0] ?? noName;
  const second = indexes[1];
  return second === undefined ? one : one * nameCount + (names[second] ?? noName);
}

function keyOf(reader: BlockReader, indexes: readonly number[]): string {
  const first = indexes[0] ?? 0;
  const second = indexes[1];
  const one = reader.text(reader.names[first] ?? noName);
  return second === undefined ? one : `${one}${separator}${reader.text(reader.names[second] ?? noName)}`;
}

function rank(query: SeriesQuery, selections: readonly Selection[], groups: Groups): (readonly string[])[] {
  const { order, top } = query;
  const isByTarget = isByTargetIn(query);
  for (const selection of selections) rankBlock(selection, { order, isByTarget, groups });
  if (order === 'p95') {
    for (const group of groups.byKey.values()) group.weight = toPercentiles(group.sketch.toPairs())?.p95 ?? 0;
  }
  return [...groups.byKey]
    .filter(([key]) => !key.split(separator).includes(others))
    .sort(([a, one], [b, other]) => other.weight - one.weight || (a < b ? -1 : 1))
    .slice(0, top)
    .map(([key]) => key.split(separator));
}

interface Ranking {
  readonly order: SeriesQuery['order'];
  readonly isByTarget: boolean;
  readonly groups: Groups;
}

function rankBlock(selection: Selection, { order, isByTarget, groups }: Ranking): void {
  const { reader } = selection;
  selection.rewind();
  while (selection.next()) {
    if (selection.isAttempt && !isByTarget) continue;
    const group = groups.at(selection);
    if (selection.isAttempt) continue;
    if (order === 'p95') {
      reader.readFigures();
      if (selection.isMeasured) group.sketch.add(reader.sketches[0] ?? [], reader.lengths[0] ?? 0);
      continue;
    }
    reader.readCounts();
    const { outcome } = selection;
    if (order === 'cost') group.weight += reader.counts[cellAt.costNanos] ?? 0;
    else if (order === 'requests' || (outcome !== undefined && resultOf[outcome] === order)) {
      group.weight += reader.counts[cellAt.requests] ?? 0;
    }
  }
}

/** Counts of failed requests by outcome, and of calls. */
class Tally {
  readonly #codes = new Map<string, number>();
  readonly #attempts = new Map<string, number>();

  count({ reader, isAttempt, isFailure, outcome }: Selection): void {
    if (isAttempt ? !isFailure : outcome === 'ok') return;
    reader.readCounts();
    const code = reader.text(reader.names[nameAt.code] ?? noName);
    const kind = reader.text(reader.names[nameAt.outcome] ?? noName);
    const key = isAttempt
      ? `${reader.text(reader.names[nameAt.upstream] ?? noName)}${separator}${kind}${separator}${code}`
      : `${kind}${separator}${code}`;
    const sums = isAttempt ? this.#attempts : this.#codes;
    sums.set(key, (sums.get(key) ?? 0) + (reader.counts[cellAt.requests] ?? 0));
  }

  codes(): SeriesAnswer['codes'] {
    return mostOf(this.#codes).flatMap(([key, requests]) => {
      const [kind, code = ''] = key.split(separator);
      const outcome = rowOutcomes.find((one) => one === kind);
      return outcome === undefined ? [] : { code, outcome, requests };
    });
  }

  attemptErrors(): SeriesAnswer['attemptErrors'] {
    return mostOf(this.#attempts).map(([key, attempts]) => {
      const [upstream = '', kind = '', code = ''] = key.split(separator);
      return { upstream, kind, code, attempts };
    });
  }
}

const mostOf = (sums: ReadonlyMap<string, number>): [string, number][] =>
  [...sums].sort(([a, one], [b, other]) => other - one || (a < b ? -1 : 1)).slice(0, mostCodes);

function toPercentiles(pairs: Pairs): Percentiles | undefined {
  if (pairs.length === 0) return undefined;
  const { count, values } = quantilesOf(pairs, shares);
  const [p50 = 0, p95 = 0, p99 = 0] = values;
  return { count, p50, p95, p99 };
}

function toLine({ names, isOthers, sums, sketches, counts: ofSteps, percentiles }: Line): SeriesLine {
  const counts = Object.fromEntries(seriesCounts.map((name, index) => [name, sums[index] ?? 0]));
  const times = Object.fromEntries(
    latencyKinds.map((kind, index) => [kind, toPercentiles(sketches[index]?.toPairs() ?? [])]),
  );
  const points: SeriesPoints =
    ofSteps.length === 0
      ? { counts: {}, percentiles: [] }
      : {
          counts: Object.fromEntries(pointCounts.map((name, index) => [name, [...(ofSteps[index] ?? [])]])),
          percentiles,
        };
  return { names, isOthers, figures: { ...counts, ...times } as SeriesFigures, points };
}

function toHeatmap(steps: readonly Pairs[]): NonNullable<SeriesAnswer['heatmap']> {
  let [first, last] = [Number.POSITIVE_INFINITY, 0];
  for (const pairs of steps) {
    for (let at = 0; at < pairs.length; at += 2) {
      first = Math.min(first, pairs[at] ?? 0);
      last = Math.max(last, pairs[at] ?? 0);
    }
  }
  if (first > last) return { bounds: [], counts: steps.map(() => []) };
  const width = Math.ceil((last - first + 1) / heatmapRows);
  const rows = Math.ceil((last - first + 1) / width);
  const counts = steps.map((pairs) => {
    const column: number[] = new Array(rows).fill(0);
    for (let at = 0; at < pairs.length; at += 2) {
      const row = Math.floor(((pairs[at] ?? 0) - first) / width);
      column[row] = (column[row] ?? 0) + (pairs[at + 1] ?? 0);
    }
    return column;
  });
  return { bounds: Array.from({ length: rows }, (_, row) => boundOf(first + (row + 1) * width - 1)), counts };
}
