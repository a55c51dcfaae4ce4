/** Selects the cells of a block that match a query. */

import { type RowOutcome, rowOutcomes } from '../../core/accounting/ledger-row.ts';
import { type RequestResult, resultOf, type SeriesQuery, seriesCounts } from '../../core/store/series.ts';
import { positionsOf } from '../../lib/record-of.ts';
import { BlockReader, type CellName, cellKinds, nameAt, noName } from './series-block.ts';
import { isFailedAttempt, type Section, sections } from './series-cells.ts';

export const pointAt = positionsOf(seriesCounts);

export interface StoredBlock {
  readonly at: number;
  /** The section of the block; null for a block of an import, which has all names. */
  readonly section: number | null;
  readonly data: Uint8Array;
}

/** What the outcome of a request or of a call means for the query. */
interface OutcomeFacts {
  /** The request's outcome; undefined where this version does not know it. */
  readonly outcome: RowOutcome | undefined;
  readonly result: RequestResult | undefined;
  /** Position of the result in the answer; -1 where the outcome is unknown. */
  readonly resultAt: number;
  readonly isFailedAttempt: boolean;
  readonly isWanted: boolean;
  readonly isMeasured: boolean;
}

export class Selection {
  readonly at: number;
  readonly reader: BlockReader;
  readonly #section: number | null;
  /** Pairs of a name's position and the wanted number; the number is -1 where the block lacks the name. */
  readonly #filters: readonly number[];
  readonly #outcomes: ReadonlySet<RowOutcome> | undefined;
  readonly #hasRowFilter: boolean;
  /** Facts of outcomes by the number of their name, so that each is looked up once. */
  readonly #facts: OutcomeFacts[] = [];
  readonly #hits: boolean[] = [];
  /** For readers of many blocks: their own number for each name of this block; 0 where they have given none yet. */
  readonly numbers: Int32Array;
  isAttempt = false;
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

  /** Whether the block can answer for a section; a block of an import has all names, and can for each. */
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
