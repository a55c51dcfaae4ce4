/** Runs `postern` to its end, and returns output and exit code. */

import { spawn } from 'node:child_process';
import { patientMs } from '../time/patience.ts';
import { atOnce, compileCache, launcher } from './gateway-process.ts';

export interface CommandRun {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface CommandSurroundings {
  readonly cwd: string;
  /** Beside PATH, HOME and a compile cache; nothing else is inherited. */
  readonly env?: Readonly<Record<string, string>>;
}

/** A command that goes on for longer hangs; then `code` is null. */
const timeoutMs = patientMs(5_000);

export function runPostern(args: readonly string[], { cwd, env = {} }: CommandSurroundings): Promise<CommandRun> {
  const { PATH = '', HOME = '' } = process.env;
  const child = spawn(launcher, args, {
    cwd,
    env: { PATH, HOME, NODE_COMPILE_CACHE: compileCache, ...atOnce, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: timeoutMs,
    killSignal: 'SIGKILL',
  });
  const stdout: Buffer[] = [];
  const stderr: Buffer[] = [];
  child.stdout.on('data', (bytes: Buffer) => stdout.push(bytes));
  child.stderr.on('data', (bytes: Buffer) => stderr.push(bytes));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => {
      resolve({ code, stdout: Buffer.concat(stdout).toString(), stderr: Buffer.concat(stderr).toString() });
    });
  });
}
