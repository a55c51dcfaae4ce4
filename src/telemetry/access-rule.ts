/** Of which requests a line is written. */

import type { Exchange } from '../core/exchange.ts';
import type { LogSettings } from '../core/snapshot.ts';

/** `chance` is from 0 to below 1; `nowMs` on the monotonic clock. */
export function isLogged(exchange: Exchange, { access }: LogSettings, nowMs: number, chance: () => number): boolean {
  if (access.share === 1) return true;
  if (access.errors && isError(exchange)) return true;
  if (access.slowMs !== undefined && nowMs - exchange.startedMs >= access.slowMs) return true;
  return access.share > 0 && chance() < access.share;
}

/** Also where the client was told nothing of it. */
function isError({ status, errorCode, errorCause, cut }: Exchange): boolean {
  return status >= 400 || cut || errorCode !== undefined || errorCause !== undefined;
}
