/** Answers a question about a stretch of time from its blocks: which lines there are, and then their points and percentiles. */

import { type RowOutcome, rowOutcomes } from '../../core/accounting/ledger-row.ts';
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
import { boundOf, Counts, type Pairs } from '../../lib/sketch.ts';
import { BlockReader, type CellName, cellKinds, cellNames, counted, noName, others, sketched } from './series-block.ts';
import { isFailedAttempt } from './series-cells.ts';
import type { SeriesPlan } from './series-plan.ts';

export interface StoredBlock {
  readonly at: number;
  readonly data: Uint8Array;
}

const slot = Object.fromEntries(seriesCounts.map((name, index) => [name, index])) as Record<SeriesCount, number>;
const own = Object.fromEntries(counted.map((name, index) => [name, index])) as Record<(typeof counted)[number], number>;
const nameAt = Object.fromEntries(cellNames.map((name, index) => [name, index])) as Record<CellName, number>;
/** Those that a cell has as they are shown. */
const copied = seriesCounts.flatMap((name, to) => {
  const from = (counted as readonly string[]).indexOf(name);
  return from === -1 || name === 'attempts' || name === 'failedAttempts' ? [] : [[from, to] as const];
});

const mostCodes = 10;
const shares = [0.5, 0.95, 0.99];
const heatmapRows = 30;
const pointCounts = [
  ...['requests', 'succeeded', 'failed', 'refused', 'cancelled', 'attempts', 'failedAttempts'],
  ...['inputTokens', 'outputTokens', 'items', 'costNanos'],
] as SeriesCount[];

/** What is added up for one line, or for all. */
class Line {
  readonly names: readonly string[];
  readonly isOthers: boolean;
  readonly sums = new Float64Array(seriesCounts.length);
  readonly sketches: readonly Pairs[] = sketched.map(() => []);
  readonly points: { readonly counts: Float64Array[]; readonly sketches: Pairs[] } | undefined;

  constructor(names: readonly string[], isOthers: boolean, steps: number) {
    this.names = names;
    this.isOthers = isOthers;
    this.points =
      steps === 0
        ? undefined
        : {
            counts: pointCounts.map(() => new Float64Array(steps)),
            sketches: Array.from({ length: steps }, () => []),
          };
  }
}

export function readSeries(
  query: SeriesQuery,
  plan: SeriesPlan,
  blocks: readonly StoredBlock[],
  sinceMs: number,
): SeriesAnswer {
  const { by } = query;
  const readers = blocks.map(({ at, data }) => new Selection(query, at, new BlockReader(data)));
  const steps = query.wantsPoints ? plan.steps : 0;
  const total = new Line([], false, steps);
  const tally = new Tally();
  const isByTarget = isByTargetIn(query);
  const groups = by.length === 0 ? undefined : chooseLines(query, readers, steps);
  const latency = latencyKinds.indexOf(query.latency);
  for (const selection of readers) {
    const step = Math.floor((selection.at - plan.firstMs) / plan.stepMs);
    selection.rewind();
    while (selection.next()) {
      tally.add(selection);
      if (selection.isAttempt && !isByTarget) continue;
      addTo(total, selection, { step, latency, isByTarget });
      const line = groups?.lineOf(selection);
      if (line !== undefined) addTo(line, selection, { step, latency, isByTarget });
    }
  }
  const lines = groups?.lines ?? [];
  return {
    fromMs: plan.fromMs,
    toMs: plan.toMs,
    stepMs: plan.stepMs,
    timesMs: Array.from({ length: plan.steps }, (_, at) => Math.max(plan.fromMs, plan.firstMs + at * plan.stepMs)),
    sinceMs,
    total: toLine(total),
    lines: lines.filter(({ sums, isOthers }) => !isOthers || sums.some((sum) => sum > 0)).map(toLine),
    heatmap: query.wantsHeatmap && total.points !== undefined ? toHeatmap(total.points.sketches) : undefined,
    codes: tally.codes(),
    attemptErrors: tally.attemptErrors(),
  };
}

/** Whether calls count for the upstream that they went to, and not for that of their request. */
const isByTargetIn = ({ filter, by }: SeriesQuery): boolean =>
  (filter.upstream !== undefined || by.includes('upstream')) &&
  filter.outcomes === undefined &&
  filter.code === undefined &&
  filter.cache === undefined &&
  !by.some((name) => name === 'outcome' || name === 'code' || name === 'cache');

interface Adding {
  readonly step: number;
  readonly latency: number;
  readonly isByTarget: boolean;
}

