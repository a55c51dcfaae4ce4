/** Selects the cells of a block that match a query. */

import { type RowOutcome, rowOutcomes } from '../../core/accounting/ledger-row.ts';
import { resultOf, type SeriesCount, type SeriesQuery, seriesCounts } from '../../core/store/series.ts';
import { BlockReader, type CellName, cellKinds, cellNames, noName } from './series-block.ts';
import { isFailedAttempt, type Section, sections } from './series-cells.ts';

/** Positions of a name in a cell, and of a count in the answer. */
export const nameAt = Object.fromEntries(cellNames.map((name, index) => [name, index])) as Record<CellName, number>;
export const pointAt = (name: SeriesCount): number => seriesCounts.indexOf(name);

export interface StoredBlock {
  readonly at: number;
  /** Null: of an import, with all names. */
  readonly section: number | null;
  readonly data: Uint8Array;
}

export class Selection {
  readonly at: number;
  readonly reader: BlockReader;
  readonly #section: number | null;
  /** In turn: a name's position, and its number; -1 where the block lacks the name. */
  readonly #filters: readonly number[];
  readonly #outcomes: ReadonlySet<RowOutcome> | undefined;
  readonly #hasRowFilter: boolean;
  /** The outcome of each name number; looked up once. */
  readonly #known: (RowOutcome | 'unknown')[] = [];
  readonly #failures: boolean[] = [];
  readonly #hits: boolean[] = [];
  /** Of the block's names, for whom reads many blocks; 0 where none was given. */
  readonly numbers: Int32Array;
  isAttempt = false;
  outcome: RowOutcome | undefined = undefined;
  /** Position in the answer; -1 where unknown. */
  result = -1;
  isFailure = false;
  isMeasured = false;
  isCached = false;

  constructor({ filter }: SeriesQuery, { at, section, data }: StoredBlock) {
    const reader = new BlockReader(data);
    this.at = at;
    this.reader = reader;
    this.#section = section;
    this.numbers = new Int32Array(reader.nameCount);
    const { outcomes, ...names } = filter;
    this.#outcomes = outcomes === undefined ? undefined : new Set(outcomes);
    this.#hasRowFilter = outcomes !== undefined || names.code !== undefined || names.cache !== undefined;
    this.#filters = Object.entries(names).flatMap(([name, value]) =>
      value === undefined ? [] : [nameAt[name as CellName], reader.find(value) ?? -1],
    );
  }

  /** A block of an import is of all sections. */
  isOf(section: Section): boolean {
    return this.#section === null || this.#section === sections[section].number;
  }

  rewind(): void {
    this.reader.rewind();
  }

  next(): boolean {
    const { reader } = this;
    while (reader.next()) {
      if (!this.#fits()) continue;
      this.isAttempt = reader.kind === cellKinds.attempt;
      const outcome = reader.names[nameAt.outcome] ?? noName;
      if (this.isAttempt) {
        if (this.#hasRowFilter) continue;
        this.#failures[outcome] ??= isFailedAttempt(reader.text(outcome));
        this.isFailure = this.#failures[outcome];
        return true;
      }
      this.#known[outcome] ??= toOutcome(reader.text(outcome));
      const known = this.#known[outcome];
      this.outcome = known === 'unknown' ? undefined : known;
      this.result = this.outcome === undefined ? -1 : pointAt(resultOf[this.outcome]);
      if (this.#outcomes !== undefined && (this.outcome === undefined || !this.#outcomes.has(this.outcome))) continue;
      this.isMeasured = this.#outcomes !== undefined || (this.outcome !== 'refused' && this.outcome !== 'aborted');
      const cache = reader.names[nameAt.cache] ?? noName;
      if (cache !== noName) this.#hits[cache] ??= reader.text(cache) !== 'miss';
      this.isCached = cache !== noName && this.#hits[cache] === true;
      return true;
    }
    return false;
  }

  #fits(): boolean {
    const filters = this.#filters;
    for (let at = 0; at < filters.length; at += 2) {
      if (this.reader.names[filters[at] ?? 0] !== filters[at + 1]) return false;
    }
    return true;
  }
}

const toOutcome = (text: string): RowOutcome | 'unknown' => rowOutcomes.find((one) => one === text) ?? 'unknown';
