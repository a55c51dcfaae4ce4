/** `--profile`: measures what a request costs a process by thread, module and system call, and what it allocates. */

import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { voidReason } from './measurement.ts';
import { toModules } from './modules.ts';
import type { Payload } from './payloads.ts';
import { readThreads, usedByOwner } from './proc.ts';
import { findProfile, formatTop, monotonicUs, readSamples, type Span } from './profile.ts';
import { allocationPerRequest, readReadings, withProbe } from './readings.ts';
import { formatTable } from './report.ts';
import type { Running, Setting, Subject } from './subjects.ts';
import { countSystemCalls } from './system-calls.ts';
import { measure, mismatch, type Rig, warmUp } from './turns.ts';

const tracedSeconds = 2;
const topFunctions = 25;
const topCalls = 8;

/** Two runs of the subject: one that is only looked at from outside, for what is counted, and one under the profiler, for shares. */
export async function profile(rig: Rig, payload: Payload, subject: Subject, directory: string): Promise<void> {
  if (!subject.isJavaScript) throw new Error(`${subject.name} is no JavaScript, and cannot be profiled`);
  rmSync(directory, { recursive: true, force: true });
  mkdirSync(directory, { recursive: true });
  const mainUs = await count(rig, payload, subject);
  await sample(rig, payload, subject, directory, mainUs);
}

/** Prints what is counted, and gives back the main thread's CPU microseconds a request. */
async function count(rig: Rig, payload: Payload, subject: Subject): Promise<number | undefined> {
  const probeFile = join(rig.temporary, 'probe.jsonl');
  return running(rig, payload, subject, withProbe(probeFile, false), async (one) => {
    const pid = one.child?.pid ?? 0;
    rig.progress(`${payload.name}: ${subject.name}, ${rig.seconds} s`);
    const before = readThreads(pid);
    const fromUs = monotonicUs();
    const { measurement, requests } = await measure(rig, one, payload, { seconds: rig.seconds }, undefined);
    const span: Span = { fromUs, toUs: monotonicUs() };
    const used = usedByOwner(pid, before, readThreads(pid));
    rig.progress(`${payload.name}: ${subject.name}, ${tracedSeconds} s under strace`);
    let tracedRequests = 0;
    const calls = await countSystemCalls(rig.children, pid, rig.temporary, async () => {
      tracedRequests = (await measure(rig, one, payload, { seconds: tracedSeconds }, undefined)).requests;
    });
    rig.progress('');

    const rate = `${Math.round(measurement.rps)} requests a second`;
    console.log(`${payload.name}, ${subject.name}: ${rate}; ${voidReason(measurement.errors) ?? 'no errors'}\n`);
    const us = (seconds: number): string => ((seconds * 1e6) / requests).toFixed(1);
    const total = {
      owner: 'all',
      userSeconds: used.reduce((sum, { userSeconds }) => sum + userSeconds, 0),
      kernelSeconds: used.reduce((sum, { kernelSeconds }) => sum + kernelSeconds, 0),
    };
    const lines = [...used, total].map(({ owner, userSeconds, kernelSeconds }) => [
      owner,
      us(userSeconds),
      us(kernelSeconds),
      us(userSeconds + kernelSeconds),
    ]);
    console.log(
      `CPU microseconds a request, by thread\n${formatTable([['thread', 'user', 'kernel', 'both'], ...lines])}\n`,
    );

    const allocation = allocationPerRequest(readReadings(probeFile), span, requests);
    console.log(
      allocation === undefined
        ? 'allocated: the run was too short to tell'
        : `allocated by the main thread: ${Math.round(allocation.allocatedBytes)} bytes a request in V8's heap, ` +
            `${Math.round(allocation.outsideBytes)} outside of it; ${(allocation.collections * 1e3).toFixed(2)} collections ` +
            `for 1,000 requests, in which it stood still for ${allocation.collectionUs.toFixed(1)} microseconds a request`,
    );
    console.log(`\n${formatCalls(calls, tracedRequests)}\n`);
    const main = used.find(({ owner }) => owner === 'main');
    return main === undefined ? undefined : ((main.userSeconds + main.kernelSeconds) * 1e6) / requests;
  });
}

function formatCalls(calls: Awaited<ReturnType<typeof countSystemCalls>>, requests: number): string {
  if (calls === undefined) return 'system calls a request: not counted, for there is no strace here that may attach';
  const each = (count: number): string => (count / requests).toFixed(2);
  const total = calls.reduce((sum, one) => sum + one.calls, 0);
  const most = calls.slice(0, topCalls).map(({ name, calls }) => `${name} ${each(calls)}`);
  return `system calls a request, of all threads, under strace: ${each(total)} (${most.join(', ')})`;
}

async function sample(
  rig: Rig,
  payload: Payload,
  subject: Subject,
  directory: string,
  mainUs: number | undefined,
): Promise<void> {
  const options = { nodeOptions: ['--cpu-prof', `--cpu-prof-dir=${directory}`] };
  const span = await running(rig, payload, subject, options, async (one): Promise<Span> => {
    rig.progress(`${payload.name}: ${subject.name}, ${rig.seconds} s under the profiler`);
    const fromUs = monotonicUs();
    await measure(rig, one, payload, { seconds: rig.seconds }, undefined);
    return { fromUs, toUs: monotonicUs() };
  });
  rig.progress('');
  const main = findProfile(directory);
  if (main === undefined) throw new Error('no profile came: the subject did not end by itself');
  const samples = readSamples(main, span);
  const modules = toModules(samples).map(({ module, share }) => [
    module,
    `${(share * 100).toFixed(1)} %`,
    mainUs === undefined ? '-' : (share * mainUs).toFixed(1),
  ]);
  console.log(`the main thread, by module\n${formatTable([['module', 'share', 'us a request'], ...modules])}\n`);
  console.log(`${formatTop(samples, topFunctions)}\n\n${main}`);
}

/** Started, checked, warmed up, worked with, and stopped: profiles are written at the end of a process. */
async function running<Result>(
  rig: Rig,
  payload: Payload,
  subject: Subject,
  options: Pick<Setting, 'nodeOptions' | 'env'>,
  work: (one: Running) => Promise<Result>,
): Promise<Result> {
  const directory = join(rig.temporary, payload.name);
  mkdirSync(directory, { recursive: true });
  const { port: upstreamPort } = rig.upstreams.of(payload);
  const one = await subject.start({ ...rig, directory, payload, upstreamPort, ...options });
  try {
    const fault = await mismatch(one, payload);
    if (fault !== undefined) throw new Error(`${subject.name} gives back ${fault}`);
    rig.progress(`${payload.name}: ${subject.name} warms up`);
    await warmUp(rig, one, payload);
    return await work(one);
  } finally {
    await one.child?.stop();
    rmSync(directory, { recursive: true, force: true });
  }
}