function addTo(
  line: Line,
  { reader, isAttempt, outcome, isFailure, isMeasured, isCached }: Selection,
  adding: Adding,
): void {
  const { counts, sketches } = reader;
  const { sums, points } = line;
  const { step, latency, isByTarget } = adding;
  const of = (index: number): number => counts[index] ?? 0;
  const add = (name: SeriesCount, amount: number): void => {
    if (amount === 0) return;
    const to = slot[name];
    sums[to] = (sums[to] ?? 0) + amount;
    const list = points?.counts[pointCounts.indexOf(name)];
    if (list !== undefined) list[step] = (list[step] ?? 0) + amount;
  };
  if (isAttempt) {
    add('attempts', of(own.requests));
    if (isFailure) add('failedAttempts', of(own.requests));
    return;
  }
  for (const [from, to] of copied) add(seriesCounts[to] ?? 'requests', of(from));
  if (outcome !== undefined) add(resultOf[outcome], of(own.requests));
  if (isCached) add('cached', of(own.requests));
  add('attempts', of(isByTarget ? own.direct : own.attempts));
  add('failedAttempts', of(isByTarget ? own.directFailed : own.failedAttempts));
  if (!isMeasured) return;
  for (const [index, pairs] of sketches.entries()) {
    const all = line.sketches[index];
    if (all !== undefined) for (const number of pairs) all.push(number);
  }
  const ofStep = points?.sketches[step];
  if (ofStep !== undefined) for (const number of sketches[latency] ?? []) ofStep.push(number);
}

/** The cells of a block that fit a question, one after the other. */
class Selection {
  readonly at: number;
  readonly reader: BlockReader;
  readonly #filters: { readonly index: number; readonly name: number | undefined; readonly isOfRow: boolean }[];
  readonly #outcomes: ReadonlySet<RowOutcome> | undefined;
  readonly #hasRowFilter: boolean;
  /** What the number of a name says of an outcome; looked up once. */
  readonly #known = new Map<number, RowOutcome | undefined>();
  readonly #failures = new Map<number, boolean>();
  isAttempt = false;
  outcome: RowOutcome | undefined;
  isFailure = false;
  isMeasured = false;
  isCached = false;

  constructor({ filter }: SeriesQuery, at: number, reader: BlockReader) {
    this.at = at;
    this.reader = reader;
    const { outcomes, ...names } = filter;
    this.#outcomes = outcomes === undefined ? undefined : new Set(outcomes);
    this.#filters = Object.entries(names).flatMap(([name, value]) => {
      if (value === undefined) return [];
      const isOfRow = name === 'code' || name === 'cache';
      return { index: nameAt[name as CellName], name: reader.find(value), isOfRow };
    });
    this.#hasRowFilter = outcomes !== undefined || this.#filters.some(({ isOfRow }) => isOfRow);
  }

  rewind(): void {
    this.reader.rewind();
  }

  next(): boolean {
    const { reader } = this;
    while (reader.next()) {
      this.isAttempt = reader.kind === cellKinds.attempt;
      if (this.isAttempt && this.#hasRowFilter) continue;
      if (!this.#filters.every(({ index, name }) => reader.names[index] === name)) continue;
      if (this.isAttempt) this.isFailure = this.#isFailure(reader.names[nameAt.outcome] ?? 0);
      else {
        this.outcome = this.#outcomeOf(reader.names[nameAt.outcome] ?? 0);
        if (this.#outcomes !== undefined && (this.outcome === undefined || !this.#outcomes.has(this.outcome))) continue;
        this.isMeasured = this.#outcomes !== undefined || (this.outcome !== 'refused' && this.outcome !== 'aborted');
        const cache = reader.names[nameAt.cache] ?? noName;
        this.isCached = cache !== noName && reader.text(cache) !== 'miss';
      }
      reader.readCounts();
      return true;
    }
    return false;
  }

  #outcomeOf(name: number): RowOutcome | undefined {
    if (!this.#known.has(name)) {
      const text = this.reader.text(name);
      this.#known.set(
        name,
        rowOutcomes.find((one) => one === text),
      );
    }
    return this.#known.get(name);
  }

  #isFailure(name: number): boolean {
    let isFailure = this.#failures.get(name);
    if (isFailure === undefined) {
      isFailure = isFailedAttempt(this.reader.text(name));
      this.#failures.set(name, isFailure);
    }
    return isFailure;
  }
}

interface Lines {
  readonly lines: readonly Line[];
  /** Undefined where it is in none: where lines are given. */
  lineOf(selection: Selection): Line | undefined;
}

const separator = '\0';

/** The first lines by the order that is asked for, and one for all others; or those that are given. */
function chooseLines(query: SeriesQuery, selections: readonly Selection[], steps: number): Lines {
  const indexes = query.by.map((name) => nameAt[name]);
  const keyOf = createKeys(indexes);
  const given = query.lines?.map((names) => new Line(names, false, steps));
  const lines = given ?? rank(query, selections, keyOf, steps);
  const byKey = new Map(lines.map((line) => [line.names.join(separator), line]));
  const rest = new Line(
    indexes.map(() => ''),
    true,
    steps,
  );
  return {
    lines: [...lines, rest],
    lineOf: (selection) => byKey.get(keyOf(selection.reader)) ?? rest,
  };
}

