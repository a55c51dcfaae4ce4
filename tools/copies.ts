/** Finds what is written twice: the same lines, in the same order, at two places of what runs for users. */

import { globSync, readFileSync } from 'node:fs';

/** Fewer lines are alike by chance, or are not worth a name. */
const leastLines = 8;
/** Found, and left: what stands before each is why. */
const known: readonly (readonly [why: string, one: string, other: string])[] = [
  [
    'lines and events end differently, and what lies between is one walk of both',
    'src/pipeline/answers/line-answer.ts',
    'src/pipeline/answers/streamed-answer.ts',
  ],
];

interface Place {
  readonly path: string;
  readonly line: number;
}

/** A line that says something, and where it stands. */
interface Line extends Place {
  readonly text: string;
}

function copiesIn(paths: readonly string[]): (readonly [Place, Place, lines: number])[] {
  const copies: (readonly [Place, Place, number])[] = [];
  const seen = new Map<string, { readonly lines: readonly Line[]; readonly at: number }>();
  for (const path of paths.filter((one) => !/\.test\.tsx?$/.test(one)).toSorted()) {
    const lines = linesOf(path);
    for (let at = 0; at + leastLines <= lines.length; at += 1) {
      const window = textOf(lines, at);
      const first = seen.get(window);
      if (first === undefined) {
        seen.set(window, { lines, at });
        continue;
      }
      const length = lengthOf(first.lines, first.at, lines, at);
      const [one, other] = [first.lines[first.at], lines[at]];
      if (one !== undefined && other !== undefined && !isKnown(one, other)) copies.push([one, other, length]);
      at += length - 1;
    }
  }
  return copies;
}

/** Imports are alike wherever the same is needed, and brackets everywhere. */
function linesOf(path: string): Line[] {
  const text = readFileSync(path, 'utf8').replaceAll(/^import [^;]*;$/gm, (words) => words.replaceAll(/[^\n]/g, ''));
  const lines = text.split('\n').map((words, index) => ({ path, line: index + 1, text: words.trim() }));
  return lines.filter((line) => /\w/.test(line.text));
}

const textOf = (lines: readonly Line[], at: number): string =>
  lines
    .slice(at, at + leastLines)
    .map(({ text }) => text)
    .join('\n');

function lengthOf(one: readonly Line[], from: number, other: readonly Line[], at: number): number {
  let length = leastLines;
  while (one[from + length]?.text !== undefined && one[from + length]?.text === other[at + length]?.text) length += 1;
  return length;
}

const isKnown = (one: Place, other: Place): boolean =>
  known.some(([, first, second]) => one.path === first && other.path === second);

const found = copiesIn(globSync(['src/**/*.ts', 'console/src/**/*.{ts,tsx}', 'tools/**/*.ts']));
for (const [one, other, lines] of found) {
  console.error(
    `${one.path}:${one.line} and ${other.path}:${other.line} have ${lines} lines in common; write them once`,
  );
  process.exitCode = 1;
}
