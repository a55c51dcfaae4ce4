/** Makes series cells (counts per combination of names) from imported rows, and merges cells by leaving names out. */

import { readUnits } from '../../core/accounting/units.ts';
import { isMapping } from '../../lib/is-mapping.ts';
import { readJson } from '../../lib/json/read-json.ts';
import { bucketOf } from '../../lib/sketch.ts';
import type { NamedRow, RowFigures, RowNames } from '../ledger/ledger-rows.ts';
import { type Cell, type CellName, Cells, cellKinds, cellNames, countAt, others, sketchAt } from './series-block.ts';

export const minuteMs = 60_000;

export const nextMinute = (ms: number): number => Math.ceil(ms / minuteMs) * minuteMs;

/** Outcomes of calls that did not fail: they were answered, or the client had left. */
const notFailed: ReadonlySet<string> = new Set(['answered', 'client-gone']);
/** The outcome of a try that made no call, because it waited for a slot. */
const notCalled = 'queue';

export const isFailedAttempt = (outcome: string): boolean => !notFailed.has(outcome);

/** Collects the cells of each minute; rows are added a few at a time. */
export class Minutes {
  /** The cells by the beginning of their minute. */
  readonly cells = new Map<number, Cells>();
  #latest = Number.NaN;
  #cells = new Cells();
  /** The cells of the latest minute by their names object. */
  readonly #ofNames = new Map<RowNames, Cell>();

