import assert from 'node:assert/strict';
import { test } from 'node:test';
import { printFaults, toTable } from './output.ts';

test('control and bidirectional characters are escaped, and columns stay aligned', () => {
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

test('a fault shows characters that cannot be seen, in one line', () => {
  const lines: string[] = [];
  const fault = { path: 'id', line: 7, message: 'came: "zero\u200bwidth\u202e"\nand more' };
  printFaults({ file: 'postern.yaml', faults: [fault] }, (line) => lines.push(line));
  assert.deepEqual(lines, ['postern.yaml:7  id  came: "zero\\u200bwidth\\u202e"\\u000aand more']);
});
