/** How much of a budget a node may hold ahead of need: by this rule the account store grants, and nodes give back. */

/** A node holds something ahead where its part is worth so many requests; where it is less, others need it sooner. */
const requestsWorthHolding = 16;

/**
 * Half of what is left is for those who need it now. The other half is held ahead, in equal parts by all nodes that hold anything; for as
 * long as the store is away each lives on its part. `unitNanos`: what a request can cost at most; of 0 nothing is known, and nothing held.
 */
export function shareAheadNanos(leftNanos: number, holders: number, unitNanos: number): number {
  const shareNanos = Math.floor(leftNanos / (2 * Math.max(1, holders)));
  return unitNanos > 0 && shareNanos >= requestsWorthHolding * unitNanos ? shareNanos : 0;
}
