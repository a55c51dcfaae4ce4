/** Retry delays with jitter, so that calls that failed together are not repeated together. */

const firstMs = 50;
const longestMs = 1_000;

const firstPauseMs = 500;
const longestPauseMs = 4_000;

/** Before the same target is called again: between 250 and 500 ms for attempt 0, doubled for each further one, up to four seconds. */
export function equalJitterMs(attempt: number, random: () => number): number {
  return (0.5 + random() / 2) * Math.min(longestPauseMs, firstPauseMs * 2 ** attempt);
}

/** Between 0 and 50 ms for attempt 0, doubled for each further one, up to a second. */
export function fullJitterMs(attempt: number, random: () => number): number {
  return random() * Math.min(longestMs, firstMs * 2 ** attempt);
}
