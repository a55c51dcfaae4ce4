/** The time of day, as it passes: one timer for everything on the page that tells how long ago something was. */

import { useSyncExternalStore } from 'react';

const everyMs = 15_000;

let nowMs = Date.now();
let timer: ReturnType<typeof setInterval> | undefined;
const listeners = new Set<() => void>();

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  if (timer === undefined) {
    // It stood still while nothing showed it.
    nowMs = Date.now();
    timer = setInterval(() => {
      nowMs = Date.now();
      for (const one of listeners) one();
    }, everyMs);
  }
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

/** Renders again every 15 seconds. */
export function useNow(): number {
  return useSyncExternalStore(subscribe, () => nowMs);
}
