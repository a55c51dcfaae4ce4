/** Runs a real PostgreSQL on a free loopback port during a test or test file. */

import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { chownSync, existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { after, before } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import { Client } from 'pg';
import { codeOf } from '../../../src/lib/thrown.ts';
import { patientMs } from '../time/patience.ts';
import { freePort } from './free-port.ts';

/** A test's context, most of the time. */
interface Scope {
  after(end: () => Promise<void>): unknown;
}

export interface PostgresOptions {
  /** Never the server of POSTERN_TEST_POSTGRES: for tests that stop it, or change its settings. */
  readonly isOwn?: boolean;
  /** Waits for the disk as a real one does. */
  readonly isSynced?: boolean;
  /** Further settings of the server, such as `{ max_connections: '5' }`. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Files that the settings name, by their names: they lie in the server's own directory, for its eyes alone. */
  readonly files?: Readonly<Record<string, string>>;
}

export interface Postgres {
  /** With user and password; of the database `postgres` where none is named. */
  url(database?: string): string;
  /** The URL of a new, empty database. */
  createDatabase(): Promise<string>;
  /** As `pg_ctl stop -m fast` does. */
  stop(): Promise<void>;
  /** All its processes at once, without a word. */
  kill(): Promise<void>;
  /** After `stop` or `kill`: again, with the same data on the same port. */
  start(): Promise<void>;
  /** Its processes stand still: connections stay open, and nothing is answered. */
  pause(): void;
  resume(): void;
}

const startTimeoutMs = patientMs(7_500);
const stopTimeoutMs = patientMs(2_500);
const pollMs = 30;
const user = 'postern';
const password = 'its-Own-pass/word';

const givenUrl = process.env.POSTERN_TEST_POSTGRES;
const binaries = findBinaries();
const howToGetIt =
  'needs PostgreSQL 15 or newer: install it (Debian: apt-get install postgresql), or set POSTERN_TEST_POSTGRES to the URL of a server whose user may create databases';

/** For `{ skip }` of a test: why it cannot run here, or false. Where CI is set nothing is left out: `startPostgres` fails. */
export const whyNoPostgres: string | false = mayBeSkipped(givenUrl === undefined && binaries === undefined);
/** The same for tests that need a server of their own. */
export const whyNoOwnPostgres: string | false = mayBeSkipped(binaries === undefined);

function mayBeSkipped(isMissing: boolean): string | false {
  return isMissing && process.env.CI !== 'true' ? howToGetIt : false;
}

/** For a file or a suite of tests: one server for all of them, started before the first. Call what it gives back in a test. */
export function usePostgres(options?: PostgresOptions): () => Postgres {
  let server: Postgres | undefined;
  const ends: (() => Promise<void>)[] = [];
  before(async () => {
    server = await startPostgres({ after: (end) => ends.push(end) }, options);
  });
  after(async () => {
    for (const end of ends) await end();
  });
  return () => {
    if (server === undefined) throw new Error('PostgreSQL is started before the first test, not earlier.');
    return server;
  };
}

/** Runs until the scope ends. */
export async function startPostgres(scope: Scope, options: PostgresOptions = {}): Promise<Postgres> {
  if (givenUrl !== undefined && options.isOwn !== true) return useGiven(scope, givenUrl);
  if (binaries === undefined) throw new Error(`This test ${howToGetIt}.`);
  return startOwn(scope, binaries, options);
}

async function startOwn(scope: Scope, directoryOfPrograms: string, options: PostgresOptions): Promise<Postgres> {
  const directory = await mkdtemp(join(tmpdir(), 'postern-postgres-'));
  const owner = ownerOfFiles();
  const spawnOptions = { cwd: directory, env: { PATH: process.env.PATH ?? '', LC_ALL: 'C', TZ: 'UTC' }, ...owner };
  let server: ChildProcess | undefined;
  let output = '';
  const port = await freePort();
  const url = (database = 'postgres') => toUrl(`postgres://${user}@127.0.0.1:${port}/`, database, password);

  const stop = async (signal: NodeJS.Signals): Promise<void> => {
    if (server === undefined) return;
    const ending = server;
    server = undefined;
    signalAll(ending, 'SIGCONT');
    const ended = new Promise((resolve) => ending.once('close', resolve));
    if (signal === 'SIGKILL') signalAll(ending, signal);
    else ending.kill(signal);
    const timer = setTimeout(() => signalAll(ending, 'SIGKILL'), stopTimeoutMs);
    if (ending.exitCode === null && ending.signalCode === null) await ended;
    clearTimeout(timer);
  };

  const start = async (): Promise<void> => {
    const settings = {
      port: String(port),
      listen_addresses: '127.0.0.1',
      unix_socket_directories: '',
      shared_buffers: '16MB',
      // Off, it still writes before it answers: what was committed survives the death of its processes.
      fsync: options.isSynced === true ? 'on' : 'off',
      full_page_writes: options.isSynced === true ? 'on' : 'off',
      ...options.settings,
    };
    const args = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
    const deadlineMs = performance.now() + startTimeoutMs;
    for (;;) {
      const child = spawn(join(directoryOfPrograms, 'postgres'), ['-D', join(directory, 'data'), ...args], {
        ...spawnOptions,
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (output += String(text)));
      while (child.exitCode === null && child.signalCode === null && performance.now() < deadlineMs) {
        if (await answers(url())) {
          server = child;
          return;
        }
        await wait(pollMs);
      }
      child.kill('SIGQUIT');
      // What was killed a moment ago may still be there in part.
      if (performance.now() > deadlineMs) throw new Error(`PostgreSQL did not start; it said:\n${output}`);
      await wait(100);
    }
  };

  const endWithProcess = (): void => void server?.kill('SIGQUIT');
  process.once('exit', endWithProcess);
  scope.after(async () => {
    process.off('exit', endWithProcess);
    await stop('SIGINT');
    await rm(directory, { recursive: true, force: true });
  });
  await writeFile(join(directory, 'password'), password);
  if (owner !== undefined)
    for (const path of [directory, join(directory, 'password')]) chownSync(path, owner.uid, owner.gid);
  await promisify(execFile)(
    join(directoryOfPrograms, 'initdb'),
    ['-D', 'data', '-U', user, '-A', 'scram-sha-256', '--pwfile=password', '-E', 'UTF8', '--no-sync'],
    spawnOptions,
  );
  for (const [name, content] of Object.entries(options.files ?? {})) {
    const file = join(directory, 'data', name);
    await writeFile(file, content, { mode: 0o600 });
    if (owner !== undefined) chownSync(file, owner.uid, owner.gid);
  }
  await start();

  return {
    url,
    createDatabase: async () => url(await createDatabase(url())),
    stop: () => stop('SIGINT'),
    kill: () => stop('SIGKILL'),
    start,
    pause: () => server !== undefined && signalAll(server, 'SIGSTOP'),
    resume: () => server !== undefined && signalAll(server, 'SIGCONT'),
  };
}

/** Somebody else's server: it gets databases, and loses them again. */
function useGiven(scope: Scope, given: string): Postgres {
  const made: string[] = [];
  scope.after(async () => {
    for (const name of made) await run(given, `drop database if exists ${name} with (force)`);
  });
  const notOurs = (): never => {
    throw new Error("This server is not the test's own: start it with { isOwn: true }.");
  };
  return {
    url: (database) => (database === undefined ? given : toUrl(given, database)),
    async createDatabase() {
      const name = await createDatabase(given);
      made.push(name);
      return toUrl(given, name);
    },
    stop: async () => notOurs(),
    kill: async () => notOurs(),
    start: async () => notOurs(),
    pause: notOurs,
    resume: notOurs,
  };
}

let databaseCount = 0;

async function createDatabase(url: string): Promise<string> {
  databaseCount += 1;
  const name = `postern_test_${process.pid}_${databaseCount}`;
  await run(url, `create database ${name}`);
  return name;
}

/** One statement on a connection of its own. */
async function run(url: string, statement: string): Promise<void> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 5_000 });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}

