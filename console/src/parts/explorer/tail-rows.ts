/** Keeps rows received while following the ledger: those shown, and those held back while the user reads. */

import type { LedgerRow } from '../../../../src/admin/contract.ts';

/** Limit of shown rows; older ones are on the next pages. At this rate of new rows, all of them are drawn again each second. */
export const mostShown = 50;

/** With more new rows than this, none is animated: fifty at once took 280 ms of CPU a second. */
const mostAnimated = 10;

export interface TailRows {
  readonly shown: readonly LedgerRow[];
  /** IDs of the shown rows that have just arrived, if they are few. */
  readonly fresh: ReadonlySet<string>;
  /** Rows that are not shown yet, as the user is reading others. */
  readonly held: readonly LedgerRow[];
  readonly heldCount: number;
}

export type TailEvent =
  | { readonly kind: 'came'; readonly rows: readonly LedgerRow[]; readonly isHeld: boolean }
  | { readonly kind: 'release' }
  | { readonly kind: 'begin' };

export const noRows: TailRows = { shown: [], fresh: new Set(), held: [], heldCount: 0 };

export function takeEvent(state: TailRows, event: TailEvent): TailRows {
  switch (event.kind) {
    case 'begin':
      return noRows;
    case 'release':
      return state.heldCount === 0 ? state : onTop(state.held, state.shown);
    case 'came': {
      const known = new Set([...state.shown, ...state.held].map(({ id }) => id));
      const fresh = event.rows.filter(({ id }) => !known.has(id)).reverse();
      if (event.isHeld) {
        return { ...state, held: cut([...fresh, ...state.held]), heldCount: state.heldCount + fresh.length };
      }
      return onTop([...fresh, ...state.held], state.shown);
    }
  }
}

const onTop = (rows: readonly LedgerRow[], shown: readonly LedgerRow[]): TailRows => ({
  ...noRows,
  shown: cut([...rows, ...shown]),
  fresh: new Set(rows.length > mostAnimated ? [] : rows.map(({ id }) => id)),
});

const cut = (rows: readonly LedgerRow[]): readonly LedgerRow[] => rows.slice(0, mostShown);
