/** Decides which model names are valid: a name can never act as a path, and patterns with `*` match only safe names. */

/** Characters, for a regular expression's class, that are invisible or change the direction of others: no name may look like another. */
export const unseen = String.raw`\u200b\u2028-\u202e\u2060-\u2069\ufeff`;
/** Beginning of a regular expression: the name is not blank. Characters that Unicode ignores do not count, nor does the empty pattern U+2800. */
export const notBlank = String.raw`^(?=.*[^\s\p{DI}\u2800])`;
/** Matches names of people and their things that are visible. */
export const visibleName = new RegExp(String.raw`${notBlank}[^\p{Cc}\p{Cs}${unseen}]+$`, 'u');
/** Control characters, unpaired surrogates, and characters that begin another part of a URL. */
const commanding = /[\p{Cc}\p{Cs}?#\\]/u;
/** Matches an empty path segment, `.` or `..`. */
const leading = /(?:^|\/)\.{0,2}(?:\/|$)/;

/** Whether a name is safe in a path: it names exactly one thing there. */
export const mayStandInPath = (name: string): boolean => !commanding.test(name) && !leading.test(name);

/** Whether a pattern may match a name, which no operator has seen: `%` is excluded, as a proxy that decodes again would see another name. */
export const mayBeMatched = (name: string): boolean => mayStandInPath(name) && !name.includes('%');

/** Whether the pattern is the name, or matches it with its one `*`. */
export function fitsName(pattern: string, name: string): boolean {
  const [start = '', end] = pattern.split('*');
  if (end === undefined) return pattern === name;
  return name.length >= start.length + end.length && name.startsWith(start) && name.endsWith(end);
}

/** The upstream's name for a model: `*` in the configured name is replaced by the text that the model's pattern matched. */
export function upstreamNameOf(name: string, matched: string): string {
  return name.includes('*') ? name.replace('*', () => matched) : name;
}
