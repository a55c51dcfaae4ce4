/** A gateway process started as users start it, for signals, exits, logs and memory. */

import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { isMapping } from '../../../src/lib/is-mapping.ts';
import { patientMs } from '../time/patience.ts';

const processKey = 'process-key-with-enough-characters';

/** Text is taken as it is; a document is given free ports, a store and a key where it names none. */
type ProcessConfig = string | Readonly<Record<string, unknown>>;

export interface ProcessOptions {
  readonly config: ProcessConfig;
  /** Beside PATH, HOME and a compile cache; nothing else is inherited. */
  readonly env?: Readonly<Record<string, string>>;
  /** After `serve`, in place of `--config F`; then the configuration is not written. */
  readonly args?: readonly string[];
  /** Instead of `bin/postern`; `serve --config F` is put behind it. */
  readonly command?: readonly [string, ...string[]];
  readonly readyTimeoutMs?: number;
  /** What is to answer 200 before it counts as started. One without room for its journal is alive and not ready. */
  readonly probe?: '/healthz' | '/readyz';
  /** Of a process that worked there before: it is there already, and `stop` leaves it. A new one where it is left out. */
  readonly directory?: string;
  /** Called with its ID before it is ready, for tests that kill it by then. */
  readonly onSpawned?: (pid: number) => void;
}

interface ProcessExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface GatewayProcess {
  readonly pid: number;
  readonly port: number;
  readonly url: string;
  /** The key of a document that brought none of its own. */
  readonly key: string;
  /** The process's working directory, removed by `stop`. */
  readonly directory: string;
  /** May be rewritten to have it reloaded. */
  readonly configFile: string;
  /** The lines of standard output that are JSON objects. */
  log(): Record<string, unknown>[];
  stdout(): string;
  stderr(): string;
  signal(signal: NodeJS.Signals): void;
  readonly exited: Promise<ProcessExit>;
  /** Asks the process to end, and ends it if it does not in time; then cleans up. */
  stop(): Promise<ProcessExit>;
  rssBytes(): Promise<number>;
}

export const launcher = fileURLToPath(new URL('../../../bin/postern', import.meta.url));
/** Halves what a start from source costs; the gateway itself does not know of it. */
export const compileCache = fileURLToPath(new URL('../../../node_modules/.cache/postern', import.meta.url));
/** A gateway of a test is ready at once, and compiles what it needs. */
export const atOnce = { POSTERN_WARM_UP: 'off' };
/** Of a document that names none; in the process's directory. */
export const standardStore = 'sqlite:postern.db';
const stopTimeoutMs = patientMs(2_500);
/** A machine may be busy with other tests. */
const standardReadyTimeoutMs = patientMs(15_000);
const pollMs = 20;

