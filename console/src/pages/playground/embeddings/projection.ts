/** Projects vectors to a plane by principal components, keeping every point visible. */

import type { Vector } from './embedded.ts';

export interface Projection {
  readonly points: readonly (readonly [x: number, y: number])[];
  /** The share of the variance along each axis, 0 to 1. */
  readonly shares: readonly [number, number];
}

const mostTurns = 500;
const closeEnough = 1e-12;

/**
 * Projects vectors to a plane. It computes with the products of the centred vectors, which are few, and not with their dimensions, which are many.
 * The same vectors always give the same picture.
 */
export function project(vectors: readonly Vector[]): Projection {
  const products = toCentredProducts(vectors);
  const total = products.reduce((sum, row, index) => sum + (row[index] ?? 0), 0);
  const first = findLargest(products);
  const second = findLargest(without(products, first));
  const axis = ({ value, direction }: Component): number[] =>
    direction.map((part) => part * Math.sqrt(Math.max(value, 0)));
  const [xs, ys] = [axis(first), axis(second)];
  const share = ({ value }: Component): number => (total > closeEnough ? Math.max(value, 0) / total : 0);
  return { points: xs.map((x, index) => [x, ys[index] ?? 0]), shares: [share(first), share(second)] };
}

/** Rotates and mirrors one picture to fit another, so that the pictures of two models can be compared by eye. */
export function alignTo(points: Projection['points'], reference: Projection['points']): Projection['points'] {
  const plain = turnTo(points, reference);
  const mirrored = turnTo(
    points.map(([x, y]) => [x, -y]),
    reference,
  );
  return mirrored.fit > plain.fit ? mirrored.points : plain.points;
}

function turnTo(points: Projection['points'], reference: Projection['points']) {
  let along = 0;
  let across = 0;
  for (const [index, [x, y]] of points.entries()) {
    const [wantedX, wantedY] = reference[index] ?? [0, 0];
    along += x * wantedX + y * wantedY;
    across += x * wantedY - y * wantedX;
  }
  const fit = Math.hypot(along, across);
  const [cos, sin] = fit === 0 ? [1, 0] : [along / fit, across / fit];
  return { fit, points: points.map(([x, y]): [number, number] => [x * cos - y * sin, x * sin + y * cos]) };
}

interface Component {
  readonly value: number;
  readonly direction: readonly number[];
}

function toCentredProducts(vectors: readonly Vector[]): number[][] {
  const width = Math.max(0, ...vectors.map(({ length }) => length));
  const mean = Float64Array.from({ length: width }, (_, dimension) => {
    let sum = 0;
    for (const vector of vectors) sum += vector[dimension] ?? 0;
    return sum / vectors.length;
  });
  const centred = vectors.map((vector) => mean.map((middle, dimension) => (vector[dimension] ?? 0) - middle));
  return centred.map((one) => centred.map((other) => dot(one, other)));
}

/** The main eigenvector by power iteration: a vector that is multiplied by the matrix repeatedly converges to it. */
function findLargest(matrix: readonly (readonly number[])[]): Component {
  let direction = toUnit(matrix.map((_, index) => 1 + ((index * 7919) % 13) / 13));
  let value = 0;
  for (let turn = 0; turn < mostTurns; turn += 1) {
    const turned = matrix.map((row) => dot(row, direction));
    const size = Math.hypot(...turned);
    if (size < closeEnough) return { value: 0, direction: matrix.map(() => 0) };
    const next = toUnit(turned);
    const isSettled = Math.abs(1 - Math.abs(dot(next, direction))) < closeEnough;
    direction = next;
    value = size;
    if (isSettled) break;
  }
  return { value, direction: withFixedSign(direction) };
}

/** The direction with a fixed sign: the method may return either one, and the picture must stay the same. */
function withFixedSign(direction: readonly number[]): number[] {
  const largest = direction.reduce((most, part) => (Math.abs(part) > Math.abs(most) + closeEnough ? part : most), 0);
  return direction.map((part) => (largest < 0 ? -part : part));
}

const without = (matrix: readonly (readonly number[])[], { value, direction }: Component): number[][] =>
  matrix.map((row, i) => row.map((cell, j) => cell - value * (direction[i] ?? 0) * (direction[j] ?? 0)));

function toUnit(numbers: readonly number[]): number[] {
  const size = Math.hypot(...numbers);
  return numbers.map((number) => number / size);
}

function dot(a: ArrayLike<number>, b: ArrayLike<number>): number {
  let sum = 0;
  for (let index = 0; index < a.length; index += 1) sum += (a[index] ?? 0) * (b[index] ?? 0);
  return sum;
}

/** The position of a point in a drawing: one scale for both axes, and no point hides another. */
interface Dot {
  readonly x: number;
  readonly y: number;
}

interface Drawing {
  readonly width: number;
  readonly height: number;
  readonly margin: number;
  readonly radius: number;
}

const mostRounds = 60;

export function toDots(points: Projection['points'], drawing: Drawing): Dot[] {
  const { width, height, margin } = drawing;
  const [minX, maxX] = rangeOf(points.map(([x]) => x));
  const [minY, maxY] = rangeOf(points.map(([, y]) => y));
  const scale = Math.min((width - 2 * margin) / (maxX - minX || 1), (height - 2 * margin) / (maxY - minY || 1));
  const dots = points.map(([x, y]) => ({
    x: width / 2 + (x - (minX + maxX) / 2) * scale,
    y: height / 2 - (y - (minY + maxY) / 2) * scale,
  }));
  return moveApart(dots, drawing);
}

const rangeOf = (numbers: readonly number[]): readonly [number, number] =>
  numbers.length === 0 ? [0, 0] : [Math.min(...numbers), Math.max(...numbers)];

/** Moves points apart that would hide each other, a little at a time; if there are very many, they stay close. */
function moveApart(dots: Dot[], { width, height, radius }: Drawing): Dot[] {
  const least = 2 * radius;
  const moved = dots.map(({ x, y }) => ({ x, y }));
  for (let round = 0; round < mostRounds; round += 1) {
    let hasMoved = false;
    for (const [i, one] of moved.entries()) {
      for (const [j, other] of moved.entries()) {
        if (j <= i) continue;
        const [dx, dy] = [other.x - one.x, other.y - one.y];
        const apart = Math.hypot(dx, dy);
        if (apart >= least) continue;
        hasMoved = true;
        // Points in the same position each move in a direction of their own.
        const [ux, uy] = apart === 0 ? [Math.cos(j), Math.sin(j)] : [dx / apart, dy / apart];
        const push = (least - apart) / 2;
        one.x = clamp(one.x - ux * push, radius, width - radius);
        one.y = clamp(one.y - uy * push, radius, height - radius);
        other.x = clamp(other.x + ux * push, radius, width - radius);
        other.y = clamp(other.y + uy * push, radius, height - radius);
      }
    }
    if (!hasMoved) break;
  }
  return moved;
}

const clamp = (value: number, low: number, high: number): number => Math.max(low, Math.min(high, value));