/** The text of a cell's names; made once for each that a block has. */
function createKeys(indexes: readonly number[]): (reader: BlockReader) => string {
  const known = new WeakMap<BlockReader, Map<number, string>>();
  const [first = 0, second] = indexes;
  return (reader) => {
    let ofBlock = known.get(reader);
    if (ofBlock === undefined) {
      ofBlock = new Map();
      known.set(reader, ofBlock);
    }
    const one = reader.names[first] ?? noName;
    const other = second === undefined ? noName : (reader.names[second] ?? noName);
    const number = one * reader.nameCount + other;
    let key = ofBlock.get(number);
    if (key === undefined) {
      key = second === undefined ? reader.text(one) : `${reader.text(one)}${separator}${reader.text(other)}`;
      ofBlock.set(number, key);
    }
    return key;
  };
}

function rank(
  query: SeriesQuery,
  selections: readonly Selection[],
  keyOf: (reader: BlockReader) => string,
  steps: number,
): Line[] {
  const { order, top, by } = query;
  const isByTarget = isByTargetIn(query);
  const weights = new Map<string, { weight: number; readonly pairs: Pairs }>();
  for (const selection of selections) {
    selection.rewind();
    while (selection.next()) {
      if (selection.isAttempt && !isByTarget) continue;
      const { reader, outcome, isMeasured } = selection;
      const key = keyOf(reader);
      let group = weights.get(key);
      if (group === undefined) {
        group = { weight: 0, pairs: [] };
        weights.set(key, group);
      }
      if (selection.isAttempt) continue;
      const requests = reader.counts[own.requests] ?? 0;
      if (order === 'requests') group.weight += requests;
      else if (order === 'cost') group.weight += reader.counts[own.costNanos] ?? 0;
      else if (order === 'p95') {
        if (isMeasured) for (const number of reader.sketches[0] ?? []) group.pairs.push(number);
      } else if (outcome !== undefined && resultOf[outcome] === order) group.weight += requests;
    }
  }
  if (order === 'p95') {
    for (const group of weights.values()) group.weight = toPercentiles(group.pairs)?.p95 ?? 0;
  }
  const folded = by.map(() => others);
  return [...weights]
    .filter(([key]) => !key.split(separator).some((name) => folded.includes(name)))
    .sort(([a, one], [b, other]) => other.weight - one.weight || (a < b ? -1 : 1))
    .slice(0, top)
    .map(([key]) => new Line(key.split(separator), false, steps));
}

/** How requests ended otherwise than well, and calls. */
class Tally {
  readonly #codes = new Map<string, number>();
  readonly #attempts = new Map<string, number>();

  add({ reader, isAttempt, isFailure, outcome }: Selection): void {
    if (isAttempt ? !isFailure : outcome === 'ok') return;
    const code = reader.text(reader.names[nameAt.code] ?? noName);
    const kind = reader.text(reader.names[nameAt.outcome] ?? noName);
    const key = isAttempt
      ? `${reader.text(reader.names[nameAt.upstream] ?? noName)}${separator}${kind}${separator}${code}`
      : `${kind}${separator}${code}`;
    const sums = isAttempt ? this.#attempts : this.#codes;
    sums.set(key, (sums.get(key) ?? 0) + (reader.counts[own.requests] ?? 0));
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

const scratch = new Counts();

function toPercentiles(pairs: Pairs): Percentiles | undefined {
  if (pairs.length === 0) return undefined;
  scratch.add(pairs);
  const [p50 = 0, p95 = 0, p99 = 0] = scratch.quantiles(shares);
  const count = scratch.total;
  scratch.clear();
  return { count, p50, p95, p99 };
}

function toLine({ names, isOthers, sums, sketches, points }: Line): SeriesLine {
  const counts = Object.fromEntries(seriesCounts.map((name, index) => [name, sums[index] ?? 0]));
  const times = Object.fromEntries(latencyKinds.map((kind, index) => [kind, toPercentiles(sketches[index] ?? [])]));
  return { names, isOthers, figures: { ...counts, ...times } as SeriesFigures, points: toPoints(points) };
}

function toPoints(points: Line['points']): SeriesPoints {
  if (points === undefined) return { counts: {}, percentiles: [] };
  const counts = Object.fromEntries(pointCounts.map((name, index) => [name, [...(points.counts[index] ?? [])]]));
  return { counts, percentiles: points.sketches.map(toPercentiles) };
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
