/**
 * Time slicing: all long work together gets one slice per event-loop turn, so that other work proceeds. A request takes several turns, so
 * a slice is short while there is little else to do, and as long as the other work of a turn where there is much.
 */

import { performance } from 'node:perf_hooks';

/** Shorter work does not delay other work noticeably. */
const shortestMs = 1;
const longestMs = 4;

/** When this turn's slice ends; undefined while there is no long work. */
let sliceEndMs: number | undefined;
/** When long work stopped last: other work goes on from then. */
let stoppedMs = 0;
/** Yielded work that waits for a slice, in order. */
const waiting: (() => void)[] = [];

/** Whether the slice is used up; to be called between two small pieces of work. */
export function isSliceOver(): boolean {
  const nowMs = performance.now();
  if (sliceEndMs === undefined) {
    sliceEndMs = nowMs + shortestMs;
    setImmediate(beginSlice);
  }
  if (nowMs < sliceEndMs) return false;
  stoppedMs = nowMs;
  return true;
}

/** Resolves in a later turn of the event loop, with a fresh slice for this work. */
export function nextSlice(): Promise<void> {
  if (sliceEndMs === undefined) {
    sliceEndMs = performance.now() + shortestMs;
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
  if (waiting.length === 0) {
    sliceEndMs = undefined;
    return;
  }
  const nowMs = performance.now();
  sliceEndMs = nowMs + Math.min(longestMs, Math.max(shortestMs, nowMs - stoppedMs));
  setImmediate(beginSlice);
  goOn(waiting.length);
}

/** What one leaves of the slice is for the next of those that waited when the turn began: promises that are settled go on before the tick. */
function goOn(left: number): void {
  waiting.shift()?.();
  queueMicrotask(() => process.nextTick(goOnInSlice, left - 1));
}

function goOnInSlice(left: number): void {
  if (left > 0 && !isSliceOver()) goOn(left);
  else stoppedMs = performance.now();
}
