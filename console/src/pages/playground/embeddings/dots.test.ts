import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toDots } from './projection.ts';

const drawing = { width: 400, height: 300, margin: 30, radius: 12 };

test('points keep their proportions, with y upwards', () => {
  assert.deepEqual(
    toDots(
      [
        [-1, 0],
        [1, 0],
        [0, 1],
      ],
      drawing,
    ),
    [
      { x: 30, y: 235 },
      { x: 370, y: 235 },
      { x: 200, y: 65 },
    ],
  );
});

test('overlapping points are all visible, and none is outside the drawing', () => {
  const dots = toDots(
    [
      [0, 0],
      [0, 0],
      [0, 0],
      [1, 1],
      [1, 1],
    ],
    drawing,
  );
  for (const [i, one] of dots.entries()) {
    assert.ok(one.x >= 12 && one.x <= 388 && one.y >= 12 && one.y <= 288);
    for (const other of dots.slice(i + 1)) assert.ok(Math.hypot(one.x - other.x, one.y - other.y) > 23);
  }
  assert.equal(
    toDots(
      Array.from({ length: 60 }, () => [0, 0] as const),
      drawing,
    ).length,
    60,
  );
  assert.deepEqual(toDots([], drawing), []);
});
