/** How long to wait before a call is made again, so that those who failed together do not come back together. */

const firstMs = 50;
const longestMs = 1_000;

/** Anything from nothing up to 50 ms for attempt 0, twice that for each further one, up to a second. */
export function fullJitterMs(attempt: number, random: () => number): number {
  return random() * Math.min(longestMs, firstMs * 2 ** attempt);
}
