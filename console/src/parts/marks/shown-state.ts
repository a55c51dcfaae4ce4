/** The displayed state of a target: recent failures take precedence over its circuit, which may be closed while every fourth call fails. */

interface Calls {
  /** Of the last five minutes. */
  readonly calls: number;
  readonly failedCalls: number;
}

/** Fewer calls say nothing; from there on, the shares below which a target is degraded, or fails. */
const leastCalls = 10;
const degradedBelow = 0.95;
const failingBelow = 0.5;

export function shownState<S extends string>(
  state: S,
  { calls, failedCalls }: Calls,
): S | 'healthy' | 'degraded' | 'failing' | 'untested' {
  if (state !== 'healthy' && state !== 'unknown') return state;
  if (calls === 0) return state === 'unknown' ? 'untested' : state;
  const share = (calls - failedCalls) / calls;
  if (calls < leastCalls || share >= degradedBelow) return 'healthy';
  return share < failingBelow ? 'failing' : 'degraded';
}
