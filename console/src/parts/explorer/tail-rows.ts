/** Rows received while following the ledger: those shown, and those held back while the user reads. */

import type { LedgerRow } from '../../../../src/admin/contract.ts';

/** On the page at a time; older ones are on the pages below. Each of them is drawn anew in a second where as many come. */
export const mostShown = 50;

export interface TailRows {
  readonly shown: readonly LedgerRow[];
  /** Not shown, as somebody looks at the others. */
  readonly held: readonly LedgerRow[];
  readonly heldCount: number;
}

export type TailEvent =
  | { readonly kind: 'came'; readonly rows: readonly LedgerRow[]; readonly isHeld: boolean }
  | { readonly kind: 'release' }
  | { readonly kind: 'begin' };

export const noRows: TailRows = { shown: [], held: [], heldCount: 0 };

export function takeEvent(state: TailRows, event: TailEvent): TailRows {
  switch (event.kind) {
    case 'begin':
      return noRows;
    case 'release':
      return state.heldCount === 0 ? state : { ...noRows, shown: cut([...state.held, ...state.shown]) };
    case 'came': {
      const known = new Set([...state.shown, ...state.held].map(({ id }) => id));
      const fresh = event.rows.filter(({ id }) => !known.has(id)).reverse();
      if (event.isHeld) {
        return { ...state, held: cut([...fresh, ...state.held]), heldCount: state.heldCount + fresh.length };
      }
      return { ...noRows, shown: cut([...fresh, ...state.held, ...state.shown]) };
    }
  }
}

const cut = (rows: readonly LedgerRow[]): readonly LedgerRow[] => rows.slice(0, mostShown);
