/** Lines up columns for people to read. */

import { toPrintable } from './printable.ts';

export function toTable(head: readonly string[], found: readonly (readonly string[])[]): string[] {
  const rows = found.map((row) => row.map(toPrintable));
  const widths = head.map((title, column) => Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)));
  return [head, ...rows].map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}
