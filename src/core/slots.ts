/** Messages between processes that share an upstream's slots and the process that assigns them. */

/** `held` never grows by itself: what a process holds beyond what it uses it lowers first, and then says so. */
export interface SlotClaim {
  readonly upstream: string;
  /** The limit, for all. */
  readonly most: number;
  readonly held: number;
  /** Calls under way, and those that wait. */
  readonly wants: number;
}

export interface SlotGrant {
  readonly held: number;
  /** What may be kept: less than is held where others wait, so that what becomes free is theirs. */
  readonly keep: number;
}

export interface SlotArbiter {
  /** False while nobody can be asked: then each has its share. */
  readonly isThere: boolean;
  /** Processes that share. */
  readonly nodes: number;
  /** In the order of the claims. */
  claim(claims: readonly SlotClaim[]): Promise<readonly SlotGrant[]>;
}

/** Whoever has not claimed for so long does not wait any more. */
export const waitsForMs = 1_000;
