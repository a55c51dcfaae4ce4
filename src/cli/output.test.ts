import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toTable } from './output.ts';

test('control and bidirectional characters are escaped, and columns stay aligned', () => {
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