export async function startGatewayProcess(options: ProcessOptions): Promise<GatewayProcess> {
  const directory = options.directory ?? (await mkdtemp(join(tmpdir(), 'postern-process-')));
  const configFile = join(directory, typeof options.config === 'string' ? 'postern.yaml' : 'postern.json');
  if (options.args === undefined) await writeFile(configFile, toConfigText(options.config));

  const [command, ...args] = options.command ?? [launcher];
  const { PATH = '', HOME = '', POSTERN_DIRECT } = process.env;
  const direct = POSTERN_DIRECT === undefined ? {} : { POSTERN_DIRECT };
  const child = spawn(command, [...args, 'serve', ...(options.args ?? ['--config', configFile])], {
    cwd: directory,
    env: { PATH, HOME, NODE_COMPILE_CACHE: compileCache, ...atOnce, ...direct, ...options.env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const stdout = collect(child.stdout);
  const stderr = collect(child.stderr);

  let exit: ProcessExit | undefined;
  const exited = new Promise<ProcessExit>((resolve, reject) => {
    child.once('error', reject);
    // 'close' comes after 'exit' and after the last byte of output.
    child.once('close', (code, signal) => {
      exit = { code, signal };
      resolve(exit);
    });
  });
  // A test that dies must not leave its gateway behind.
  const killAtExit = (): void => {
    child.kill('SIGKILL');
  };
  process.once('exit', killAtExit);
  if (child.pid !== undefined) options.onSpawned?.(child.pid);

  async function end(): Promise<ProcessExit> {
    const timer = setTimeout(() => child.kill('SIGKILL'), stopTimeoutMs);
    try {
      child.kill('SIGTERM');
      return await exited;
    } finally {
      clearTimeout(timer);
      process.off('exit', killAtExit);
      if (options.directory === undefined) await rm(directory, { recursive: true, force: true });
    }
  }

  const log = (): Record<string, unknown>[] => parseLog(stdout());

  let port: number;
  try {
    port = await becomesReady({
      log,
      hasEnded: () => exit !== undefined,
      exited,
      timeoutMs: options.readyTimeoutMs ?? standardReadyTimeoutMs,
      probe: options.probe ?? '/readyz',
    });
  } catch (error) {
    await end().catch(() => undefined); // if it could not be spawned, `error` is set
    const output = `${stdout()}${stderr()}`.slice(-4000);
    throw new Error(`the gateway did not become ready; its output ends:\n${output}`, { cause: error });
  }

  return {
    pid: pidOf(child),
    port,
    url: `http://127.0.0.1:${port}`,
    key: processKey,
    directory,
    configFile,
    log,
    stdout,
    stderr,
    signal: (signal) => {
      child.kill(signal);
    },
    exited,
    stop: end,
    rssBytes: () => readRssBytes(pidOf(child)),
  };
}

function toConfigText(config: ProcessConfig): string {
  if (typeof config === 'string') return config;
  const server = isMapping(config.server) ? config.server : {};
  return JSON.stringify({
    store: standardStore,
    keys: [{ id: 'test', secret: processKey }],
    console: { port: 0 },
    ...config,
    // A busy machine is not to shed.
    server: { port: 0, shedding: { loop_delay: '60s' }, ...server },
  });
}

interface Starting {
  log(): readonly Record<string, unknown>[];
  hasEnded(): boolean;
  readonly exited: Promise<ProcessExit>;
  readonly timeoutMs: number;
  readonly probe: string;
}

/** Resolves with the port once the probe answers 200 on it. */
async function becomesReady({ log, hasEnded, exited, timeoutMs, probe }: Starting): Promise<number> {
  const deadlineMs = performance.now() + timeoutMs;
  const listening = (): unknown => log().find((line) => line.msg === 'listening')?.port;
  for (;;) {
    if (hasEnded()) throw new Error(`it ended with ${JSON.stringify(await exited)}`);
    if (performance.now() > deadlineMs) throw new Error(`it took longer than ${timeoutMs} ms`);
    const port = listening();
    if (typeof port === 'number' && (await isReady(port, probe))) return port;
    // A process that could not be spawned rejects here.
    await Promise.race([exited, wait(pollMs)]);
  }
}

async function isReady(port: number, probe: string): Promise<boolean> {
  try {
    const response = await fetch(`http://127.0.0.1:${port}${probe}`, {
      // A gateway that is stopped keeps an idle connection for another second.
      headers: { connection: 'close' },
      signal: AbortSignal.timeout(1_000),
    });
    await response.arrayBuffer();
    return response.status === 200;
  } catch {
    return false; // not yet: the caller's deadline decides when that becomes a fault
  }
}

function parseLog(text: string): Record<string, unknown>[] {
  const lines = text.split('\n');
  lines.pop(); // empty, or a line still being written
  return lines
    .filter((line) => line.startsWith('{'))
    .map((line): unknown => JSON.parse(line))
    .filter(isMapping);
}

function collect(stream: NodeJS.ReadableStream): () => string {
  const pieces: Buffer[] = [];
  stream.on('data', (bytes: Buffer) => pieces.push(bytes));
  return () => Buffer.concat(pieces).toString('utf8');
}

function pidOf(child: ChildProcess): number {
  if (child.pid === undefined) throw new Error('the gateway has no process');
  return child.pid;
}

async function readRssBytes(pid: number): Promise<number> {
  if (process.platform !== 'linux') {
    return Number(execFileSync('ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'utf8' })) * 1024;
  }
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  const kibibytes = /^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1];
  if (kibibytes === undefined) throw new Error(`process ${pid} has ended`);
  return Number(kibibytes) * 1024;
}
