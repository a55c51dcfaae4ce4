/** Runs another server (nginx, HAProxy) on a free loopback port of its own, until the test ends. */

import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import type { TestContext } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { patientMs } from '../time/patience.ts';
import { freePort } from './free-port.ts';

export interface ServerProgram {
  readonly port: number;
  /** Its working directory, removed when the test ends. */
  readonly directory: string;
  /** Both streams, as far as they came. */
  output(): string;
}

export interface ServerProgramOptions {
  /** Looked for on the path and where system daemons live. */
  readonly command: string;
  /** Written into the working directory before the start. */
  readonly configuration: (port: number) => string;
  readonly args: (configurationFile: string, directory: string) => readonly string[];
}

const startTimeoutMs = patientMs(2_500);
const stopTimeoutMs = patientMs(1_250);
const pollMs = 20;
/** Between finding a free port and using it, another process may take it. */
const starts = 3;

/** Resolves once the program takes connections. */
export async function startServerProgram(t: TestContext, options: ServerProgramOptions): Promise<ServerProgram> {
  for (let start = 1; ; start += 1) {
    try {
      return await startOnce(t, options);
    } catch (error) {
      if (start === starts || !(error instanceof EndedEarly)) throw error;
    }
  }
}

class EndedEarly extends Error {}

async function startOnce(
  t: TestContext,
  { command, configuration, args }: ServerProgramOptions,
): Promise<ServerProgram> {
  const directory = await mkdtemp(join(tmpdir(), `postern-${command}-`));
  const port = await freePort();
  const configurationFile = join(directory, `${command}.conf`);
  await writeFile(configurationFile, configuration(port));

  const { PATH = '' } = process.env;
  const child = spawn(command, args(configurationFile, directory), {
    cwd: directory,
    env: { PATH: [PATH, '/usr/local/sbin', '/usr/sbin'].join(delimiter) },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const pieces: Buffer[] = [];
  child.stdout.on('data', (bytes: Buffer) => pieces.push(bytes));
  child.stderr.on('data', (bytes: Buffer) => pieces.push(bytes));
  const output = (): string => Buffer.concat(pieces).toString('latin1');

  let isEnded = false;
  let failure: Error | undefined;
  const ended = new Promise<void>((resolve) => {
    child.once('error', (error) => {
      failure = error;
      isEnded = true;
      resolve();
    });
    child.once('close', () => {
      isEnded = true;
      resolve();
    });
  });
  t.after(async () => {
    const timer = setTimeout(() => child.kill('SIGKILL'), stopTimeoutMs);
    child.kill('SIGTERM');
    await ended;
    clearTimeout(timer);
    await rm(directory, { recursive: true, force: true });
  });

  const deadlineMs = performance.now() + startTimeoutMs;
  while (!(await takesConnections(port))) {
    if (failure !== undefined) throw new Error(`${command} cannot be run: is it installed?`, { cause: failure });
    if (isEnded) throw new EndedEarly(`${command} ended at its start and said:\n${output()}`);
    if (performance.now() > deadlineMs) throw new Error(`${command} takes no connections; it said:\n${output()}`);
    await Promise.race([ended, wait(pollMs)]);
  }
  return { port, directory, output };
}

function takesConnections(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port });
    socket.once('error', () => resolve(false));
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
  });
}
