/** Sends a payload for some seconds and says how it went: with wrk where it is installed, else with a client of our own. */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Children, findProgram } from './children.ts';

export interface Load {
  readonly port: number;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly request: Buffer;
  readonly connections: number;
  readonly seconds: number;
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
  /** By kind: connect, read, write, status, timeout; unsent, where an open loop could not keep its rate. */
  readonly errors: Readonly<Record<string, number>>;
}

export type LoadTool = 'wrk' | 'own client';

const wrk = findProgram('wrk');
const ownClient = fileURLToPath(new URL('load-client.ts', import.meta.url));

/** wrk has no open loop. */
export function loadTool(rate: number | undefined): LoadTool {
  return wrk !== undefined && rate === undefined ? 'wrk' : 'own client';
}

export async function runLoad(children: Children, runtime: string, directory: string, load: Load): Promise<LoadResult> {
  const requestFile = join(directory, 'request.json');
  writeFileSync(requestFile, load.request);
  const timeoutMs = load.seconds * 1_000 + 20_000;
  const output =
    wrk === undefined || loadTool(load.rate) !== 'wrk'
      ? await children.run(runtime, [ownClient, writeTask(directory, requestFile, load)], 'load', timeoutMs)
      : await children.run(wrk, toWrkArguments(directory, requestFile, load), 'load', timeoutMs);
  return parseResult(output);
}

function writeTask(directory: string, requestFile: string, load: Load): string {
  const file = join(directory, 'task.json');
  writeFileSync(file, JSON.stringify({ ...load, request: requestFile }));
  return file;
}

function toWrkArguments(directory: string, requestFile: string, load: Load): string[] {
  const script = join(directory, 'load.lua');
  const headers = Object.entries(load.headers).map(([name, value]) => `wrk.headers[${lua(name)}] = ${lua(value)}`);
  writeFileSync(
    script,
    `wrk.method = 'POST'
local file = io.open(${lua(requestFile)}, 'rb')
wrk.body = file:read('*a')
file:close()
${headers.join('\n')}
function done(summary, latency, requests)
  local errors = summary.errors
  io.write(string.format(
    '\\n{"requests":%d,"seconds":%.6f,"bytes":%.0f,"p50Us":%.0f,"p99Us":%.0f,"p999Us":%.0f,' ..
    '"errors":{"connect":%d,"read":%d,"write":%d,"status":%d,"timeout":%d}}\\n',
    summary.requests, summary.duration / 1e6, summary.bytes,
    latency:percentile(50), latency:percentile(99), latency:percentile(99.9),
    errors.connect, errors.read, errors.write, errors.status, errors.timeout))
end
`,
  );
  const { connections, seconds, port, path } = load;
  return [
    ...['-t', '1', '-c', String(connections), '-d', `${seconds}s`, '--timeout', '10s'],
    ...['-s', script, `http://127.0.0.1:${port}${path}`],
  ];
}

const lua = (text: string): string => `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;

/** The last line is the result; wrk says other things before it. */
function parseResult(output: string): LoadResult {
  const line = output.trimEnd().split('\n').at(-1) ?? '';
  if (!line.startsWith('{')) throw new Error(`the load tool gave no result: ${output.slice(-500)}`);
  return JSON.parse(line);
}
