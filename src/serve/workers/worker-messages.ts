/** Messages between a worker and its parent process. */

import type { Listening } from '../../http/listener.ts';
import type { ParentAnswer, WorkerQuestion } from '../../limits/limit-server.ts';
import type { MetricName } from '../../telemetry/metrics/definitions.ts';
import type { Reading } from '../../telemetry/metrics/reading.ts';

export type ToWorker =
  /** Asks for its metrics, all or some; the answer bears the same number. */
  | { readonly kind: 'read'; readonly turn: number; readonly only?: ReadonlySet<MetricName> }
  | { readonly kind: 'counted'; readonly answers: readonly ParentAnswer[] }
  | { readonly kind: 'reload' }
  | { readonly kind: 'reopen' }
  | { readonly kind: 'drain' };

export type FromWorker =
  | { readonly kind: 'ready'; readonly listening: Listening }
  /** A part is of some metrics, and summed: it never stands for the whole. */
  | { readonly kind: 'reading'; readonly turn: number; readonly reading: Reading; readonly isPart: boolean }
  /** Of what is counted for all workers together. */
  | { readonly kind: 'count'; readonly questions: readonly WorkerQuestion[] }
  /** The last thing it says: whether all of its work came to an end. */
  | { readonly kind: 'drained'; readonly complete: boolean; readonly reading: Reading };

/** Both sides are of one version, and nobody else writes to the channel between them. */
export function toMessage<T extends ToWorker | FromWorker>(received: unknown): T | undefined {
  return typeof received === 'object' && received !== null && 'kind' in received ? (received as T) : undefined;
}
