/** Counts a process's system calls while it works, with strace if installed and permitted. */

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { type Children, findProgram } from './children.ts';

export interface CallCount {
  readonly name: string;
  readonly calls: number;
}

const strace: string | undefined = findProgram('strace');
const patienceMs = 5_000;
const pollMs = 50;

/** Undefined if strace is not installed, or may not attach. All threads of a process count. */
export async function countSystemCalls(
  children: Children,
  pid: number,
  directory: string,
  work: () => Promise<void>,
): Promise<CallCount[] | undefined> {
  if (strace === undefined) return undefined;
  const summary = join(directory, 'strace.txt');
  const tracer = children.start({
    command: strace,
    args: ['-c', '-f', '-p', String(pid), '-o', summary],
    outputFile: join(directory, 'strace.log'),
    core: 'load',
  });
  const deadlineMs = performance.now() + patienceMs;
  while (!tracer.output().includes('attached')) {
    if (tracer.hasEnded() || performance.now() > deadlineMs) {
      await tracer.stop();
      return undefined;
    }
    await wait(pollMs);
  }
  await work();
  await tracer.stop();
  return existsSync(summary) ? parseSummary(readFileSync(summary, 'utf8')) : undefined;
}

/** The table that `strace -c` prints, the most called first. */
export function parseSummary(text: string): CallCount[] {
  const counts: CallCount[] = [];
  for (const line of text.split('\n')) {
    // % time, seconds, usecs/call, calls, errors (or nothing), name
    const [, calls, name] = /^\s*[\d.]+\s+[\d.]+\s+\d+\s+(\d+)\s+(?:\d+\s+)?(\w+)$/.exec(line) ?? [];
    if (calls !== undefined && name !== undefined && name !== 'total') counts.push({ name, calls: Number(calls) });
  }
  return counts.toSorted((a, b) => b.calls - a.calls);
}
