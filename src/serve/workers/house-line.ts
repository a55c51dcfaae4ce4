/** A worker's way to the process that watches over it, for what that counts. */

import type { HouseAnswer } from '../../limits/house-desk.ts';
import type { HouseLine } from '../../limits/house-limiter.ts';
import { type FromWorker, type ToWorker, toMessage } from './worker-messages.ts';

/** Undefined where nobody watches over this process. */
export function openHouseLine(): HouseLine | undefined {
  if (process.send === undefined) return undefined;
  let hear: (answers: readonly HouseAnswer[]) => void = () => undefined;
  process.on('message', (received) => {
    const message = toMessage<ToWorker>(received);
    if (message?.kind === 'counted') hear(message.answers);
  });
  return {
    ask(questions) {
      // Whoever is not connected any more is about to end.
      if (process.connected) process.send?.({ kind: 'count', questions } satisfies FromWorker);
    },
    onAnswers(listener) {
      hear = listener;
    },
  };
}
