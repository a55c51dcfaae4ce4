/** Entry point of a promise's process: runs it as a test, so that everything it starts is cleaned up, and reports on its channel. */

import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { traceOf } from '../../../src/lib/thrown.ts';
import type { PromiseUnderTest, Scale } from '../promise.ts';
import type { PromiseMessage } from './promise-process.ts';

const [path = '', scaleText, seedText] = process.argv.slice(2);
const scale: Scale = scaleText === 'long' ? 'long' : 'short';
const progressIntervalMs = 100;

// 'exit' ends the gateways that were started; a signal alone would leave them behind.
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => process.exit(1));
process.once('disconnect', () => process.exit(1));
process.channel?.unref();

test('the promise', async (t) => {
  try {
    const { default: promise }: { default: PromiseUnderTest } = await import(pathToFileURL(path).href);
    report({ kind: 'begun', title: promise.title });
    const progress = createProgress();
    const figures = await promise.run({ t, scale, seed: Number(seedText), progress });
    report({ kind: 'measured', figures: figures.map((figure) => ({ broken: false, ...figure })) });
  } catch (error) {
    report({ kind: 'failed', reason: traceOf(error) });
  }
});

function report(message: PromiseMessage): void {
  process.send?.(message);
}

/** Counting loops report every step, too many to print all of them. */
function createProgress(): (line: string) => void {
  let saidAtMs = -progressIntervalMs;
  return (line) => {
    const nowMs = performance.now();
    if (nowMs - saidAtMs < progressIntervalMs) return;
    saidAtMs = nowMs;
    report({ kind: 'progress', line });
  };
}
