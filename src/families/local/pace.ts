/** Shares the event loop: long work is done in stretches, and ends when nobody waits for it any more. */

import { setImmediate } from 'node:timers/promises';

export interface Pace {
  /** Accounts for work done, counted in characters read or written; lets the event loop turn when a stretch is full. */
  spend(characters: number): Promise<void>;
  /** Lets the event loop turn now. */
  turn(): Promise<void>;
}

/** About 3 ms of the heaviest work done here on a common machine. Counted, not timed: nothing here reads a clock. */
const stretchCharacters = 16_384;

export function createPace(signal: AbortSignal): Pace {
  let spent = 0;
  const turn = async () => {
    spent = 0;
    await setImmediate();
    signal.throwIfAborted();
  };
  return {
    turn,
    async spend(characters) {
      spent += characters;
      if (spent >= stretchCharacters) await turn();
    },
  };
}
