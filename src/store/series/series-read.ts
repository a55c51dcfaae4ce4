/** Answers a series query from blocks: first the lines, then their points and percentiles. */

import { rowOutcomes } from '../../core/accounting/ledger-row.ts';
import {
  latencyKinds,
  type Percentiles,
  type SeriesAnswer,
  type SeriesCount,
  type SeriesFigures,
  type SeriesLine,
  type SeriesPoints,
  type SeriesQuery,
  seriesCounts,
} from '../../core/store/series.ts';
import { boundOf, type Pairs, quantilesOf, Sketch } from '../../lib/sketch.ts';
import { type BlockReader, countAt, counted, nameAt, noName, sketched } from './series-block.ts';
import type { SeriesPlan } from './series-plan.ts';
import { Groups, isByTargetIn, type RankedCells, rankCells } from './series-ranking.ts';
import { pointAt, Selection, type StoredBlock } from './series-selection.ts';

function addTo(sums: Float64Array, at: number, amount: number): void {
  sums[at] = (sums[at] ?? 0) + amount;
}

function addSums(to: Float64Array, sums: Float64Array, factor: number): void {
  for (let at = 0; at < to.length; at++) addTo(to, at, factor * (sums[at] ?? 0));
}

/** Counts that are copied unchanged from cells to answers, as pairs of indexes. */
const copied = seriesCounts.flatMap((name, to) => {
  const from = (counted as readonly string[]).indexOf(name);
  return from === -1 || name === 'attempts' || name === 'failedAttempts' ? [] : [[from, to] as const];
});

/** The same pairs in typed arrays: destructuring pairs takes several times as long, for each cell. */
const copiedFrom = Uint8Array.from(copied, ([from]) => from);
const copiedTo = Uint8Array.from(copied, ([, to]) => to);

const separator = '\0';
const mostCodes = 10;
const shares = [0.5, 0.95, 0.99];
const heatmapRows = 30;
/** Counts with a value for each step. */
const pointCounts = [
  ...['requests', 'succeeded', 'failed', 'refused', 'cancelled', 'attempts', 'failedAttempts'],
  ...['inputTokens', 'outputTokens', 'items', 'costNanos'],
] as SeriesCount[];

const pointsFrom = pointCounts.map((name) => pointAt[name]);

const none: Pairs = [];

