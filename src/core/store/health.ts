/** What nodes say of their targets, and the port through which they hear of each other. */

import type { DriftState } from '../drift.ts';
import type { HealthReport, TargetState } from '../target-state.ts';

/** What every node says of its targets. It is for looking at: what is lost is said again. */
export interface HealthStore {
  /** In place of what the node said before. */
  report(node: string, targets: readonly TargetState[], drift?: DriftState): Promise<void>;
  /** The node says no more. */
  withdraw(node: string): Promise<void>;
  /** What was said within this time, the newest first; one that was not said anew is the same object as before. */
  latest(maxAgeMs: number): Promise<HealthReport[]>;
  /** How many nodes reported within this time. */
  count(maxAgeMs: number): Promise<number>;
}
