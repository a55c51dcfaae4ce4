/** Yields to the event loop during long work, and stops it when the client is gone. */

import { isSliceOver, nextSlice } from '../../lib/time-slices.ts';

export type Pace = ReturnType<typeof createPace>;

/** Less than a millisecond of most work done here on a common machine: the clock is not looked at before. */
const pieceCharacters = 4_096;

export function createPace(signal: AbortSignal) {
  let spent = 0;
  const turn = async () => {
    await nextSlice();
    signal.throwIfAborted();
  };
  return {
    /** Lets the event loop turn now. */
    turn,
    /** Accounts for work done, counted in characters read or written; lets the event loop turn when the turn's time is over. */
    async spend(characters: number): Promise<void> {
      spent += characters;
      if (spent < pieceCharacters) return;
      spent = 0;
      if (isSliceOver()) await turn();
    },
  };
}
