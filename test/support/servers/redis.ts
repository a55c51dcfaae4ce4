/** A real Redis (or Valkey) during a test: `POSTERN_TEST_REDIS` if set, else a server from the path. */

import { type ChildProcess, spawn } from 'node:child_process';
import { constants } from 'node:fs';
import { access, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { createClient } from '@redis/client';
import { patientMs } from '../time/patience.ts';
import { freePort } from './free-port.ts';

/** A test's context, most of the time. */
export interface RedisScope {
  after(end: () => Promise<void>): unknown;
  skip(why: string): unknown;
}

export interface RedisServer {
  /** `redis://127.0.0.1:port`, or the value of `POSTERN_TEST_REDIS`. */
  readonly url: string;
  /** One command on a connection of its own, which is closed after it. */
  send(...command: string[]): Promise<unknown>;
}

/** One that the test may do with as it likes. */
export interface OwnRedisServer extends RedisServer {
  readonly port: number;
  /** As if the machine lost its power; what it held is gone, but for what `SAVE` wrote. */
  kill(): Promise<void>;
  /** On the same port; further arguments for the server hold from here on. `isAwaited: false`: does not wait for its PONG. */
  restart(options?: { readonly args?: readonly string[]; readonly isAwaited?: boolean }): Promise<void>;
  /** It takes connections, and never answers. */
  pause(): void;
  resume(): void;
}

export interface OwnRedisOptions {
  readonly args?: readonly string[];
}

const commands = ['redis-server', 'valkey-server'];
const startTimeoutMs = patientMs(2_500);
const pollMs = 10;

/** Undefined where there is none; the test is skipped then, or fails where `CI` is set. It may be shared: use names of your own. */
export async function startRedis(scope: RedisScope): Promise<RedisServer | undefined> {
  const url = process.env.POSTERN_TEST_REDIS;
  if (url !== undefined && url !== '') return { url, send: (...command) => sendTo(url, command) };
  return startOwnRedis(scope);
}

/** A server of the test's own; without it as `startRedis`. It ends with the test, and its directory with it. */
export async function startOwnRedis(
  scope: RedisScope,
  options: OwnRedisOptions = {},
): Promise<OwnRedisServer | undefined> {
  const command = await findCommand();
  if (command === undefined) {
    const message = `Neither of ${commands.join(' and ')} is on the path, so nothing was tested here.`;
    if (process.env.CI === 'true') throw new Error(message);
    scope.skip(message);
    return undefined;
  }
  const directory = await mkdtemp(join(tmpdir(), 'postern-redis-'));
  const port = await freePort();
  const server = new Server(command, directory, port);
  scope.after(async () => {
    await server.kill();
    await rm(directory, { recursive: true, force: true });
  });
  await server.start(options.args ?? []);
  return server;
}

class Server implements OwnRedisServer {
  readonly port: number;
  readonly url: string;
  readonly #command: string;
  readonly #directory: string;
  #child: ChildProcess | undefined = undefined;
  #ended: Promise<void> = Promise.resolve();
  #output = '';

  constructor(command: string, directory: string, port: number) {
    this.#command = command;
    this.#directory = directory;
    this.port = port;
    this.url = `redis://127.0.0.1:${port}`;
  }

  async start(args: readonly string[], isAwaited = true): Promise<void> {
    const child = spawn(
      this.#command,
      [
        ...['--port', String(this.port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'],
        ...['--enable-debug-command', 'local', '--dir', this.#directory, ...args],
      ],
      { stdio: ['ignore', 'pipe', 'pipe'] },
    );
    const endWithUs = (): void => {
      child.kill('SIGKILL');
    };
    process.once('exit', endWithUs);
    child.stdout.on('data', (bytes: Buffer) => {
      this.#output += bytes.toString();
    });
    child.stderr.on('data', (bytes: Buffer) => {
      this.#output += bytes.toString();
    });
    this.#child = child;
    this.#ended = new Promise((resolve) => {
      const end = (): void => {
        process.off('exit', endWithUs);
        resolve();
      };
      child.once('error', end);
      child.once('close', end);
    });
    if (isAwaited) await this.#isUp(child);
  }

  async #isUp(child: ChildProcess): Promise<void> {
    const deadlineMs = performance.now() + startTimeoutMs;
    for (;;) {
      try {
        await this.send('PING');
        return;
      } catch (error) {
        // A server that wants a password is there as well.
        if (error instanceof Error && error.message.includes('NOAUTH')) return;
        if (child.exitCode !== null || performance.now() > deadlineMs) {
          throw new Error(`${this.#command} did not start; it said:\n${this.#output}`, { cause: error });
        }
      }
      await wait(pollMs);
    }
  }

  send(...command: string[]): Promise<unknown> {
    return sendTo(this.url, command);
  }

  async kill(): Promise<void> {
    this.#child?.kill('SIGKILL');
    await this.#ended;
  }

  async restart({
    args = [],
    isAwaited = true,
  }: {
    readonly args?: readonly string[];
    readonly isAwaited?: boolean;
  } = {}): Promise<void> {
    await this.kill();
    await this.start(args, isAwaited);
  }

  pause(): void {
    this.#child?.kill('SIGSTOP');
  }

  resume(): void {
    this.#child?.kill('SIGCONT');
  }
}

async function sendTo(url: string, command: readonly string[]): Promise<unknown> {
  const client = createClient({ url, RESP: 2, disableClientInfo: true, socket: { reconnectStrategy: false } });
  // The rejection contains the error too.
  client.on('error', () => undefined);
  await client.connect();
  try {
    return await client.sendCommand([...command]);
  } finally {
    client.destroy();
  }
}

async function findCommand(): Promise<string | undefined> {
  const directories = [...(process.env.PATH ?? '').split(delimiter), '/usr/local/bin', '/usr/bin'];
  for (const command of commands) {
    for (const directory of directories) {
      const file = join(directory, command);
      const isThere = await access(file, constants.X_OK).then(
        () => true,
        () => false,
      );
      if (isThere) return file;
    }
  }
  return undefined;
}
