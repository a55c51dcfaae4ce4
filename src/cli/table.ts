/** Formats aligned columns. */

const between = '  ';
/** A column is not made narrower than this. */
const leastWidth = 8;

/** With `most`, no line is longer: the widest columns are made narrower, and their texts go on in the next line. */
export function toTable(
  head: readonly string[],
  found: readonly (readonly string[])[],
  most = Number.POSITIVE_INFINITY,
): string[] {
  const rows = found.map((row) => row.map(toPrintable));
  const all = [head, ...rows];
  const longest = (lengthOf: (text: string) => number): number[] =>
    head.map((_, column) => Math.max(...all.map((row) => lengthOf(row[column] ?? ''))));
  const width = most - between.length * (head.length - 1);
  // Words are cut where that alone does not do.
  const whole = fitWidths(
    longest(({ length }) => length),
    longest(longestWord),
    width,
  );
  const widths = fitWidths(
    whole,
    head.map(() => leastWidth),
    width,
  );
  return all.flatMap((row) => {
    const cells = row.map((cell, column) => wrapText(cell, widths[column] ?? cell.length));
    const height = Math.max(1, ...cells.map(({ length }) => length));
    return Array.from({ length: height }, (_, line) =>
      cells
        .map((texts, column) => (texts[line] ?? '').padEnd(widths[column] ?? 0))
        .join(between)
        .trimEnd(),
    );
  });
}

const longestWord = (text: string): number => Math.max(...text.split(' ').map(({ length }) => length));

function fitWidths(natural: readonly number[], least: readonly number[], most: number): number[] {
  const widths = [...natural];
  for (let over = widths.reduce((sum, width) => sum + width, 0) - most; over > 0; over -= 1) {
    const spare = widths.map((width, column) => (width > (least[column] ?? 0) ? width : 0));
    const widest = spare.indexOf(Math.max(...spare));
    const width = spare[widest] ?? 0;
    if (width === 0) break;
    widths[widest] = width - 1;
  }
  return widths;
}

/** In lines of so many characters at most, between words where there are any. */
export function wrapText(text: string, width: number): string[] {
  // Spaces before a number align it to the right.
  if (text.length <= width) return [text];
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    const longer = line === '' ? word : `${line} ${word}`;
    if (longer.length <= width) {
      line = longer;
      continue;
    }
    if (line !== '') lines.push(line);
    line = word;
    for (; line.length > width; line = line.slice(width)) lines.push(line.slice(0, width));
  }
  return [...lines, line];
}

/** Control characters, and those that change the direction of text or break lines. */
const unseen = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu;

/** Whatever a name holds, it moves no cursor, and looks like no other: each of these becomes its escape, such as `\u202e`. */
export const toPrintable = (text: string): string =>
  text.replace(unseen, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
