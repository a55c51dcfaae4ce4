/** The child processes of a benchmark: starts them on their CPU core, watches them through /proc, and stops all at the end. */

import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, existsSync, openSync, readFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { delimiter, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { type CpuTime, readCpuTime, readRssBytes } from './proc.ts';

export interface ChildOptions {
  readonly command: string;
  readonly args: readonly string[];
  /** Both streams go into this file. */
  readonly outputFile: string;
  readonly core: Core;
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** The core of a process: alone, or shared with the other half of the measurement. */
export type Core = 'subject' | 'load';

export interface Child {
  readonly pid: number;
  /** CPU time used since its start, all threads; undefined if the system does not report it. */
  cpuTime(): CpuTime | undefined;
  rssBytes(): number | undefined;
  output(): string;
  hasEnded(): boolean;
  /** Asks it to end, and ends it after 5 s. */
  stop(): Promise<void>;
}

export interface Children {
  start(options: ChildOptions): Child;
  /** Runs to the end and gives back standard output; killed after `timeoutMs`. */
  run(command: string, args: readonly string[], core: Core, timeoutMs: number): Promise<string>;
  killAll(): void;
}

/** Searched for on the path and in the folders of system daemons. */
export function findProgram(name: string): string | undefined {
  const directories = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin', '/usr/local/sbin'];
  return directories.map((directory) => join(directory, name)).find((path) => existsSync(path));
}

const taskset = process.platform === 'linux' ? findProgram('taskset') : undefined;
/** All on one, or the subject alone on its own. */
export type Placement = 'one core' | 'two cores';
const coreNumbers: Readonly<Record<Placement, Readonly<Record<Core, string>>>> = {
  'one core': { subject: '0', load: '0' },
  'two cores': { subject: '0', load: '1' },
};

const startTimeoutMs = 15_000;
const stopTimeoutMs = 5_000;

export function createChildren(cores: number, placement: Placement = 'two cores'): Children {
  const running = new Set<ChildProcess>();
  const pinned = taskset !== undefined && (cores > 1 || placement === 'one core');

  function launch(
    { command, args, core }: Pick<ChildOptions, 'command' | 'args' | 'core'>,
    spawnOptions: Parameters<typeof spawn>[2],
  ): ChildProcess {
    const line = pinned ? [taskset, '-c', coreNumbers[placement][core], command, ...args] : [command, ...args];
    const [program = command, ...rest] = line;
    const child = spawn(program, rest, spawnOptions);
    running.add(child);
    child.once('close', () => running.delete(child));
    return child;
  }

  return {
    start(options) {
      const output = openSync(options.outputFile, 'a');
      const { PATH = '', HOME = '' } = process.env;
      const child = launch(options, {
        cwd: options.cwd,
        env: { PATH, HOME, ...options.env },
        stdio: ['ignore', output, output],
      });
      closeSync(output);
      let isEnded = false;
      const ended = new Promise<void>((resolve) => {
        const end = (): void => {
          isEnded = true;
          resolve();
        };
        child.once('close', end);
        child.once('error', end); // the caller that waits for its port reports that it never came
      });
      const { pid } = child;
      if (pid === undefined) throw new Error(`${options.command} cannot be started`);
      return {
        pid,
        cpuTime: () => readCpuTime(pid),
        rssBytes: () => readRssBytes(pid),
        output: () => readFileSync(options.outputFile, 'utf8'),
        hasEnded: () => isEnded,
        async stop() {
          child.kill('SIGTERM');
          const timer = setTimeout(() => child.kill('SIGKILL'), stopTimeoutMs);
          await ended;
          clearTimeout(timer);
        },
      };
    },
    run(command, args, core, timeoutMs) {
      const child = launch({ command, args, core }, { stdio: ['ignore', 'pipe', 'inherit'] });
      const timer = setTimeout(() => child.kill('SIGKILL'), timeoutMs);
      const pieces: Buffer[] = [];
      child.stdout?.on('data', (piece: Buffer) => pieces.push(piece));
      return new Promise<string>((resolve, reject) => {
        child.once('error', reject);
        child.once('close', (code) => {
          const text = Buffer.concat(pieces).toString('utf8');
          if (code === 0) resolve(text);
          else reject(new Error(`${command} ended with ${code}: ${text.slice(-500)}`));
        });
      }).finally(() => clearTimeout(timer));
    },
    killAll() {
      for (const child of running) child.kill('SIGKILL');
    },
  };
}

/** The port in the JSON line with which a server of this bench reports that it listens. */
export async function listeningPort(child: Child): Promise<number> {
  let port: number | undefined;
  await until(child, async () => {
    port = findPort(child.output());
    return port !== undefined;
  });
  if (port === undefined) throw new Error('a server named no port');
  return port;
}

function findPort(output: string): number | undefined {
  const line = output
    .split('\n')
    .find((text) => text.startsWith('{') && text.endsWith('}') && text.includes('"listening"'));
  const port: unknown = line === undefined ? undefined : JSON.parse(line).port;
  return typeof port === 'number' ? port : undefined;
}

export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('no free port');
  return address.port;
}

export function acceptsConnections(port: number, child: Child): Promise<void> {
  return until(
    child,
    () =>
      new Promise((resolve) => {
        const socket = connect(port, '127.0.0.1');
        socket.once('error', () => resolve(false));
        socket.once('connect', () => {
          socket.destroy();
          resolve(true);
        });
      }),
  );
}

async function until(child: Child, isUp: () => Promise<boolean>): Promise<void> {
  const deadlineMs = performance.now() + startTimeoutMs;
  while (!(await isUp())) {
    if (child.hasEnded() || performance.now() > deadlineMs) {
      throw new Error(`a server did not come up; its output ends:\n${child.output().slice(-2000)}`);
    }
    await wait(20);
  }
}
