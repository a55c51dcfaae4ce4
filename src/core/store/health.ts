/** Health reports of nodes on their targets, and the interface to exchange them. */

import type { DriftState } from '../drift.ts';
import type { HealthReport, TargetState } from '../target-state.ts';

/** Nodes report every five seconds: an older report is from a node that is gone. */
export const reportMaxAgeMs = 15_000;

/** Reports of every node on its targets, for display: a lost one is sent again. */
export interface HealthStore {
  /** Replaces the node's last report. */
  report(
    node: string,
    targets: readonly TargetState[],
    drift?: DriftState,
    secretKeys?: readonly string[] | undefined,
  ): Promise<void>;
  withdraw(node: string): Promise<void>;
  /** Reports within this time, the newest first; an unchanged report is the same object as before. */
  latest(maxAgeMs: number): Promise<HealthReport[]>;
  nodes(maxAgeMs: number): Promise<ReportingNode[]>;
}

export interface ReportingNode {
  readonly node: string;
  /** The IDs of the keys that it can decrypt stored secrets with; undefined where it did not report them. */
  readonly secretKeys: readonly string[] | undefined;
}
