/**
 * Runs long work in time slices: all of it together gets one slice per event-loop turn, so that other work proceeds. A request takes several turns,
 * so a slice is short while there is little else to do, and as long as the other work of a turn where there is much.
 */

import { performance } from 'node:perf_hooks';
import { setTimeout as wait } from 'node:timers/promises';

/** Length of the shortest slice: shorter work does not delay other work noticeably. */
const shortestMs = 1;
const longestMs = 4;

/** Time between two slices from which on it counts as other work: more than the event loop takes for itself. */
const otherWorkMs = 0.05;
/** Slice of work that no client waits for, while there is other work. */
const backgroundMs = 0.5;
const pauseMs = 1;

/** When the slice of this event-loop turn ends; undefined while there is no long work. */
let sliceEndMs: number | undefined;
let sliceBeganMs = 0;
/** When long work stopped last: other work runs from then on. */
let stoppedMs = 0;
let hadOtherWork = false;
const pausedWork: (() => void)[] = [];

/** Whether the slice is used up; to be asked between two small pieces of work. */
export function isSliceOver(): boolean {
  const nowMs = performance.now();
  if (nowMs < (sliceEndMs ?? openSlice(nowMs))) return false;
  stoppedMs = nowMs;
  return true;
}

/** Pauses; resolves in a later turn of the event loop, with a fresh slice for this work. */
export function nextSlice(): Promise<void> {
  if (sliceEndMs === undefined) openSlice(performance.now());
  return new Promise((resolve) => pausedWork.push(resolve));
}

function openSlice(nowMs: number): number {
  stoppedMs = nowMs;
  sliceBeganMs = nowMs;
  sliceEndMs = nowMs + shortestMs;
  setImmediate(beginSlice);
  return sliceEndMs;
}

function isShortSliceOver(): boolean {
  return isSliceOver() || (hadOtherWork && performance.now() >= sliceBeganMs + backgroundMs);
}

async function nextAfterPause(): Promise<void> {
  if (hadOtherWork) await wait(pauseMs);
  await nextSlice();
}

export const { sliceIfOver, timeSliced, inSlices } = slicesFrom(isSliceOver, nextSlice);

/** For work that no client waits for: beside other work its slices are short, with pauses, so that a request takes its next turns at once. */
export const inBackground = slicesFrom(isShortSliceOver, nextAfterPause);

function slicesFrom(isOver: () => boolean, next: () => Promise<void>) {
  return {
    /** Pauses if the slice is used up; else resolves at once. */
    async sliceIfOver(): Promise<void> {
      if (isOver()) await next();
    },

    /** Runs work in time slices; it may pause at every `yield`. */
    async timeSliced<T>(work: Generator<undefined, T, undefined>): Promise<T> {
      for (;;) {
        const step = work.next();
        if (step.done === true) return step.value;
        if (isOver()) await next();
      }
    },

    /** Maps the items one by one in time slices. */
    async inSlices<T, U>(items: Iterable<T>, map: (item: T) => U): Promise<U[]> {
      const mapped: U[] = [];
      for (const item of items) {
        if (isOver()) await next();
        mapped.push(map(item));
      }
      return mapped;
    },
  };
}

/** Runs work that is written for time slices without a pause. */
export function atOnce<T>(work: Generator<undefined, T, undefined>): T {
  for (;;) {
    const step = work.next();
    if (step.done === true) return step.value;
  }
}

/** Begins the slice of an event-loop turn. Continued work runs as soon as this returns, before anything else of the event loop. */
function beginSlice(): void {
  if (pausedWork.length === 0) {
    sliceEndMs = undefined;
    return;
  }
  const nowMs = performance.now();
  sliceBeganMs = nowMs;
  hadOtherWork = nowMs - stoppedMs > otherWorkMs;
  sliceEndMs = nowMs + Math.min(longestMs, Math.max(shortestMs, nowMs - stoppedMs));
  setImmediate(beginSlice);
  goOn(pausedWork.length);
}

/** Continues the next paused work. The slice's rest is for work that had paused before it began: settled promises go on before the tick. */
function goOn(left: number): void {
  pausedWork.shift()?.();
  queueMicrotask(() => process.nextTick(goOnInSlice, left - 1));
}

function goOnInSlice(left: number): void {
  if (left > 0 && !isSliceOver()) goOn(left);
  else stoppedMs = performance.now();
}
