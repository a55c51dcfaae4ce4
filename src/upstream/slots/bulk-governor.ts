/** Protects the latency target of interactive calls: bulk gets as many slots as let 95% of interactive calls meet the target. */

/** Factor of a step down. Some 34 small steps up equal one down: one of twenty calls may be late, and slow calls mostly come in pairs. */
const lowered = 0.6;
const raised = 1.015;
const fewestSlots = 1;

/** Weight of a call in the average, so that some fifty latest calls count. */
const weight = 0.02;
const missedShare = 0.1;
const metShare = 0.05;

/** How well one target meets the latency target of interactive calls. */
export class SloTracker {
  /** Share of the latest interactive calls that took longer than the target. */
  overShare = 0;
  /** Whether the latency target is missed although bulk has only its last slot. */
  isMissed = false;

  count(isOver: boolean, isBulkAtLeast: boolean): void {
    this.overShare += ((isOver ? 1 : 0) - this.overShare) * weight;
    if (this.overShare > missedShare && isBulkAtLeast) this.isMissed = true;
    else if (this.overShare < metShare || !isBulkAtLeast) this.isMissed = false;
  }
}

export class BulkGovernor {
  #limit = Number.POSITIVE_INFINITY;
  #changedAtMs = Number.NEGATIVE_INFINITY;

  get limit(): number {
    return Math.floor(this.#limit);
  }

  /** Reports an interactive call. `ms`: its duration, including its wait. */
  count(tracker: SloTracker, ms: number, goalMs: number, bulkInFlight: number, held: number, nowMs: number): void {
    const isOver = ms > goalMs;
    if (isOver) this.#lower(ms, bulkInFlight, held, nowMs);
    else if (this.#limit * raised < held) this.#limit *= raised;
    else this.#limit = Number.POSITIVE_INFINITY;
    tracker.count(isOver, bulkInFlight <= fewestSlots);
  }

  #lower(ms: number, bulkInFlight: number, held: number, nowMs: number): void {
    // A call that began before the last change says nothing of it; and without bulk, bulk is not the cause.
    if (nowMs - ms < this.#changedAtMs || bulkInFlight === 0) return;
    this.#limit = Math.max(fewestSlots, Math.min(this.#limit, bulkInFlight, held) * lowered);
    this.#changedAtMs = nowMs;
  }
}
