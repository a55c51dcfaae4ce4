/** Time slicing: all long work together gets one slice per event-loop turn, so that other work proceeds. */

import { performance } from 'node:perf_hooks';

/** What is shorter is no work that others would notice. */
const sliceMs = 4;

/** When the slice of this turn began; undefined while nobody works long. */
let sliceStartMs: number | undefined;
/** Work that waits for a slice, in the order in which it yielded. */
const waiting: (() => void)[] = [];

/** Whether the slice is used up; call it between two small pieces of work. */
export function isSliceOver(): boolean {
  if (sliceStartMs !== undefined) return performance.now() - sliceStartMs >= sliceMs;
  sliceStartMs = performance.now();
  setImmediate(beginSlice);
  return false;
}

/** Resolves in a later turn of the event loop, in which this work has the slice to itself. */
export function nextSlice(): Promise<void> {
  if (sliceStartMs === undefined) {
    sliceStartMs = performance.now();
    setImmediate(beginSlice);
  }
  return new Promise((resolve) => waiting.push(resolve));
}

/** Resolves at once while there is time left in this turn. */
export async function sliceIfOver(): Promise<void> {
  if (isSliceOver()) await nextSlice();
}

/** Does all of it; every `yield` is a place to stop at. */
export async function timeSliced<T>(work: Generator<undefined, T, undefined>): Promise<T> {
  for (;;) {
    const step = work.next();
    if (step.done === true) return step.value;
    if (isSliceOver()) await nextSlice();
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
function beginSlice(): void {
  const goOn = waiting.shift();
  if (goOn === undefined) {
    sliceStartMs = undefined;
    return;
  }
  sliceStartMs = performance.now();
  setImmediate(beginSlice);
  goOn();
}
