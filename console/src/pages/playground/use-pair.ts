/** One call, and the same to another model beside it where one is chosen: begun, stopped and waited for together. */

import type { Call } from './call.ts';
import { type CallHandle, useCall } from './use-call.ts';

export interface Pair {
  readonly first: CallHandle;
  readonly second: CallHandle;
  readonly isRunning: boolean;
  run(call: Call, other: Call | undefined): void;
  stop(): void;
}

export function usePair(): Pair {
  const [first, second] = [useCall(), useCall()];
  return {
    first,
    second,
    isRunning: first.isRunning || second.isRunning,
    run(call, other) {
      void first.run(call);
      if (other === undefined) second.clear();
      else void second.run(other);
    },
    stop() {
      first.stop();
      second.stop();
    },
  };
}
