import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toTable } from './table.ts';

test('what moves the cursor or turns text around stands as its escape, and columns stay in line', () => {
  assert.deepEqual(
    toTable(
      ['A', 'B'],
      [
        ['a\u001b[2J\u202eb\u2066', 'x'],
        ['é', 'y'],
      ],
    ),
    ['A                        B', 'a\\u001b[2J\\u202eb\\u2066  x', 'é                        y'],
  );
});
