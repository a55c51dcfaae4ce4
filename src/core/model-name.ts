/** Valid model names, which can never act as a path, and names made by patterns. */

/** In a class of characters: those that cannot be seen, or change the direction of others. One name must not look like another. */
export const unseen = String.raw`\u200b\u2028-\u202e\u2060-\u2069\ufeff`;
/** At the beginning of a pattern: a name is not blank. Ignorable characters fill no space, U+2800 fills it with nothing. */
export const notBlank = String.raw`^(?=.*[^\s\p{DI}\u2800])`;
/** Of people and of what they own. */
export const visibleName = new RegExp(String.raw`${notBlank}[^\p{Cc}\p{Cs}${unseen}]+$`, 'u');
/** Control characters, unpaired surrogates, and characters that begin another part of a URL. */
const commanding = /[\p{Cc}\p{Cs}?#\\]/u;
/** An empty segment, `.` or `..`. */
const leading = /(?:^|\/)\.{0,2}(?:\/|$)/;

/** Whether a name is safe in a path: it is exactly one look-up there. */
export const mayStandInPath = (name: string): boolean => !commanding.test(name) && !leading.test(name);

/** No operator has seen such a name, and proxies decode differently: one that decodes once more would see another name behind a `%`. */
export const mayBeMatched = (name: string): boolean => mayStandInPath(name) && !name.includes('%');

/** Whether it is the name, or a pattern, with one `*`, that matches it. */
export function fitsName(pattern: string, name: string): boolean {
  const [start = '', end] = pattern.split('*');
  if (end === undefined) return pattern === name;
  return name.length >= start.length + end.length && name.startsWith(start) && name.endsWith(end);
}

/** An upstream's name for a model: `*` in it is replaced by what the model's pattern matched. */
export function upstreamNameOf(name: string, matched: string): string {
  return name.includes('*') ? name.replace('*', () => matched) : name;
}
