/** Where the points of a projection stand in a drawing: one scale for both directions, and none hidden by another. */

import type { Projection } from './pca.ts';

export interface Place {
  readonly x: number;
  readonly y: number;
}

export interface Drawing {
  readonly width: number;
  readonly height: number;
  readonly margin: number;
  /** Of a point. */
  readonly radius: number;
}

const mostTurns = 60;

export function toPlaces(points: Projection['points'], drawing: Drawing): Place[] {
  const { width, height, margin } = drawing;
  const [minX, maxX] = rangeOf(points.map(([x]) => x));
  const [minY, maxY] = rangeOf(points.map(([, y]) => y));
  const scale = Math.min((width - 2 * margin) / (maxX - minX || 1), (height - 2 * margin) / (maxY - minY || 1));
  const places = points.map(([x, y]) => ({
    x: width / 2 + (x - (minX + maxX) / 2) * scale,
    y: height / 2 - (y - (minY + maxY) / 2) * scale,
  }));
  return moveApart(places, drawing);
}

const rangeOf = (numbers: readonly number[]): readonly [number, number] =>
  numbers.length === 0 ? [0, 0] : [Math.min(...numbers), Math.max(...numbers)];

/** Points that would hide each other move aside, a little at a time; with very many there is no room, and they stay close. */
function moveApart(places: Place[], { width, height, radius }: Drawing): Place[] {
  const least = 2 * radius;
  const moved = places.map(({ x, y }) => ({ x, y }));
  for (let turn = 0; turn < mostTurns; turn += 1) {
    let hasMoved = false;
    for (const [i, one] of moved.entries()) {
      for (const [j, other] of moved.entries()) {
        if (j <= i) continue;
        const [dx, dy] = [other.x - one.x, other.y - one.y];
        const apart = Math.hypot(dx, dy);
        if (apart >= least) continue;
        hasMoved = true;
        // Those in the very same place part in a direction of their own.
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
