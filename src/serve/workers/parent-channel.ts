/** The channel from a worker to its parent process, which counts limits and slots. */

import type { ParentAnswer } from '../../limits/limit-server.ts';
import type { ParentChannel } from '../../limits/parent-limiter.ts';
import { type FromWorker, type ToWorker, toMessage } from './worker-messages.ts';

/** Undefined where this process has no parent. */
export function openParentChannel(): ParentChannel | undefined {
  if (process.send === undefined) return undefined;
  let hear: (answers: readonly ParentAnswer[]) => void = () => undefined;
  process.on('message', (received) => {
    const message = toMessage<ToWorker>(received);
    if (message?.kind === 'counted') hear(message.answers);
  });
  return {
    ask(questions) {
      // A worker without a connection is about to end.
      if (process.connected) process.send?.({ kind: 'count', questions } satisfies FromWorker);
    },
    onAnswers(listener) {
      hear = listener;
    },
  };
}
