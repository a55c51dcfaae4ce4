/** Ranks names against what was typed into the command palette: by prefix, word and part, and with a typo or two. */

/** The score of each kind of match; lower is better. */
const scores = { whole: 0, prefix: 1, word: 2, part: 3, typo: 4 } as const;

/** Letters per permitted typo: a word of four letters may have one typo, a word of eight two. */
const lettersPerTypo = 4;
const mostTypos = 2;

/** The score of a name; undefined if it does not match. Each typed word has to match. */
export function scoreOf(typed: string, names: readonly string[]): number | undefined {
  const words = wordsOf(typed);
  if (words.length === 0) return 0;
  const all = names.map((name) => name.toLowerCase());
  const whole = typed.trim().toLowerCase();
  if (all.includes(whole)) return scores.whole;
  let sum = 0;
  for (const word of words) {
    const best = Math.min(...all.map((name) => wordScore(word, name)));
    if (best === Number.POSITIVE_INFINITY) return undefined;
    sum += best;
  }
  return sum / words.length;
}

const wordsOf = (text: string): string[] => text.toLowerCase().split(/\s+/).filter(Boolean);

function wordScore(word: string, name: string): number {
  const at = name.indexOf(word);
  if (at === 0) return scores.prefix;
  if (at > 0) return /[\p{L}\p{N}]/u.test(name[at - 1] ?? '') ? scores.part : scores.word;
  const allowed = Math.min(mostTypos, Math.floor(word.length / lettersPerTypo));
  if (allowed === 0) return Number.POSITIVE_INFINITY;
  const beginnings = [...name.matchAll(/[\p{L}\p{N}]+/gu)].map(({ index }) => name.slice(index));
  const nearest = Math.min(...beginnings.map((rest) => typosBetween(word, rest, allowed)));
  return nearest <= allowed ? scores.typo + nearest : Number.POSITIVE_INFINITY;
}

/** Counts wrong, missing, extra and swapped letters; additional letters at the name's end do not count. At most `most + 1`. */
export function typosBetween(word: string, name: string, most: number): number {
  if (name.length < word.length - most) return most + 1;
  // Further letters of the name cost nothing: they are not typed yet.
  const text = name.slice(0, word.length + most);
  let before: number[] = [];
  let last = Array.from({ length: text.length + 1 }, (_, at) => at);
  for (let row = 1; row <= word.length; row += 1) {
    const now = [row];
    for (let at = 1; at <= text.length; at += 1) {
      const isSame = word[row - 1] === text[at - 1];
      let cost = Math.min((last[at] ?? 0) + 1, (now[at - 1] ?? 0) + 1, (last[at - 1] ?? 0) + (isSame ? 0 : 1));
      const isSwapped = row > 1 && at > 1 && word[row - 1] === text[at - 2] && word[row - 2] === text[at - 1];
      if (isSwapped) cost = Math.min(cost, (before[at - 2] ?? 0) + 1);
      now.push(cost);
    }
    [before, last] = [last, now];
  }
  return Math.min(most + 1, ...last);
}

/** The matching items, the best first; equal ones keep their order. */
export function ranked<T>(typed: string, items: readonly T[], namesOf: (item: T) => readonly string[]): T[] {
  return items
    .map((item) => ({ item, score: scoreOf(typed, namesOf(item)) }))
    .filter((one): one is { item: T; score: number } => one.score !== undefined)
    .sort((a, b) => a.score - b.score)
    .map(({ item }) => item);
}
