/** How often an upstream is asked whether it is there, and at which path. */

import type { HealthCheck } from '../../../core/snapshot.ts';
import { fromMilliseconds } from '../../../lib/quantities.ts';
import type { Path } from '../../read/faults.ts';
import type { CompileContext } from '../context.ts';
import type { UpstreamEntry } from './schema.ts';

const standardTimeoutMs = 2000;

export function toHealthCheck(
  section: NonNullable<UpstreamEntry['health_check']>,
  at: Path,
  { faults }: CompileContext,
): HealthCheck {
  const { path, interval: intervalMs, timeout: timeoutMs = Math.min(standardTimeoutMs, intervalMs) } = section;
  if (timeoutMs > intervalMs) {
    faults.add(
      [...at, 'timeout'],
      `${fromMilliseconds(timeoutMs)} is longer than interval (${fromMilliseconds(intervalMs)}), so that checks would overlap; raise interval, or lower this`,
    );
  }
  return Object.freeze({ path, intervalMs, timeoutMs });
}
