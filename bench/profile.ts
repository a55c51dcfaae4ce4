/** Reads a .cpuprofile: which functions the time was spent in. */

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { formatTable } from './report.ts';

interface ProfileNode {
  readonly id: number;
  readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number };
}

interface Profile {
  /** On the system's monotonic clock. */
  readonly startTime: number;
  readonly nodes: readonly ProfileNode[];
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
}

export function findProfile(directory: string): string | undefined {
  const name = readdirSync(directory).find((file) => file.endsWith('.cpuprofile'));
  return name === undefined ? undefined : join(directory, name);
}

export interface Span {
  readonly fromUs: number;
  readonly toUs: number;
}

/** Where this process stands on the clock that profiles are kept in. */
export function monotonicUs(): number {
  return Number(process.hrtime.bigint() / 1_000n);
}

/** The functions with the most time of their own within the span, as a share of the time that was not idle. */
export function formatTop(file: string, span: Span, count: number): string {
  const profile: Profile = JSON.parse(readFileSync(file, 'utf8'));
  const nodes = new Map(profile.nodes.map((node) => [node.id, node]));
  const selfUs = new Map<string, number>();
  let busyUs = 0;
  let atUs = profile.startTime;
  for (const [index, id] of profile.samples.entries()) {
    const frame = nodes.get(id)?.callFrame;
    const deltaUs = profile.timeDeltas[index] ?? 0;
    atUs += deltaUs;
    if (atUs < span.fromUs || atUs > span.toUs) continue; // starting and stopping
    if (frame === undefined || frame.functionName === '(idle)') continue;
    const name = toName(frame);
    selfUs.set(name, (selfUs.get(name) ?? 0) + deltaUs);
    busyUs += deltaUs;
  }
  const top = [...selfUs].toSorted(([, a], [, b]) => b - a).slice(0, count);
  const lines = top.map(([name, us]) => [name, `${((us / busyUs) * 100).toFixed(1)} %`, (us / 1e3).toFixed(0)]);
  return formatTable([['self time', 'share', 'ms'], ...lines]);
}

function toName({ functionName, url, lineNumber }: ProfileNode['callFrame']): string {
  const name = functionName === '' ? '(anonymous)' : functionName;
  if (url === '') return name;
  // From the package or the source directory on: the rest is where the checkout happens to be.
  const place = /(?:node_modules\/|(?=src\/))(.*)$/.exec(url)?.[1] ?? url;
  return `${name}  ${place}:${lineNumber + 1}`;
}
