/**
 * Parses word patterns, such as `i am|m going|gonna to? ..2 leave !for|to`, and searches a text for many of them at once. Each item between spaces
 * matches one position of the text: words to choose from (`a|b`, or `{name}` for a list of the vocabulary), with `?` after them if they may be
 * missing; `..n` for up to n words of any kind; `!a|b` where none of these may follow. A search at one position looks no further than the pattern is
 * long, so it is linear in the text.
 */

type Step =
  | { readonly kind: 'words' | 'optional' | 'not'; readonly words: ReadonlySet<string> }
  | { readonly kind: 'gap'; readonly most: number };

export type Vocabulary = Readonly<Record<string, string>>;

export interface Patterned {
  readonly patterns: readonly string[];
}

/** Adds to `found` the rules (or other things) whose pattern occurs in a list of words. */
export type PatternSearch<T> = (words: readonly string[], found: Set<T>) => void;

export function createPatternSearch<T extends Patterned>(
  things: readonly T[],
  vocabulary: Vocabulary,
): PatternSearch<T> {
  const byFirstWord = new Map<string, { thing: T; rest: readonly Step[] }[]>();
  for (const thing of things) {
    for (const pattern of thing.patterns) {
      const [first, ...rest] = parsePattern(pattern, vocabulary);
      if (first?.kind !== 'words') throw new TypeError(`"${pattern}" must begin with words`);
      for (const word of first.words) {
        const entries = byFirstWord.get(word) ?? [];
        entries.push({ thing, rest });
        byFirstWord.set(word, entries);
      }
    }
  }
  return (words, found) => {
    for (const [at, word] of words.entries()) {
      for (const { thing, rest } of byFirstWord.get(word) ?? []) {
        if (!found.has(thing) && matches(rest, 0, words, at + 1)) found.add(thing);
      }
    }
  };
}

export function longestPattern(things: readonly Patterned[], vocabulary: Vocabulary): number {
  const lengths = things.flatMap(({ patterns }) =>
    patterns.map((pattern) =>
      parsePattern(pattern, vocabulary).reduce((sum, step) => sum + (step.kind === 'gap' ? step.most : 1), 0),
    ),
  );
  return Math.max(0, ...lengths);
}

function parsePattern(pattern: string, vocabulary: Vocabulary): readonly Step[] {
  return pattern.split(' ').map((part): Step => {
    const gap = /^\.\.([1-9])$/.exec(part);
    if (gap !== null) return { kind: 'gap', most: Number(gap[1]) };
    const [, not, alternatives = '', optional] = /^(!?)(.*?)(\??)$/.exec(part) ?? [];
    const words = new Set(alternatives.split('|').flatMap((word) => parseWord(word, pattern, vocabulary)));
    return { kind: not ? 'not' : optional ? 'optional' : 'words', words };
  });
}

function parseWord(word: string, pattern: string, vocabulary: Vocabulary): readonly string[] {
  const name = /^\{([a-z]+)\}$/.exec(word)?.[1];
  const words = name === undefined ? [word] : (vocabulary[name]?.split(' ') ?? []);
  // Words are compared with folded text: anything else could never match.
  if (words.length > 0 && words.every((each) => /^[a-z0-9]+$/.test(each))) return words;
  throw new TypeError(`"${word}" in the pattern "${pattern}" is neither a word nor a list of the vocabulary`);
}

function matches(steps: readonly Step[], from: number, words: readonly string[], at: number): boolean {
  const step = steps[from];
  if (step === undefined) return true;
  if (step.kind === 'gap') {
    for (let skipped = 0; skipped <= step.most; skipped += 1) {
      if (matches(steps, from + 1, words, at + skipped)) return true;
    }
    return false;
  }
  const word = words[at];
  const here = word !== undefined && step.words.has(word);
  switch (step.kind) {
    case 'words':
      return here && matches(steps, from + 1, words, at + 1);
    case 'optional':
      return (here && matches(steps, from + 1, words, at + 1)) || matches(steps, from + 1, words, at);
    case 'not':
      return !here && matches(steps, from + 1, words, at);
  }
}
