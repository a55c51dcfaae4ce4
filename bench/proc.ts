/** Reads a process's memory and CPU time from /proc: by thread, user and kernel separately. */

import { existsSync, readdirSync, readFileSync } from 'node:fs';

export interface CpuTime {
  readonly userSeconds: number;
  readonly kernelSeconds: number;
}

export interface ThreadTime extends CpuTime {
  readonly id: number;
  /** As the system keeps it: 15 characters at most. */
  readonly name: string;
}

/** What /proc counts CPU time in; 100 a second on every Linux that Node runs on. */
const ticksPerSecond = 100;

/** A line of /proc/PID/stat or /proc/PID/task/TID/stat. */
export function parseStat(stat: string): ThreadTime {
  // The name, in parentheses, may hold anything; fields are counted behind it.
  const nameEnd = stat.lastIndexOf(')');
  const fields = stat.slice(nameEnd + 2).split(' ');
  return {
    id: Number.parseInt(stat, 10),
    name: stat.slice(stat.indexOf('(') + 1, nameEnd),
    userSeconds: Number(fields[11]) / ticksPerSecond,
    kernelSeconds: Number(fields[12]) / ticksPerSecond,
  };
}

/** All threads together, ended ones too; undefined if the system does not report it. */
export function readCpuTime(pid: number): CpuTime | undefined {
  const stat = readProc(pid, 'stat');
  return stat === undefined ? undefined : parseStat(stat);
}

export function readThreads(pid: number): ThreadTime[] {
  const directory = `/proc/${pid}/task`;
  if (!existsSync(directory)) return [];
  return readdirSync(directory)
    .map((id) => readProc(pid, `task/${id}/stat`))
    .filter((stat) => stat !== undefined)
    .map(parseStat);
}

/** How long the main thread could have run and had no core: the work of others. */
export function readWaitedMs(pid: number): number {
  const [, waitedNs = 0] = (readProc(pid, `task/${pid}/schedstat`) ?? '').split(' ').map(Number);
  return waitedNs / 1e6;
}

export function readRssBytes(pid: number): number | undefined {
  const kibibytes = /^VmRSS:\s+(\d+) kB$/m.exec(readProc(pid, 'status') ?? '')?.[1];
  return kibibytes === undefined ? undefined : Number(kibibytes) * 1024;
}

/** The limit of file descriptors of this process; undefined if the system does not report it. */
export function readDescriptorLimit(): number | undefined {
  const limit = /^Max open files\s+(\d+)/m.exec(readProc('self', 'limits') ?? '')?.[1];
  return limit === undefined ? undefined : Number(limit);
}

function readProc(pid: number | 'self', file: string): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return undefined; // it has ended, or this is not Linux
  }
}

/** Whose a thread of a Node process is. */
function ownerOf({ name, id }: ThreadTime, pid: number): string {
  if (id === pid) return 'main';
  if (name.endsWith('V8Worker') || name === 'DelayedTaskSche') return "V8's helpers";
  if (name === 'libuv-worker') return "libuv's";
  return name;
}

export interface OwnerTime {
  readonly owner: string;
  readonly userSeconds: number;
  readonly kernelSeconds: number;
}

/** What was used between two readings, by whose the threads are; the most first. */
export function usedByOwner(pid: number, before: readonly ThreadTime[], after: readonly ThreadTime[]): OwnerTime[] {
  const earlier = new Map(before.map((thread) => [thread.id, thread]));
  const owners = new Map<string, OwnerTime>();
  for (const thread of after) {
    const owner = ownerOf(thread, pid);
    const since = earlier.get(thread.id);
    const sum = owners.get(owner);
    owners.set(owner, {
      owner,
      userSeconds: (sum?.userSeconds ?? 0) + thread.userSeconds - (since?.userSeconds ?? 0),
      kernelSeconds: (sum?.kernelSeconds ?? 0) + thread.kernelSeconds - (since?.kernelSeconds ?? 0),
    });
  }
  const total = (time: CpuTime): number => time.userSeconds + time.kernelSeconds;
  return [...owners.values()].filter((time) => total(time) > 0).toSorted((a, b) => total(b) - total(a));
}
