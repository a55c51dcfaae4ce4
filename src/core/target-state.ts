/** How a target is at a moment, for people and for other nodes. */

export interface TargetState {
  readonly upstream: string;
  readonly model: string;
  /** `failing`: it would rest, and is called all the same, as it has no alternative. */
  readonly state: 'healthy' | 'probing' | 'resting' | 'failing';
  /** For how long it still rests. */
  readonly restsForMs: number;
  /** What it rests for. */
  readonly why: string | undefined;
  readonly inFlight: number;
  /** Calls that wait for their turn at the upstream. */
  readonly waiting: number;
  /** The moving time to the first byte; 0 while nothing was called lately. */
  readonly latencyMs: number;
  readonly restingCredentials: readonly string[];
}

/** What a node said last of its targets. */
export interface HealthReport {
  /** One process on one machine. */
  readonly node: string;
  readonly reportedAtMs: number;
  readonly targets: readonly TargetState[];
}
