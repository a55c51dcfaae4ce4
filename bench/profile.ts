/** Reads a .cpuprofile: the functions in which the time was spent. */

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type CallFrame, moduleOf } from './modules.ts';
import { formatTable } from './report.ts';

interface Profile {
  /** On the system's monotonic clock. */
  readonly startTime: number;
  readonly nodes: readonly { readonly id: number; readonly callFrame: CallFrame }[];
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
}

/** That of the main thread. */
export function findProfile(directory: string): string | undefined {
  // CPU.{date}.{time}.{process}.{thread}.{number}.cpuprofile
  const name = readdirSync(directory).find((file) => /\.0\.\d+\.cpuprofile$/.test(file));
  return name === undefined ? undefined : join(directory, name);
}

export interface Span {
  readonly fromUs: number;
  readonly toUs: number;
}

/** The present time on the clock of profiles. */
export function monotonicUs(): number {
  return Number(process.hrtime.bigint() / 1_000n);
}

export interface Sample {
  readonly frame: CallFrame;
  readonly us: number;
}

/** Samples within the span: starting and stopping are outside. */
export function readSamples(file: string, span: Span): Sample[] {
  const profile: Profile = JSON.parse(readFileSync(file, 'utf8'));
  const frames = new Map(profile.nodes.map(({ id, callFrame }) => [id, callFrame]));
  const samples: Sample[] = [];
  let atUs = profile.startTime;
  for (const [index, id] of profile.samples.entries()) {
    const us = profile.timeDeltas[index] ?? 0;
    atUs += us;
    const frame = frames.get(id);
    if (frame !== undefined && atUs >= span.fromUs && atUs <= span.toUs) samples.push({ frame, us });
  }
  return samples;
}

/** The functions with the most time of their own, as a share of the time that was not idle. */
export function formatTop(samples: readonly Sample[], count: number): string {
  const selfUs = new Map<string, number>();
  let busyUs = 0;
  for (const { frame, us } of samples) {
    if (moduleOf(frame) === undefined) continue;
    const name = toName(frame);
    selfUs.set(name, (selfUs.get(name) ?? 0) + us);
    busyUs += us;
  }
  const top = [...selfUs].toSorted(([, a], [, b]) => b - a).slice(0, count);
  const lines = top.map(([name, us]) => [name, `${((us / busyUs) * 100).toFixed(1)} %`, (us / 1e3).toFixed(0)]);
  return formatTable([['self time', 'share', 'ms'], ...lines]);
}

function toName({ functionName, url, lineNumber }: CallFrame): string {
  const name = functionName === '' ? '(anonymous)' : functionName;
  if (url === '') return name;
  // From the package or the source folder on: the rest is the path of the checkout.
  const file = /(?:node_modules\/|(?=(?:src|bench)\/))(.*)$/.exec(url)?.[1] ?? url;
  return `${name}  ${file}:${lineNumber + 1}`;
}
