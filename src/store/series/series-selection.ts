/** Selects the cells of a block that match a query. */

import { type RowOutcome, rowOutcomes } from '../../core/accounting/ledger-row.ts';
import { type RequestResult, resultOf, type SeriesQuery, seriesCounts } from '../../core/store/series.ts';
import { positionsOf } from '../../lib/record-of.ts';
import { BlockReader, type CellName, cellKinds, nameAt, noName } from './series-block.ts';
import { isFailedAttempt, type Section, sections } from './series-cells.ts';

/** Positions of counts in the answer. */
export const pointAt = positionsOf(seriesCounts);

export interface StoredBlock {
  readonly at: number;
  /** Null: of an import, with all names. */
  readonly section: number | null;
  readonly data: Uint8Array;
}

/** What the outcome of a request, or of a call, means. */
interface OutcomeFacts {
  /** Undefined where unknown. */
  readonly outcome: RowOutcome | undefined;
  readonly result: RequestResult | undefined;
  /** Position in the answer; -1 where unknown. */
  readonly resultAt: number;
  readonly isFailedAttempt: boolean;
  readonly isWanted: boolean;
  readonly isMeasured: boolean;
}

export class Selection {
  readonly at: number;
  readonly reader: BlockReader;
  readonly #section: number | null;
  /** In turn: a name's position, and its number; -1 where the block lacks the name. */
  readonly #filters: readonly number[];
  readonly #outcomes: ReadonlySet<RowOutcome> | undefined;
  readonly #hasRowFilter: boolean;
  /** By the number of the name; looked up once. */
  readonly #facts: OutcomeFacts[] = [];
  readonly #hits: boolean[] = [];
  /** Of the block's names, for whom reads many blocks; 0 where none was given. */
  readonly numbers: Int32Array;
  isAttempt = false;
  /** Of the cell's outcome. */
  facts: OutcomeFacts = noFacts;

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
      const outcome = reader.names[nameAt.outcome] ?? noName;
      this.#facts[outcome] ??= toFacts(reader.text(outcome), this.#outcomes);
      const facts = this.#facts[outcome];
      this.isAttempt = reader.kind === cellKinds.attempt;
      if (this.isAttempt ? this.#hasRowFilter : !facts.isWanted) continue;
      this.facts = facts;
      return true;
    }
    return false;
  }

  /** Whether the answer came from the cache. */
  get isCached(): boolean {
    const cache = this.reader.names[nameAt.cache] ?? noName;
    if (cache === noName) return false;
    this.#hits[cache] ??= this.reader.text(cache) !== 'miss';
    return this.#hits[cache];
  }

  #fits(): boolean {
    const filters = this.#filters;
    for (let at = 0; at < filters.length; at += 2) {
      if (this.reader.names[filters[at] ?? 0] !== filters[at + 1]) return false;
    }
    return true;
  }
}

function toFacts(text: string, wanted: ReadonlySet<RowOutcome> | undefined): OutcomeFacts {
  const outcome = rowOutcomes.find((one) => one === text);
  const result = outcome && resultOf[outcome];
  return {
    outcome,
    result,
    resultAt: result === undefined ? -1 : pointAt[result],
    isFailedAttempt: isFailedAttempt(text),
    isWanted: wanted === undefined || (outcome !== undefined && wanted.has(outcome)),
    isMeasured: wanted !== undefined || (outcome !== 'refused' && outcome !== 'aborted'),
  };
}

const noFacts = toFacts('', undefined);
