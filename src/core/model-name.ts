/** Valid model names, which can never act as a path, and names made by patterns. */

/** Control characters, halves of a pair, and what begins another part of a URL. */
const commanding = /[\p{Cc}\p{Cs}?#\\]/u;
/** An empty segment, `.` or `..`. */
const leading = /(?:^|\/)\.{0,2}(?:\/|$)/;

/** Whether a name may stand in a path; it is exactly one look-up there. */
export const mayStandInPath = (name: string): boolean => !commanding.test(name) && !leading.test(name);

/**
 * Whether a pattern may match a name. Nobody wrote it down beforehand, and proxies and services read names in ways of their own: one
 * that decodes once more would see another name behind a `%`.
 */
export const mayBeMatched = (name: string): boolean => mayStandInPath(name) && !name.includes('%');

/** An upstream's name for a model: `*` in it stands for what the model's pattern matched. */
export function upstreamNameOf(name: string, matched: string): string {
  return name.includes('*') ? name.replace('*', () => matched) : name;
}