  add(rows: readonly NamedRow[]): void {
    for (const { names, row } of rows) {
      this.#goTo(row.started_at - (row.started_at % minuteMs));
      let cell = this.#ofNames.get(names);
      if (cell === undefined) {
        cell = this.#cells.of(cellKinds.request, toCellNames(names));
        this.#ofNames.set(names, cell);
      }
      addRow(cell, names, row, row.tries === null ? 0 : addTries(this.#cells, names, row.tries));
    }
  }

  #goTo(minute: number): void {
    if (minute === this.#latest) return;
    this.#cells = this.cells.get(minute) ?? new Cells();
    this.cells.set(minute, this.#cells);
    this.#ofNames.clear();
    this.#latest = minute;
  }
}

const toCellNames = (names: RowNames): string[] => [
  names.model ?? '',
  names.upstream ?? '',
  names.key,
  names.project ?? '',
  names.operation,
  names.outcome,
  names.outcome === 'ok' ? '' : (names.error ?? String(names.status)),
  names.cache ?? '',
];

/** Adds a row to its cell. `listed`: the number of its calls that have cells of their own. */
function addRow(cell: Cell, { outcome }: RowNames, row: RowFigures, listed: number): void {
  cell.add(countAt.requests, 1);
  cell.add(countAt.attempts, row.attempts);
  cell.add(countAt.items, Math.max(0, row.items));
  cell.add(countAt.inputTokens, Math.max(0, row.billed_input_tokens ?? 0));
  cell.add(countAt.outputTokens, Math.max(0, row.billed_output_tokens ?? 0));
  cell.add(countAt.searchUnits, Math.max(0, row.billed_search_units ?? 0));
  cell.add(countAt.costNanos, Math.max(0, row.cost_nanos ?? 0));
  if (row.cost_nanos === null && (row.billed_input_tokens !== null || outcome === 'lost'))
    cell.add(countAt.unpriced, 1);
  const own = Math.max(0, row.attempts - listed);
  cell.add(countAt.direct, own);
  // An answer that broke off has no entry in the list of tries.
  if (outcome === 'cut' && own > 0) {
    cell.add(countAt.directFailed, 1);
    cell.add(countAt.failedAttempts, 1);
  }
  if (row.tries !== null) cell.add(countAt.failedAttempts, failedIn(row.tries));
  if (row.units !== null) addSaved(cell, row.units);
  // The duration of a lost request is unknown.
  if (outcome === 'lost') return;
  cell.sketches[sketchAt.duration]?.push(bucketOf(row.duration_ms), 1);
  if (row.queue_ms !== null) cell.sketches[sketchAt.wait]?.push(bucketOf(row.queue_ms), 1);
  if (row.first_byte_ms === null) return;
  cell.sketches[sketchAt.firstByte]?.push(bucketOf(row.first_byte_ms), 1);
  if (row.upstream_ms !== null && row.attempts === 1) {
    cell.sketches[sketchAt.overhead]?.push(bucketOf(Math.max(0, row.first_byte_ms - row.upstream_ms)), 1);
  }
}

function addSaved(cell: Cell, text: string): void {
  if (!text.includes('"saved')) return;
  const units = readUnits(readJson(text));
  cell.add(countAt.savedItems, Math.round(units?.savedItems ?? 0));
  cell.add(countAt.savedNanos, Math.round(units?.savedNanos ?? 0));
}

interface Try {
  readonly upstream: string;
  readonly outcome: string;
  readonly code: string;
  readonly durationMs: number;
}

function triesIn(text: string): Try[] {
  const tries = readJson(text);
  if (!Array.isArray(tries)) return [];
  return tries.flatMap((one): Try[] => {
    if (!isMapping(one) || typeof one.upstream !== 'string' || typeof one.outcome !== 'string') return [];
    if (one.outcome === notCalled) return [];
    const { upstream, outcome, detail, durationMs } = one;
    const code = typeof detail === 'number' ? String(detail) : typeof detail === 'string' ? codeIn(detail) : '';
    return [{ upstream, outcome, code, durationMs: typeof durationMs === 'number' ? durationMs : 0 }];
  });
}

const longestCode = 64;
/** Finds an error code of the system or of TLS, such as ECONNREFUSED or DEPTH_ZERO_SELF_SIGNED_CERT. */
const systemCode = /\b(?:E[A-Z]{4,}|[A-Z]{2,}(?:_[A-Z]+)+)\b/;

/** The error code in a detail. The rest is left out, as texts with addresses would make a cell each. */
const codeIn = (detail: string): string => systemCode.exec(detail)?.[0] ?? detail.slice(0, longestCode);

const failedIn = (text: string): number => triesIn(text).filter(({ outcome }) => isFailedAttempt(outcome)).length;

/** Adds the listed tries as cells of their own, and returns how many of them were calls. */
function addTries(cells: Cells, { model, key, project, operation }: RowNames, text: string): number {
  const tries = triesIn(text);
  for (const { upstream, outcome, code, durationMs } of tries) {
    const names = [model ?? '', upstream, key, project ?? '', operation, outcome, code, ''];
    const cell = cells.of(cellKinds.attempt, names);
    cell.add(countAt.requests, 1);
    cell.sketches[sketchAt.duration]?.push(bucketOf(durationMs), 1);
  }
  return tries.length;
}

/** Sets of names that have blocks of their own, so that most queries read few cells. Cells of attempts keep their upstream in each. */
export const sections = {
  detail: { number: 0, without: [] },
  targets: { number: 1, without: ['key', 'project'] },
  keys: { number: 2, without: ['model', 'upstream'] },
  total: { number: 3, without: ['model', 'key', 'project'] },
} as const satisfies Record<string, { number: number; without: readonly CellName[] }>;
export type Section = keyof typeof sections;

/** The section with the fewest names that has all these names. */
export function sectionOf(names: readonly CellName[]): Section {
  const fits = ({ without }: { readonly without: readonly CellName[] }) =>
    !names.some((name) => without.includes(name));
  if (fits(sections.total)) return 'total';
  if (fits(sections.targets)) return 'targets';
  return fits(sections.keys) ? 'keys' : 'detail';
}

export function withoutNames(cells: readonly Cell[], without: readonly CellName[]): Cell[] {
  const kept = cellNames.map((name) => !without.includes(name));
  const keptOfAttempt = cellNames.map((name) => name === 'upstream' || !without.includes(name));
  const made = new Cells();
  for (const cell of cells) {
    const isKept = cell.kind === cellKinds.attempt ? keptOfAttempt : kept;
    const names = cell.names.map((name, index) => (isKept[index] === true ? name : ''));
    made.of(cell.kind, names).addCell(cell);
  }
  return made.values();
}

/** Limit of cells in a block, as clients may choose names. */
const mostCells = 12_000;
const seldomNames: readonly (readonly CellName[])[] = [
  ['key', 'project'],
  ['model', 'code'],
];

/** Reduces the cells to the limit: the names with the fewest requests become `others`. */
export function boundCells(cells: readonly Cell[], most = mostCells): readonly Cell[] {
  let bounded = cells;
  for (const folded of seldomNames) {
    if (bounded.length <= most) return bounded;
    const byRequests = bounded.toSorted(
      (one, other) => (other.counts[countAt.requests] ?? 0) - (one.counts[countAt.requests] ?? 0),
    );
    const kept = Math.floor(most / 2);
    const isFolded = cellNames.map((name) => folded.includes(name));
    const made = new Cells();
    for (const [index, cell] of byRequests.entries()) {
      const names = index < kept ? cell.names : cell.names.map((name, column) => (isFolded[column] ? others : name));
      made.of(cell.kind, names).addCell(cell);
    }
    bounded = made.values();
  }
  return bounded;
}
