/** Detects overload of the process by late timers and memory use. */

import type { Clock } from '../lib/clock.ts';

const sampleEveryMs = 100;
/** Asking the system for the memory costs some microseconds. */
const readMemoryEveryMs = 500;
/** A collection stops everything for tens of milliseconds. */
const collectEveryMs = 5_000;

export type PressureReason =
  | { readonly kind: 'event-loop'; readonly delayMs: number }
  | { readonly kind: 'memory'; readonly bytes: number };

export interface Pressure {
  /** Why new work must be refused; undefined while it need not. */
  reason(limits: { readonly loopDelayMs: number; readonly memoryBytes: number }): PressureReason | undefined;
  close(): void;
}

export interface PressureDeps {
  readonly clock: Clock;
  /** What the process holds, such as `process.memoryUsage.rss`. */
  readMemoryBytes(): number;
  /**
   * Collects what is garbage, all of it. Called from time to time while memory is short: who refuses all work allocates next to
   * nothing, so that V8 would not collect by itself, and the memory would stay as it is for good.
   */
  collectGarbage?(): void;
}

export function createPressure({ clock, readMemoryBytes, collectGarbage }: PressureDeps): Pressure {
  let sampledAtMs = clock.monotonicMs();
  let memoryReadAtMs = sampledAtMs;
  let bytes = readMemoryBytes();
  let collectedAtMs = Number.NEGATIVE_INFINITY;
  let isMemoryShort = false;
  let latestMs = 0;
  let secondMs = 0;
  let thirdMs = 0;
  let delayMs = 0;

  const timer = setInterval(() => {
    const nowMs = clock.monotonicMs();
    readDelay(nowMs);
    if (nowMs - memoryReadAtMs >= readMemoryEveryMs) readMemory(nowMs);
  }, sampleEveryMs).unref();

  function readDelay(nowMs: number): void {
    thirdMs = secondMs;
    secondMs = latestMs;
    latestMs = Math.max(0, nowMs - sampledAtMs - sampleEveryMs);
    delayMs = typicalOf(latestMs, secondMs, thirdMs);
    sampledAtMs = nowMs;
  }

  function readMemory(nowMs: number): void {
    memoryReadAtMs = nowMs;
    if (isMemoryShort && nowMs - collectedAtMs >= collectEveryMs) {
      collectGarbage?.();
      collectedAtMs = nowMs;
    }
    isMemoryShort = false;
    bytes = readMemoryBytes();
  }

  return {
    reason({ loopDelayMs, memoryBytes }) {
      if (delayMs > loopDelayMs) return { kind: 'event-loop', delayMs };
      if (bytes <= memoryBytes) return undefined;
      isMemoryShort = true;
      return { kind: 'memory', bytes };
    },
    close: () => clearInterval(timer),
  };
}

/** The mean, or the median where that is less: one long delay weighs nothing, however long it is. */
function typicalOf(a: number, b: number, c: number): number {
  const median = Math.max(Math.min(a, b), Math.min(Math.max(a, b), c));
  return Math.min((a + b + c) / 3, median);
}