async function answers(url: string): Promise<boolean> {
  try {
    await run(url, 'select 1');
    return true;
  } catch {
    return false;
  }
}

function toUrl(base: string, database: string, secret?: string): string {
  const url = new URL(base);
  url.pathname = `/${database}`;
  if (secret !== undefined) url.password = encodeURIComponent(secret);
  return url.href;
}

/** Backends lead their own process groups, so each is signalled. */
function signalAll(server: ChildProcess, signal: NodeJS.Signals): void {
  if (server.pid === undefined) return;
  const children = childrenOf(server.pid);
  for (const pid of [server.pid, ...children]) {
    try {
      process.kill(pid, signal);
    } catch (error) {
      // It ended meanwhile.
      if (codeOf(error) !== 'ESRCH') throw error;
    }
  }
}

function childrenOf(parent: number): number[] {
  if (!existsSync('/proc/self/stat')) throw new Error('Only Linux tells here which processes belong to the server.');
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && parentOf(name) === parent)
    .map(Number);
}

function parentOf(pid: string): number | undefined {
  try {
    // The name stands in brackets and may hold anything; state and parent follow it.
    const fields = /.*\) \S+ (\d+) /s.exec(readFileSync(`/proc/${pid}/stat`, 'latin1'));
    return Number(fields?.[1]);
  } catch {
    return undefined;
  }
}

/** It refuses to run as root. */
function ownerOfFiles(): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const accounts = readFileSync('/etc/passwd', 'utf8').split('\n');
  for (const name of ['postgres', 'nobody']) {
    const [, , uid, gid] = accounts.find((line) => line.startsWith(`${name}:`))?.split(':') ?? [];
    if (uid !== undefined && gid !== undefined) return { uid: Number(uid), gid: Number(gid) };
  }
  throw new Error('PostgreSQL does not run as root, and there is neither a user "postgres" nor "nobody".');
}

/** On the path, or where Debian and its like keep it: the newest. */
function findBinaries(): string | undefined {
  const root = '/usr/lib/postgresql';
  const versions = existsSync(root) ? readdirSync(root).toSorted((a, b) => Number(b) - Number(a)) : [];
  const folders = [
    ...(process.env.PATH ?? '').split(delimiter),
    ...versions.map((version) => join(root, version, 'bin')),
  ];
  return folders.find(
    (folder) => folder !== '' && existsSync(join(folder, 'postgres')) && existsSync(join(folder, 'initdb')),
  );
}
