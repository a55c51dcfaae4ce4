/** Finds pairs of locations with the same lines in the same order. */

export interface Location {
  readonly path: string;
  /** Line number, from 1. */
  readonly line: number;
}

export interface Copy {
  readonly one: Location;
  readonly other: Location;
  readonly lines: number;
}

/** A line with content, and its location. */
interface Line extends Location {
  readonly text: string;
}

/** For each text, by its path: the runs of at least `leastLines` lines that it shares with earlier texts, or repeats itself. */
export function findCopies(texts: ReadonlyMap<string, string>, leastLines: number): readonly Copy[] {
  const copies: Copy[] = [];
  const seen = new Map<string, { readonly lines: readonly Line[]; readonly at: number }>();
  for (const [path, text] of texts) {
    const lines = linesOf(path, text);
    let copiedTo = 0;
    for (let at = 0; at + leastLines <= lines.length; at += 1) {
      const few = lines.slice(at, at + leastLines);
      const words = few.map((line) => line.text).join('\n');
      const first = seen.get(words);
      if (first === undefined) seen.set(words, { lines, at });
      if (first === undefined || at < copiedTo) continue;
      const length = commonLength(first.lines.slice(first.at), lines.slice(at));
      copiedTo = at + length;
      const [one, other] = [first.lines[first.at], lines[at]];
      if (one !== undefined && other !== undefined) copies.push({ one, other, lines: length });
    }
  }
  return copies;
}

/** The lines to compare: without imports, which are alike wherever the same is needed, and without brackets. */
function linesOf(path: string, text: string): Line[] {
  const withoutImports = text.replaceAll(/^import [^;]*;$/gm, (words) => words.replaceAll(/[^\n]/g, ''));
  const lines = withoutImports.split('\n').map((words, index) => ({ path, line: index + 1, text: words.trim() }));
  return lines.filter((line) => /\w/.test(line.text));
}

function commonLength(one: readonly Line[], other: readonly Line[]): number {
  const differs = one.findIndex((line, index) => line.text !== other[index]?.text);
  return differs === -1 ? one.length : differs;
}
