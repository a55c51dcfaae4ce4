/** How many calls go to an upstream at a time, and how many may wait, for how long. */

import type { UpstreamLimits } from '../../../core/snapshot.ts';
import type { Path } from '../../read/faults.ts';
import type { CompileContext } from '../context.ts';
import type { UpstreamEntry } from './schema.ts';
import { checkWithinTotal, shortestTotal } from './timeouts.ts';

const standardQueueTimeoutMs = 5000;

export function toLimits(
  { limits, timeouts }: Pick<UpstreamEntry, 'limits' | 'timeouts'>,
  at: Path,
  context: CompileContext,
): UpstreamLimits {
  const total = shortestTotal(timeouts);
  checkWithinTotal(limits.queue_timeout, [...at, 'queue_timeout'], total, context);
  return Object.freeze({
    concurrency: limits.concurrency,
    queue: limits.queue,
    queueTimeoutMs: limits.queue_timeout ?? Math.min(standardQueueTimeoutMs, total.ms),
  });
}
