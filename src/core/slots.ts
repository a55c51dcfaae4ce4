/** Messages between processes that share an upstream's slots and the process that assigns them. */

/** `held` never grows by itself: a process first lowers its use, and then claims less. */
export interface SlotClaim {
  readonly upstream: string;
  /** The limit, for all. */
  readonly most: number;
  readonly held: number;
  /** Calls in progress and waiting. */
  readonly wants: number;
}

export interface SlotGrant {
  readonly held: number;
  /** What it may keep: less than it holds where others wait, so that freed slots go to them. */
  readonly keep: number;
}

export interface SlotArbiter {
  /** False while the assigning process is unreachable: then each has its share. */
  readonly isThere: boolean;
  readonly nodes: number;
  /** In the order of the claims. */
  claim(claims: readonly SlotClaim[]): Promise<readonly SlotGrant[]>;
}

/** A process that has not claimed for so long no longer counts as waiting. */
export const waitsForMs = 1_000;
