/** A target's current state, for display and for other nodes. */

import type { DriftState } from './drift.ts';
import type { Lane } from './lane.ts';

/** From bad to good. */
export const targetStates = ['failing', 'resting', 'loading', 'probing', 'healthy'] as const;

export interface LaneState {
  readonly inFlight: number;
  /** For a slot, or for a rate limit. */
  readonly waiting: number;
  /** The keys with the most calls that wait for a slot. */
  readonly keys?: readonly { readonly key: string; readonly waiting: number }[] | undefined;
}

/** One of several addresses of an upstream. */
export interface EndpointState {
  /** Host and port. */
  readonly endpoint: string;
  readonly inFlight: number;
  readonly isUp: boolean;
  /** Remaining cooldown. */
  readonly restsForMs: number;
  readonly why: string | undefined;
}

export interface TargetState {
  readonly upstream: string;
  readonly model: string;
  /** `failing`: called in spite of its cooldown, without an alternative. `resting`: in cooldown. `loading`: not ready, and probed until it is. */
  readonly state: (typeof targetStates)[number];
  /** Remaining cooldown. */
  readonly restsForMs: number;
  readonly why: string | undefined;
  readonly inFlight: number;
  readonly waiting: number;
  /** Of the upstream, by lane; undefined in reports of older versions. */
  readonly lanes?: Readonly<Record<Lane, LaneState>> | undefined;
  /** The limit of bulk calls, where interactive calls have a latency target and bulk makes room for it. */
  readonly bulkLimit?: number | undefined;
  /** Interactive calls miss their latency target, although bulk is at its minimum; undefined without a target. */
  readonly isSloMissed?: boolean | undefined;
  readonly learnedLimit?: number | undefined;
  /** Of an upstream with several. */
  readonly endpoints?: readonly EndpointState[] | undefined;
  /** Moving average of the time to the first byte; 0 without calls in the last five minutes. */
  readonly latencyMs: number;
  /** In the last five minutes. Undefined, as the next ones, in reports of older versions. */
  readonly calls?: number | undefined;
  readonly failedCalls?: number | undefined;
  /** Whether it was called or probed since the start. */
  readonly isKnown?: boolean | undefined;
  /** False where the upstream's list of models was read and does not have it. */
  readonly isListed?: boolean | undefined;
  readonly restingCredentials: readonly string[];
}

/** A node's latest report on its targets. */
export interface HealthReport {
  /** One process on one machine. */
  readonly node: string;
  readonly reportedAtMs: number;
  readonly targets: readonly TargetState[];
  /** Undefined in reports of older versions. */
  readonly drift?: DriftState | undefined;
}
