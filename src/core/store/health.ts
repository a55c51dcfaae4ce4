/** Health reports of nodes on their targets, and the interface to exchange them. */

import type { DriftState } from '../drift.ts';
import type { HealthReport, TargetState } from '../target-state.ts';

/** Nodes report every five seconds: what is older was reported by one that is gone. */
export const reportMaxAgeMs = 15_000;

/** What every node says of its targets. It is for looking at: what is lost is said again. */
export interface HealthStore {
  /** In place of what the node said before. */
  report(
    node: string,
    targets: readonly TargetState[],
    drift?: DriftState,
    secretKeys?: readonly string[] | undefined,
  ): Promise<void>;
  /** The node says no more. */
  withdraw(node: string): Promise<void>;
  /** What was said within this time, the newest first; one that was not said anew is the same object as before. */
  latest(maxAgeMs: number): Promise<HealthReport[]>;
  /** The nodes that reported within this time. */
  nodes(maxAgeMs: number): Promise<ReportingNode[]>;
}

export interface ReportingNode {
  readonly node: string;
  /** The IDs of the keys by which it opens secrets in the store; undefined where it did not say. */
  readonly secretKeys: readonly string[] | undefined;
}
