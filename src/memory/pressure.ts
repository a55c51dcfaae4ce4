/** Detects overload of the process by late timers and memory use. */

import type { Clock } from '../lib/clock.ts';

const sampleEveryMs = 100;
/** Pause between two readings of the memory, each of which costs some microseconds. */
const readMemoryEveryMs = 500;
/** Pause between two garbage collections, each of which stops everything for tens of milliseconds. */
const collectEveryMs = 5_000;

export type PressureReason =
  | { readonly kind: 'event-loop'; readonly delayMs: number }
  | { readonly kind: 'memory'; readonly bytes: number };

export interface Pressure {
  /** Why new work must be refused; undefined while it need not be. */
  reason(limits: { readonly loopDelayMs: number; readonly memoryBytes: number }): PressureReason | undefined;
  close(): void;
}

export interface PressureDeps {
  readonly clock: Clock;
  /** The process's memory, such as `process.memoryUsage.rss`. */
  readMemoryBytes(): number;
  /** Runs a full collection. A process that refuses all work allocates little: V8 would not collect by itself, and its memory would stay. */
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

/** The mean of three delays, or their median if smaller, so that one long delay does not count. */
function typicalOf(a: number, b: number, c: number): number {
  const median = Math.max(Math.min(a, b), Math.min(Math.max(a, b), c));
  return Math.min((a + b + c) / 3, median);
}