/** Sums of one line, or of the total. Figures are added step by step, in the order of time. */
class Line {
  readonly names: readonly string[];
  readonly isOthers: boolean;
  readonly sums = new Float64Array(seriesCounts.length);
  readonly sketches = sketched.map(() => new Sketch());
  readonly stepSums = new Float64Array(seriesCounts.length);
  readonly #stepSketch = new Sketch();
  readonly counts: readonly Float64Array[];
  readonly percentiles: (Percentiles | null)[];
  /** The pairs of each step, for a heat map. */
  readonly pairs: Pairs[] = [];
  readonly #keepsPairs: boolean;
  /** Index of the latency that is shown step by step: its total is the sum of the steps. */
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
    const { reader, facts } = selection;
    const { counts } = reader;
    const sums = this.stepSums;
    const requests = counts[countAt.requests] ?? 0;
    if (selection.isAttempt) {
      addTo(sums, pointAt.attempts, requests);
      if (facts.isFailedAttempt) addTo(sums, pointAt.failedAttempts, requests);
      return;
    }
    for (let at = 0; at < copiedTo.length; at++) addTo(sums, copiedTo[at] ?? 0, counts[copiedFrom[at] ?? 0] ?? 0);
    if (facts.resultAt >= 0) addTo(sums, facts.resultAt, requests);
    if (selection.isCached) addTo(sums, pointAt.cached, requests);
    addTo(sums, pointAt.attempts, counts[isByTarget ? countAt.direct : countAt.attempts] ?? 0);
    addTo(sums, pointAt.failedAttempts, counts[isByTarget ? countAt.directFailed : countAt.failedAttempts] ?? 0);
    if (!facts.isMeasured) return;
    const latency = this.#latency;
    for (let at = 0; at < this.sketches.length; at++)
      this.#addSketch(reader, at, at === latency ? this.#stepSketch : this.sketches[at]);
  }

  #addSketch({ sketches, lengths }: BlockReader, at: number, to: Sketch | undefined): void {
    const pairs = sketches[at];
    const length = lengths[at] ?? 0;
    if (length > 0 && pairs !== undefined) to?.add(pairs, length);
  }

  /** Ends a step of the total and of the named lines; this line, for all others, gets the difference. */
  endStepOf(total: Line, lines: readonly Line[], step: number): void {
    addSums(this.stepSums, total.stepSums, 1);
    for (const line of lines) addSums(this.stepSums, line.stepSums, -1);
    const pairs = total.endStep(step);
    this.#stepSketch.add(pairs, pairs.length);
    for (const line of lines) this.#stepSketch.remove(line.endStep(step));
    this.endStep(step);
  }

  /** Adds the difference of the total and the named lines to all sketches except that of the latency, which `endStepOf` fills. */
  addSketchesOf(total: Line, lines: readonly Line[]): void {
    for (const [at, sketch] of this.sketches.entries()) {
      if (at === this.#latency) continue;
      const pairs = total.sketches[at]?.toPairs() ?? none;
      sketch.add(pairs, pairs.length);
      for (const line of lines) sketch.remove(line.sketches[at]?.toPairs() ?? none);
    }
  }

  endStep(step: number): Pairs {
    const { sums, stepSums } = this;
    addSums(sums, stepSums, 1);
    for (const [index, list] of this.counts.entries()) list[step] = stepSums[pointsFrom[index] ?? 0] ?? 0;
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
  const selections = blocks.toSorted((a, b) => a.at - b.at).map((block) => new Selection(query, block));
  const steps = query.wantsPoints ? plan.steps : 0;
  const latency = latencyKinds.indexOf(query.latency);
  const total = new Line([], false, steps, latency, query.wantsHeatmap);
  const isByTarget = isByTargetIn(query);
  const ofLines = selections.filter((one) => one.isOf(plan.section));
  const lines = query.by.length === 0 ? undefined : new Lines(query, ofLines, steps, latency);
  const tally = new Tally();
  const endStep = (step: number): void => {
    if (lines === undefined) total.endStep(step);
    else lines.rest.endStepOf(total, lines.named, step);
  };
  let step = 0;
  for (const selection of selections) {
    const ofBlock = steps === 0 ? 0 : Math.floor((selection.at - plan.firstMs) / plan.stepMs);
    if (ofBlock !== step) {
      endStep(step);
      step = ofBlock;
    }
    if (selection.isOf(plan.totalSection)) addToTotal(selection, { total, tally, isByTarget });
    if (lines !== undefined && selection.isOf(plan.section)) lines.add(selection, isByTarget);
  }
  endStep(step);
  lines?.rest.addSketchesOf(total, lines.named);
  const all = lines === undefined ? [] : [...lines.named, lines.rest];
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
  readonly tally: Tally;
  readonly isByTarget: boolean;
}

/** Adds cells to the total. A function of its own, like `rankBlock`: V8 would compile a nested loop anew for each block. */
function addToTotal(selection: Selection, { total, tally, isByTarget }: Adding): void {
  selection.rewind();
  while (selection.next()) {
    tally.count(selection);
    if (selection.isAttempt && !isByTarget) continue;
    selection.reader.readFigures();
    total.take(selection, isByTarget);
  }
}

/** The lines of an answer: the largest ones in the requested order and one for all others, or the requested lines. */
class Lines {
  readonly named: readonly Line[];
  /** The part of the total that is in none of the named lines. */
  readonly rest: Line;
  readonly #groups: Groups;
  /** The ranked cells of each block, where the query does not give the lines. */
  readonly #ranked: ReadonlyMap<Selection, RankedCells>;
  /** The line by the number of its group. The array has no holes, which would take several times as long. */
  readonly #ofGroups: (Line | undefined)[];

  constructor(query: SeriesQuery, selections: readonly Selection[], steps: number, latency: number) {
    this.#groups = new Groups(query.by);
    this.#ranked = query.lines === undefined ? rankCells(query, selections, this.#groups) : new Map();
    const names = query.lines ?? this.#groups.largest(query.top);
    this.named = names.map((one) => new Line(one, false, steps, latency));
    const numbers = names.map((one) => this.#groups.of(one));
    this.#ofGroups = this.#groups.names.map(() => undefined);
    for (const [index, line] of this.named.entries()) this.#ofGroups[numbers[index] ?? 0] = line;
    this.rest = new Line(
      query.by.map(() => ''),
      true,
      steps,
      latency,
    );
  }

  /** Adds a block's cells to their lines. Most cells belong to other lines, so that their figures are not read. */
  add(selection: Selection, isByTarget: boolean): void {
    const ranked = this.#ranked.get(selection);
    if (ranked !== undefined) {
      this.#addRanked(selection, ranked, isByTarget);
      return;
    }
    selection.rewind();
    while (selection.next()) {
      if (selection.isAttempt && !isByTarget) continue;
      const line = this.#ofGroups[this.#groups.at(selection)];
      if (line === undefined) continue;
      selection.reader.readFigures();
      line.take(selection, isByTarget);
    }
  }

  #addRanked(selection: Selection, { starts, groups, count }: RankedCells, isByTarget: boolean): void {
    for (let index = 0; index < count; index++) {
      const line = this.#ofGroups[groups[index] ?? 0];
      if (line === undefined) continue;
      selection.reader.goTo(starts[index] ?? 0);
      selection.next();
      selection.reader.readFigures();
      line.take(selection, isByTarget);
    }
  }
}

class Tally {
  readonly #codes = new Map<string, number>();
  readonly #attempts = new Map<string, number>();

  count({ reader, isAttempt, facts }: Selection): void {
    if (isAttempt ? !facts.isFailedAttempt : facts.outcome === 'ok') return;
    reader.readCounts();
    const code = reader.text(reader.names[nameAt.code] ?? noName);
    const kind = reader.text(reader.names[nameAt.outcome] ?? noName);
    const key = isAttempt
      ? `${reader.text(reader.names[nameAt.upstream] ?? noName)}${separator}${kind}${separator}${code}`
      : `${kind}${separator}${code}`;
    const sums = isAttempt ? this.#attempts : this.#codes;
    sums.set(key, (sums.get(key) ?? 0) + (reader.counts[countAt.requests] ?? 0));
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
