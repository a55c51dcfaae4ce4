/** Prints results of commands: tables in aligned columns, JSON for scripts, secrets, and faults of a configuration. */

import { writeFile } from 'node:fs/promises';
import type { FaultyConfiguration } from '../config/load.ts';
import type { Fault } from '../config/read/faults.ts';
import { unseen } from '../core/model-name.ts';
import { codeOf } from '../lib/thrown.ts';
import type { CommandContext } from './command.ts';

type Outlet = Pick<CommandContext, 'values' | 'stdout'>;

/** Prints a value as JSON if the command has `--json`, and returns whether it has. */
export function printJson({ values, stdout }: Outlet, value: unknown): boolean {
  if (values.json === true) stdout(JSON.stringify(value, null, 2));
  return values.json === true;
}

/** Prints a secret, or a link with one, between empty lines. */
export function printSecret(secret: string, stdout: CommandContext['stdout']): void {
  for (const line of ['', `  ${secret}`, '']) stdout(line);
}

export function printTable(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  stdout: CommandContext['stdout'],
): void {
  for (const line of toTable(head, rows)) stdout(line);
}

/** Writes a new file, or with `force` an existing one; returns why that failed, as a sentence. `name`: the file's name for that. */
export async function writeNew(path: string, name: string, text: string, force: boolean): Promise<string | undefined> {
  try {
    await writeFile(path, text, { flag: force ? 'w' : 'wx' });
    return undefined;
  } catch (error) {
    const code = codeOf(error) ?? String(error);
    if (code === 'EEXIST') return `${name} is there already; --force overwrites it`;
    return `${name} cannot be written (${code})`;
  }
}

export class FaultsFound extends Error {
  override readonly name = 'FaultsFound';
  readonly faults: readonly Fault[];
  readonly file: string | undefined;

  constructor(faults: readonly Fault[], file: string | undefined) {
    super(`${faults.length} faults`);
    this.faults = faults;
    this.file = file;
  }
}

/** The configuration; throws its faults where it has any. */
export function faultless<Whole extends { readonly ok: true }>(found: Whole | FaultyConfiguration): Whole {
  if (found.ok) return found;
  throw new FaultsFound(found.faults, found.file);
}

export function printFaults(
  { file, faults }: Pick<FaultsFound, 'file' | 'faults'>,
  print: (line: string) => void,
): void {
  for (const { origin, path, line, message } of faults) {
    const location = [origin ?? file ?? 'configuration', ...(line === undefined ? [] : [String(line)])].join(':');
    print(toPrintable(path === '' ? `${location}  ${message}` : `${location}  ${path}  ${message}`));
  }
}

const between = '  ';
const leastWidth = 8;

/** Lines of a table. `most` limits their length: the widest columns are narrowed, and their texts wrap. */
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
  // Words are cut where wrapping is not enough.
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

/** Breaks a text into lines of at most this width, at spaces where possible. */
function wrapText(text: string, width: number): string[] {
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

/** Characters that could change how a name is displayed: control characters, and marks of writing direction. */
const escaped = new RegExp(String.raw`[\p{Cc}\u061c\u200e\u200f${unseen}]`, 'gu');

/** A text with such characters escaped, as `\u202e`: a name must not move the cursor, or imitate another one. */
export const toPrintable = (text: string): string =>
  text.replace(escaped, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
