/** What commands print: tables in aligned columns, JSON for scripts, secrets, and faults of a configuration with their locations. */

import { writeFile } from 'node:fs/promises';
import type { FaultyConfiguration } from '../config/load.ts';
import type { Fault } from '../config/read/faults.ts';
import { unseen } from '../core/model-name.ts';
import { codeOf } from '../lib/thrown.ts';
import type { CommandContext } from './command.ts';

type Outlet = Pick<CommandContext, 'values' | 'stdout'>;

/** For scripts, with `--json`; false for people. */
export function printJson({ values, stdout }: Outlet, value: unknown): boolean {
  if (values.json === true) stdout(JSON.stringify(value, null, 2));
  return values.json === true;
}

/** A secret, or a link with one, between empty lines. */
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

/** Writes a new file, or over one that is there; else returns why not, as a sentence. `name`: as shown. */
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

/** Throws the faults where there are any. */
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

/** With `most`, lines are limited: the widest columns are narrowed, and their texts wrap. */
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

/** Wraps at spaces where possible. */
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

/** Control characters, and marks of direction that names may have. */
const escaped = new RegExp(String.raw`[\p{Cc}\u061c\u200e\u200f${unseen}]`, 'gu');

/** Escapes such characters, as in `\u202e`: a name must not move the cursor, or imitate another. */
export const toPrintable = (text: string): string =>
  text.replace(escaped, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
