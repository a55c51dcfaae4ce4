/** Defines the current state of a target (an upstream and a model), as shown to people and reported to other nodes. */

import type { DriftState } from './drift.ts';
import type { Lane } from './lane.ts';

/** The states, from bad to good. */
export const targetStates = ['failing', 'resting', 'loading', 'probing', 'healthy'] as const;

export interface LaneState {
  readonly inFlight: number;
  /** Calls that wait, for a slot or for a rate limit. */
  readonly waiting: number;
  /** The keys with the most calls that wait for a slot. */
  readonly keys?: readonly { readonly key: string; readonly waiting: number }[] | undefined;
}

export interface EndpointState {
  readonly endpoint: string;
  readonly inFlight: number;
  readonly isUp: boolean;
  readonly restsForMs: number;
  readonly why: string | undefined;
}

export interface TargetState {
  readonly upstream: string;
  readonly model: string;
  /** `failing`: called in spite of its cooldown, without an alternative. `resting`: in cooldown. `loading`: not ready, and probed until it is. */
  readonly state: (typeof targetStates)[number];
  /** Milliseconds until the cooldown ends. */
  readonly restsForMs: number;
  readonly why: string | undefined;
  readonly inFlight: number;
  readonly waiting: number;
  /** Calls of the whole upstream, by lane; undefined in reports of older versions. */
  readonly lanes?: Readonly<Record<Lane, LaneState>> | undefined;
  /** The limit of bulk calls, where interactive calls have a latency target and bulk makes room for it. */
  readonly bulkLimit?: number | undefined;
  /** Interactive calls miss their latency target, although bulk is at its minimum; undefined without a target. */
  readonly isSloMissed?: boolean | undefined;
  readonly learnedLimit?: number | undefined;
  readonly endpoints?: readonly EndpointState[] | undefined;
  /** Moving average of the time to the first byte; 0 without calls in the last five minutes. */
  readonly latencyMs: number;
  /** Calls in the last five minutes. Undefined, as the next fields, in reports of older versions. */
  readonly calls?: number | undefined;
  readonly failedCalls?: number | undefined;
  readonly isKnown?: boolean | undefined;
  /** False where the upstream's list of models was read and lacks this model. */
  readonly isListed?: boolean | undefined;
  readonly restingCredentials: readonly string[];
}

export interface HealthReport {
  /** Name of the node: one process on one machine. */
  readonly node: string;
  readonly reportedAtMs: number;
  readonly targets: readonly TargetState[];
  readonly drift?: DriftState | undefined;
}
