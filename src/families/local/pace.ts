/** Yields to the event loop during long work, and stops it when the client is gone. */

import { isSliceOver, nextSlice } from '../../lib/time-slices.ts';

export interface Pace {
  /** Accounts for work done, counted in characters read or written; lets the event loop turn when the turn's time is over. */
  spend(characters: number): Promise<void>;
  /** Lets the event loop turn now. */
  turn(): Promise<void>;
}

/** Less than a millisecond of most work done here on a common machine: the clock is not looked at before. */
const pieceCharacters = 4_096;

export function createPace(signal: AbortSignal): Pace {
  let spent = 0;
  const turn = async () => {
    await nextSlice();
    signal.throwIfAborted();
  };
  return {
    turn,
    async spend(characters) {
      spent += characters;
      if (spent < pieceCharacters) return;
      spent = 0;
      if (isSliceOver()) await turn();
    },
  };
}
