/** Long work in turns: all of it together gets a slice of each turn of the event loop, so that everybody else goes on meanwhile. */

import { performance } from 'node:perf_hooks';

/** What is shorter is no work that others would notice. */
const sliceMs = 4;

/** When the slice of this turn began; undefined while nobody works long. */
let sliceStartMs: number | undefined;
/** Whose turn comes, in the order in which they gave up theirs. */
const waiting: (() => void)[] = [];

/** To be asked between two pieces of work, each of them small: whether the next one has to wait. */
export function isTurnOver(): boolean {
  if (sliceStartMs !== undefined) return performance.now() - sliceStartMs >= sliceMs;
  sliceStartMs = performance.now();
  setImmediate(beginTurn);
  return false;
}

/** Resolves in a later turn of the event loop, in which this work has the slice to itself. */
export function nextTurn(): Promise<void> {
  if (sliceStartMs === undefined) {
    sliceStartMs = performance.now();
    setImmediate(beginTurn);
  }
  return new Promise((resolve) => waiting.push(resolve));
}

/** Resolves at once while there is time left in this turn. */
export async function turnIfOver(): Promise<void> {
  if (isTurnOver()) await nextTurn();
}

/** Does all of it; every `yield` is a place to stop at. */
export async function inTurns<T>(work: Generator<undefined, T, undefined>): Promise<T> {
  for (;;) {
    const step = work.next();
    if (step.done === true) return step.value;
    if (isTurnOver()) await nextTurn();
  }
}

/** Does all of it now. */
export function atOnce<T>(work: Generator<undefined, T, undefined>): T {
  for (;;) {
    const step = work.next();
    if (step.done === true) return step.value;
  }
}

/** Once in each turn. What goes on runs as soon as this returns, before anything else of the event loop. */
function beginTurn(): void {
  const goOn = waiting.shift();
  if (goOn === undefined) {
    sliceStartMs = undefined;
    return;
  }
  sliceStartMs = performance.now();
  setImmediate(beginTurn);
  goOn();
}
