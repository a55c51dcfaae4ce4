import assert from 'node:assert/strict';
import { test } from 'node:test';
import { printFaults, toTable } from './output.ts';

test('output escapes control and bidirectional characters, and keeps columns aligned', () => {
  assert.deepEqual(
    toTable(
      ['A', 'B'],
      [
        ['a\u001b[2J\u202eb\u200b', 'x'],
        ['é', 'y'],
      ],
    ),
    ['A                        B', 'a\\u001b[2J\\u202eb\\u200b  x', 'é                        y'],
  );
});

test('a printed fault escapes invisible characters and line breaks, so that it stays one line', () => {
  const lines: string[] = [];
  const fault = { path: 'id', line: 7, message: 'came: "zero\u200bwidth\u202e"\nand more' };
  printFaults({ file: 'postern.yaml', faults: [fault] }, (line) => lines.push(line));
  assert.deepEqual(lines, ['postern.yaml:7  id  came: "zero\\u200bwidth\\u202e"\\u000aand more']);
});
