/** Preloaded into a gateway: measures event-loop delay, and writes it to a file on a signal. */

import { appendFileSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';

const { EVENT_LOOP_FILE: file } = process.env;
if (file === undefined) throw new TypeError('EVENT_LOOP_FILE names no file');

const resolutionMs = 1;
const delay = monitorEventLoopDelay({ resolution: resolutionMs });
delay.enable();

/** CPU time of this thread, independent of other processes: since the last reading, and in the longest turn of the loop. */
const workedMs = (): number => {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1e3;
};
let readMs = workedMs();
let lookedMs = readMs;
let longestTurnMs = 0;
const look = (): void => {
  const nowMs = workedMs();
  longestTurnMs = Math.max(longestTurnMs, nowMs - lookedMs);
  lookedMs = nowMs;
};
setInterval(look, resolutionMs).unref();

process.on('SIGUSR2', () => {
  // Counts the time between two readings, of which one resolution is expected.
  const toMs = (nanoseconds: number): number => Math.max(0, nanoseconds / 1e6 - resolutionMs);
  look();
  const work = { cpuMs: lookedMs - readMs, maxCpuMs: longestTurnMs };
  appendFileSync(file, `${JSON.stringify({ p99Ms: toMs(delay.percentile(99)), maxMs: toMs(delay.max), ...work })}\n`);
  delay.reset();
  longestTurnMs = 0;
  readMs = lookedMs;
});
