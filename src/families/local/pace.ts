/** Yields to the event loop during long work, and stops it when the client is gone. */

import { isSliceOver, nextSlice } from '../../lib/time-slices.ts';

export type Pace = ReturnType<typeof createPace>;

/** Less than a millisecond of most work here on a common machine: the clock is read only after so much. */
const pieceCharacters = 4_096;

export function createPace(signal: AbortSignal) {
  let spent = 0;
  const turn = async () => {
    await nextSlice();
    signal.throwIfAborted();
  };
  return {
    /** Yields to the event loop now. */
    turn,
    /** Accounts for work, in characters read or written; yields where the time slice is used up. */
    async spend(characters: number): Promise<void> {
      spent += characters;
      if (spent < pieceCharacters) return;
      spent = 0;
      if (isSliceOver()) await turn();
    },
  };
}
