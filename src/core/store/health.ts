/** Interface by which nodes exchange reports on the health of their targets. */

import type { DriftState } from '../drift.ts';
import type { HealthReport, TargetState } from '../target-state.ts';

/** Nodes report every five seconds: an older report is from a node that is gone. */
export const reportMaxAgeMs = 15_000;

/** Stores every node's latest report on its targets, for display: a lost one is sent again. */
export interface HealthStore {
  report(
    node: string,
    targets: readonly TargetState[],
    drift?: DriftState,
    secretKeys?: readonly string[] | undefined,
  ): Promise<void>;
  withdraw(node: string): Promise<void>;
  /** Reports of the last `maxAgeMs`, the newest first; an unchanged report is the same object as before. */
  latest(maxAgeMs: number): Promise<HealthReport[]>;
  nodes(maxAgeMs: number): Promise<ReportingNode[]>;
}

export interface ReportingNode {
  readonly node: string;
  /** The IDs of the encryption keys that the node can decrypt stored secrets with; undefined where it did not report them. */
  readonly secretKeys: readonly string[] | undefined;
}
