/** What a gateway leaves outside its process, byte for byte: database, journal, Redis. */

import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, delimiter, join } from 'node:path';
import { createClient } from '@redis/client';
import { codeOf } from '../../../../src/lib/thrown.ts';
import type { Trace } from './canaries.ts';

/** The file, and what stands beside it. */
export function readSqliteFiles(file: string): Trace[] {
  return ['', '-wal', '-shm', '-journal'].flatMap((end) => {
    const bytes = readUnlessDeleted(file + end);
    return bytes === undefined ? [] : [{ location: `${basename(file)}${end}`, bytes }];
  });
}

/** As `pg_dump` writes it: statements, all of it in the open. */
export async function dumpPostgres(url: string): Promise<Trace> {
  const pieces: Buffer[] = [];
  const errors: Buffer[] = [];
  const child = spawn(findDump(), ['--dbname', url, '--no-password'], { stdio: ['ignore', 'pipe', 'pipe'] });
  child.stdout.on('data', (bytes: Buffer) => pieces.push(bytes));
  child.stderr.on('data', (bytes: Buffer) => errors.push(bytes));
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  if (code !== 0) throw new Error(`pg_dump ended with ${code}: ${Buffer.concat(errors)}`);
  return { location: 'pg_dump', bytes: Buffer.concat(pieces) };
}

function findDump(): string {
  const root = '/usr/lib/postgresql';
  const versions = existsSync(root) ? readdirSync(root).toSorted((a, b) => Number(b) - Number(a)) : [];
  // The newest first: it reads what an older server has.
  const folders = [
    ...versions.map((version) => join(root, version, 'bin')),
    ...(process.env.PATH ?? '').split(delimiter),
  ];
  const location = folders.find((one) => one !== '' && existsSync(join(one, 'pg_dump')));
  if (location === undefined) throw new Error('there is no pg_dump beside PostgreSQL, and none on the path');
  return join(location, 'pg_dump');
}

/** All files of a journal, without the zeros at their ends. */
export function readJournals(directory: string): Trace[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .flatMap((entry) => {
      const bytes = readUnlessDeleted(join(entry.parentPath, entry.name));
      if (bytes === undefined) return [];
      let end = bytes.length;
      while (end > 0 && bytes[end - 1] === 0) end--;
      return [{ location: `journal ${entry.name}`, bytes: bytes.subarray(0, end) }];
    });
}

/** A running gateway deletes the journal files that the ledger has imported, also between listing and reading. */
function readUnlessDeleted(file: string): Buffer | undefined {
  try {
    return readFileSync(file);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/** Every key with its value, and the connected clients. */
export async function readRedis(url: string): Promise<Trace[]> {
  const client = createClient({ url, RESP: 2, disableClientInfo: true, socket: { reconnectStrategy: false } });
  // The rejection contains the error too.
  client.on('error', () => undefined);
  await client.connect();
  const send = (command: readonly string[]): Promise<unknown> => client.sendCommand([...command]);
  try {
    const traces = [{ location: 'Redis, its clients', bytes: Buffer.from(String(await send(['CLIENT', 'LIST']))) }];
    for (const name of toTexts(await send(['KEYS', '*']))) {
      const kind = String(await send(['TYPE', name]));
      const command = readers[kind];
      if (command === undefined) throw new Error(`${name} is a ${kind}, which is not read here`);
      const value = await send(command(name));
      traces.push({ location: `Redis, ${kind}`, bytes: Buffer.from(`${name} ${JSON.stringify(value)}`) });
    }
    return traces;
  } finally {
    client.destroy();
  }
}

const readers: Readonly<Record<string, (name: string) => string[]>> = {
  string: (name) => ['GET', name],
  hash: (name) => ['HGETALL', name],
  list: (name) => ['LRANGE', name, '0', '-1'],
  set: (name) => ['SMEMBERS', name],
  zset: (name) => ['ZRANGE', name, '0', '-1', 'WITHSCORES'],
  // Between two commands it ended.
  none: (name) => ['GET', name],
};

const toTexts = (value: unknown): string[] => (Array.isArray(value) ? value.map(String) : []);
