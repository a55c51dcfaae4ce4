/** Finds out whether targets that failed on one request are at fault, or the request is. */

import type { TargetLease } from '../../core/dispatch.ts';
import type { Answer } from '../../core/outcome.ts';

/** Statuses about the service, independent of the request. */
const unreachableStatuses: ReadonlySet<number> = new Set([502, 503, 504, 529]);

/** Statuses by which a service reports that it is unavailable. */
export const unavailable: ReadonlySet<number> = new Set([503, 529]);

interface FailedTry {
  readonly lease: TargetLease;
  readonly status: number;
}

export class FaultAttribution {
  readonly #all: FailedTry[] = [];

  /** A target was unavailable, perhaps because of the request: only the dispatcher knows which others were, for this body. */
  hasUnavailable = false;

  add(lease: TargetLease, { status, meantStatus = status }: Answer): void {
    if (unavailable.has(meantStatus)) this.hasUnavailable = true;
    if (!unreachableStatuses.has(meantStatus)) this.#all.push({ lease, status: meantStatus });
  }

  /** Takes failures back where no target served the request and two failed in the same way: the request is to blame. */
  excuse(): void {
    for (const { lease, status } of this.#all) {
      const { target } = lease.candidate;
      if (this.#all.some((one) => one.lease.candidate.target !== target && one.status === status)) lease.excused();
    }
  }
}
