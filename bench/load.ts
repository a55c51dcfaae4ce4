/** Sends a payload for some seconds and reports the results: with wrk if installed, else with a built-in client. */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Children, findProgram } from './children.ts';
import { type Requests, toParts, toWrkScript } from './requests.ts';

export interface Load {
  readonly requests: Requests;
  readonly connections: number;
  /** A run ends after so many seconds, or after so many requests. */
  readonly length: { readonly seconds: number } | { readonly requests: number };
  /** Requests a second at fixed times, whatever the answers do; undefined: each connection sends when it has its answer. */
  readonly rate: number | undefined;
}

export interface LoadResult {
  readonly requests: number;
  readonly seconds: number;
  /** Everything received: heads, framing and bodies. */
  readonly bytes: number;
  readonly p50Us: number;
  readonly p99Us: number;
  readonly p999Us: number;
  /** By kind: connect, read, write, status, timeout; unsent, if an open loop could not keep its rate. */
  readonly errors: Readonly<Record<string, number>>;
}

/** Of our own client. */
export interface OwnResult extends LoadResult {
  readonly longestUs: number;
}

export type LoadTool = 'wrk' | 'own client';

const wrk = findProgram('wrk');
const ownClient = fileURLToPath(new URL('load-client.ts', import.meta.url));

/** wrk has no open loop. */
export function loadTool(isOpenLoop: boolean): LoadTool {
  return wrk !== undefined && !isOpenLoop ? 'wrk' : 'own client';
}

const countTimeoutMs = 600_000;

/** wrk cannot stop after a number of requests. */
export async function runLoad(children: Children, runtime: string, directory: string, load: Load): Promise<LoadResult> {
  const { length, rate } = load;
  const timeoutMs = 'seconds' in length ? length.seconds * 1_000 + 20_000 : countTimeoutMs;
  const output =
    wrk === undefined || rate !== undefined || 'requests' in length
      ? await children.run(runtime, [ownClient, writeTask(directory, load)], 'load', timeoutMs)
      : await children.run(wrk, toWrkArguments(directory, load, length.seconds), 'load', timeoutMs);
  return parseResult(output);
}

/** The options of our own client, in a file. */
export interface LoadTask extends Omit<Load, 'requests'> {
  readonly port: number;
  readonly firstCounter: number;
  readonly openings: readonly string[];
  readonly restFile: string;
}

function writeTask(directory: string, { requests, ...load }: Load): string {
  const { openings, rest } = toParts(requests);
  const { port, firstCounter } = requests;
  const file = join(directory, 'task.json');
  const task: LoadTask = { ...load, port, firstCounter, openings, restFile: writeRest(directory, rest) };
  writeFileSync(file, JSON.stringify(task));
  return file;
}

function toWrkArguments(directory: string, { requests, connections }: Load, seconds: number): string[] {
  const script = join(directory, 'load.lua');
  const parts = toParts(requests);
  writeFileSync(script, toWrkScript(parts, writeRest(directory, parts.rest), requests.firstCounter));
  return [
    ...['-t', '1', '-c', String(connections), '-d', `${seconds}s`, '--timeout', '10s'],
    ...['-s', script, `http://127.0.0.1:${requests.port}${requests.path}`],
  ];
}

function writeRest(directory: string, rest: Buffer): string {
  const file = join(directory, 'request-rest');
  writeFileSync(file, rest);
  return file;
}

/** The last line is the result; wrk prints other lines before it. */
function parseResult(output: string): LoadResult {
  const line = output.trimEnd().split('\n').at(-1) ?? '';
  if (!line.startsWith('{')) throw new Error(`the load tool gave no result: ${output.slice(-500)}`);
  return JSON.parse(line);
}
