/** Defines the messages by which several processes share an upstream's slots, and the process that assigns them. */

/** One process's claim. `held` never grows by itself: a process first lowers its use, and then claims less. */
export interface SlotClaim {
  readonly upstream: string;
  /** The limit of slots for all processes together. */
  readonly most: number;
  readonly held: number;
  /** Slots that the process could use: for calls in progress and waiting. */
  readonly wants: number;
}

export interface SlotGrant {
  readonly held: number;
  /** Slots that the process may keep: less than it holds where others wait, so that freed slots go to them. */
  readonly keep: number;
}

export interface SlotArbiter {
  /** False while the assigning process is unreachable: then each process has its share of the limit. */
  readonly isThere: boolean;
  readonly nodes: number;
  /** Claims slots; resolves with one grant for each claim, in the same order. */
  claim(claims: readonly SlotClaim[]): Promise<readonly SlotGrant[]>;
}

/** A process whose last claim is older than this no longer counts as waiting. */
export const waitsForMs = 1_000;
