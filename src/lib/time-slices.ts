/** Time slicing: all long work together gets one slice per event-loop turn, so that other work proceeds. */

import { performance } from 'node:perf_hooks';

/** Shorter work does not delay other work noticeably. */
const sliceMs = 4;

/** When this turn's slice began; undefined while there is no long work. */
let sliceStartMs: number | undefined;
/** Yielded work that waits for a slice, in order. */
const waiting: (() => void)[] = [];

/** Whether the slice is used up; to be called between two small pieces of work. */
export function isSliceOver(): boolean {
  if (sliceStartMs !== undefined) return performance.now() - sliceStartMs >= sliceMs;
  sliceStartMs = performance.now();
  setImmediate(beginSlice);
  return false;
}

/** Resolves in a later turn of the event loop, with a fresh slice for this work. */
export function nextSlice(): Promise<void> {
  if (sliceStartMs === undefined) {
    sliceStartMs = performance.now();
    setImmediate(beginSlice);
  }
  return new Promise((resolve) => waiting.push(resolve));
}

/** Resolves at once while the slice has time left. */
export async function sliceIfOver(): Promise<void> {
  if (isSliceOver()) await nextSlice();
}

/** Runs it in time slices; it may pause at every `yield`. */
export async function timeSliced<T>(work: Generator<undefined, T, undefined>): Promise<T> {
  for (;;) {
    const step = work.next();
    if (step.done === true) return step.value;
    if (isSliceOver()) await nextSlice();
  }
}

/** Maps the items one by one in time slices. */
export async function inSlices<T, U>(items: Iterable<T>, map: (item: T) => U): Promise<U[]> {
  const mapped: U[] = [];
  for (const item of items) {
    if (isSliceOver()) await nextSlice();
    mapped.push(map(item));
  }
  return mapped;
}

/** Runs it without a pause. */
export function atOnce<T>(work: Generator<undefined, T, undefined>): T {
  for (;;) {
    const step = work.next();
    if (step.done === true) return step.value;
  }
}

/** Once in each turn. The continued work runs as soon as this returns, before anything else of the event loop. */
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
