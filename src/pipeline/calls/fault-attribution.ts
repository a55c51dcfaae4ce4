/** Fault attribution: the targets that failed on one request, until it is known whether they or the request caused it. */

import type { TargetLease } from '../../core/dispatch.ts';
import type { Answer } from '../../core/outcome.ts';

/** Statuses about the service, whatever the request was. */
const unreachableStatuses: ReadonlySet<number> = new Set([502, 503, 504, 529]);

/** By these a service says that it is unavailable. */
export const unavailable: ReadonlySet<number> = new Set([503, 529]);

interface FailedTry {
  readonly lease: TargetLease;
  readonly status: number;
}

export class FaultAttribution {
  readonly #all: FailedTry[] = [];

  /** One was unavailable, which the request may be to blame for as well: the dispatcher knows who else was, for this body alone. */
  hasUnavailable = false;

  add(lease: TargetLease, { status, meantStatus = status }: Answer): void {
    if (unavailable.has(meantStatus)) this.hasUnavailable = true;
    if (!unreachableStatuses.has(meantStatus)) this.#all.push({ lease, status: meantStatus });
  }

  /** Nobody served it, and two failed alike: the request is to blame, and not those who got it. */
  excuse(): void {
    for (const { lease, status } of this.#all) {
      const { target } = lease.candidate;
      if (this.#all.some((one) => one.lease.candidate.target !== target && one.status === status)) lease.excused();
    }
  }
}
