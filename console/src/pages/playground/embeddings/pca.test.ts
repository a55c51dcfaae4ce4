import assert from 'node:assert/strict';
import { test } from 'node:test';
import { alignTo, project } from './projection.ts';

const of = (...rows: number[][]) => rows.map((row) => Float64Array.from(row));
const distance = ([a, b]: readonly [number, number], [c, d]: readonly [number, number]): number =>
  Math.hypot(a - c, b - d);

test('points on a plane keep their distances in any number of dimensions', () => {
  const vectors = of([3, 0, 1, 0], [0, 0, 1, 0], [0, 2, 1, 0], [3, 2, 1, 0], [1, 1, 1, 0]);
  const { points, shares } = project(vectors);
  for (const [i, a] of vectors.entries()) {
    for (const [j, b] of vectors.entries()) {
      const wanted = Math.hypot(...a.map((part, index) => part - (b[index] ?? 0)));
      assert.ok(Math.abs(distance(points[i] ?? [0, 0], points[j] ?? [0, 0]) - wanted) < 1e-6);
    }
  }
  assert.ok(Math.abs(shares[0] + shares[1] - 1) < 1e-9);
  assert.ok(shares[0] >= shares[1]);
});

test('two groups are separated along the first axis', () => {
  const { points } = project(of([1, 0, 0.1], [1, 0.1, 0], [-1, 0, 0.1], [-1, 0.1, 0]));
  const xs = points.map(([x]) => x);
  assert.equal(Math.sign(xs[0] ?? 0), Math.sign(xs[1] ?? 0));
  assert.equal(Math.sign(xs[2] ?? 0), Math.sign(xs[3] ?? 0));
  assert.notEqual(Math.sign(xs[0] ?? 0), Math.sign(xs[2] ?? 0));
});

test('the same vectors always give the same projection', () => {
  const vectors = of([1, 2, 3], [3, 1, 2], [2, 3, 1], [0, 0, 9]);
  assert.deepEqual(project(vectors), project(vectors));
});

test('projects no vectors, one vector, and identical vectors without failing', () => {
  assert.deepEqual(project([]), { points: [], shares: [0, 0] });
  assert.deepEqual(project(of([1, 2])).points, [[0, 0]]);
  assert.deepEqual(project(of([1, 2], [1, 2], [1, 2])).points, [
    [0, 0],
    [0, 0],
    [0, 0],
  ]);
});

test('a rotated and mirrored projection is aligned with the reference', () => {
  const reference = project(of([1, 2, 3], [3, 1, 2], [2, 3, 1], [0, 0, 9])).points;
  const [cos, sin] = [Math.cos(2), Math.sin(2)];
  const turned = reference.map(([x, y]): [number, number] => [x * cos + y * sin, x * sin - y * cos]);
  for (const [index, point] of alignTo(turned, reference).entries()) {
    assert.ok(distance(point, reference[index] ?? [0, 0]) < 1e-9);
  }
  assert.deepEqual(alignTo([[0, 0]], [[0, 0]]), [[0, 0]]);
});
