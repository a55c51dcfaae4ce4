/** Defines the messages between a worker and its parent process, which counts limits and slots for all workers. */

import type { Listening } from '../../http/listener.ts';
import type { ParentAnswer, WorkerQuestion } from '../../limits/limit-server.ts';
import type { ParentChannel } from '../../limits/parent-limiter.ts';
import type { MetricName } from '../../telemetry/metrics/definitions.ts';
import type { Reading } from '../../telemetry/metrics/reading.ts';

export type ToWorker =
  /** Requests metrics, all or some; the answer has the same `turn`. */
  | { readonly kind: 'read'; readonly turn: number; readonly only?: ReadonlySet<MetricName> }
  | { readonly kind: 'counted'; readonly answers: readonly ParentAnswer[] }
  | { readonly kind: 'reload' }
  | { readonly kind: 'reopen' }
  | { readonly kind: 'drain' };

export type FromWorker =
  | { readonly kind: 'ready'; readonly listening: Listening }
  /** Metrics of the worker. With `isPart`, they are a sum over some metrics, and do not replace a whole reading. */
  | { readonly kind: 'reading'; readonly turn: number; readonly reading: Reading; readonly isPart: boolean }
  /** Questions about limits shared by all workers. */
  | { readonly kind: 'count'; readonly questions: readonly WorkerQuestion[] }
  /** The worker's last message; `complete`: all of its work was finished. */
  | { readonly kind: 'drained'; readonly complete: boolean; readonly reading: Reading };

/** A received message. It is not checked further, as only processes of one version use the channel. */
export function toMessage<T extends ToWorker | FromWorker>(received: unknown): T | undefined {
  return typeof received === 'object' && received !== null && 'kind' in received ? (received as T) : undefined;
}

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
