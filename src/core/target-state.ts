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
  /** For how long its cooldown lasts. */
  readonly restsForMs: number;
  readonly why: string | undefined;
}

export interface TargetState {
  readonly upstream: string;
  readonly model: string;
  /**
   * `failing`: it would rest, and is called all the same, as it has no alternative. `loading`: it said that it is not ready yet, and is probed
   * until it is.
   */
  readonly state: (typeof targetStates)[number];
  /** For how long it still rests. */
  readonly restsForMs: number;
  /** What it rests for. */
  readonly why: string | undefined;
  readonly inFlight: number;
  /** Calls that wait for their turn at the upstream. */
  readonly waiting: number;
  /** Of the upstream, by lane; a node of a former version says nothing. */
  readonly lanes?: Readonly<Record<Lane, LaneState>> | undefined;
  /** The most bulk calls, where interactive calls are promised a latency and bulk has to make room for it. */
  readonly bulkLimit?: number | undefined;
  /** Interactive calls take longer than is promised, though bulk makes all the room that it can; undefined without a promise. */
  readonly isSloMissed?: boolean | undefined;
  /** How many calls the upstream bears at a time, where that is learned. */
  readonly learnedLimit?: number | undefined;
  /** Of the upstream, where it has several. */
  readonly endpoints?: readonly EndpointState[] | undefined;
  /** The moving time to the first byte, as it was measured; 0 where nothing was called in the last five minutes. */
  readonly latencyMs: number;
  /** Of the last five minutes. A node of a former version says none of these. */
  readonly calls?: number | undefined;
  readonly failedCalls?: number | undefined;
  /** Whether it was called, or looked at, since the start. */
  readonly isKnown?: boolean | undefined;
  /** False where the upstream's own list of models was read and does not have it. */
  readonly isListed?: boolean | undefined;
  readonly restingCredentials: readonly string[];
}

/** What a node said last of its targets. */
export interface HealthReport {
  /** One process on one machine. */
  readonly node: string;
  readonly reportedAtMs: number;
  readonly targets: readonly TargetState[];
  /** Undefined where it is of a version that knows none. */
  readonly drift?: DriftState | undefined;
}
