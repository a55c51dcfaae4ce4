/** Rows received while following the ledger: those shown, and those held back while the user reads. */

import type { LedgerRow } from '../../../../src/admin/contract.ts';

/** On the page at a time; older ones are on the pages below. Each of them is drawn anew in a second where as many come. */
export const mostShown = 50;

/** Above it no row is animated: fifty at once took 280 ms of CPU a second. */
const mostAnimated = 10;

export interface TailRows {
  readonly shown: readonly LedgerRow[];
  /** IDs of the shown rows that just came, if they are few. */
  readonly fresh: ReadonlySet<string>;
  /** Not shown, as somebody looks at the others. */
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
