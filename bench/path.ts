/**
 * Measures a request without sockets: `npm run bench:path`. The whole gateway runs in this process, and scripted bytes replace its sockets, so
 * that heap bytes and promises per request are exact and microseconds nearly so.
 *
 *   --payload NAME   rerank-10 (see npm run bench -- --help)
 *   --capped         limits, a budget and a price on every key
 *   --files          lists which of our functions a request goes through, by file
 *   --check          compares heap bytes and promises with bench/path.json, for `npm run check`
 *   --accept         writes them there
 */

import { Buffer } from 'node:buffer';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { Server as HttpServer } from 'node:http';
import { Session } from 'node:inspector/promises';
import { syncBuiltinESMExports } from 'node:module';
import net from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextSlice, setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import v8 from 'node:v8';
import type { OpenConfiguration } from '../src/serve/configuration.ts';
import { median } from './measurement.ts';
import { firstCounter, type Payload, payloads } from './payloads.ts';
import { toParts } from './requests.ts';
import { ScriptedSocket } from './scripted-socket.ts';
import { benchKeys, toConfig } from './subjects.ts';
import { toHttpAnswer } from './upstream.ts';

interface Counted {
  readonly bytes: number;
  readonly promises: number;
}

interface Figures extends Counted {
  /** CPU of the main thread. */
  readonly us: number;
}

const { values: options } = parseArgs({
  options: {
    payload: { type: 'string', default: 'rerank-10' },
    capped: { type: 'boolean', default: false },
    files: { type: 'boolean', default: false },
    check: { type: 'boolean', default: false },
    accept: { type: 'boolean', default: false },
    short: { type: 'boolean', default: false },
  },
});

const connections = 64;
/** Messages that the event loop delivers in each turn. */
const messagesASlice = 8;
const warmUpRequests = options.short ? 12_000 : 50_000;
const windowRequests = options.short ? 4_000 : 20_000;
const windowCount = options.short ? 3 : 5;
const countedRequests = 2_000;

const kept = new URL('path.json', import.meta.url);
/** Figures may rise by so much before `--check` fails: when V8 optimizes a function moves the bytes. */
const tolerance = { bytes: 0.1, promises: 0.05 };
/** A payload above its tolerance is measured again so often at most, and the least counts. */
const checksMost = 3;
const checked = ['rerank-10', 'embed-1'];
const root = fileURLToPath(new URL('..', import.meta.url));

/** Each in a process of its own, so that nothing is compiled for another payload. */
function compareWithKept(): void {
  if (options.accept) {
    const lasting = checked.map((name) => [name, measureApart(name)]);
    writeFileSync(kept, `${JSON.stringify(Object.fromEntries(lasting), undefined, 2)}\n`);
    return;
  }
  const before: Record<string, Counted> = JSON.parse(readFileSync(kept, 'utf8'));
  for (const name of checked) {
    const most = before[name];
    if (most === undefined) throw new Error(`bench/path.json has no ${name}: node bench/path.ts --accept`);
    let { bytes, promises } = measureApart(name);
    const isMore = (): boolean =>
      bytes > most.bytes * (1 + tolerance.bytes) || promises > most.promises * (1 + tolerance.promises);
    for (let count = 1; count < checksMost && isMore(); count += 1) {
      const again = measureApart(name);
      bytes = Math.min(bytes, again.bytes);
      promises = Math.min(promises, again.promises);
    }
    console.log(`${name}: ${bytes} heap bytes (${most.bytes}), ${promises} promises (${most.promises}) a request`);
    if (isMore()) process.exitCode = 1;
  }
  if (process.exitCode === 1) console.log('more than before; where that is meant: node bench/path.ts --accept');
}

function measureApart(name: string): Counted {
  const script = fileURLToPath(import.meta.url);
  const args = [...process.execArgv, script, '--payload', name, '--short'];
  const text = execFileSync(process.execPath, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
  const { bytes, promises }: Figures = JSON.parse(text.trimEnd().split('\n').at(-1) ?? '');
  return { bytes, promises };
}

async function measureOne(): Promise<void> {
  const payload = payloads.find(({ name }) => name === options.payload);
  if (payload === undefined) throw new Error(`no payload "${options.payload}"`);
  const directory = mkdtempSync(join(tmpdir(), 'postern-path-'));
  process.once('exit', () => rmSync(directory, { recursive: true, force: true, maxRetries: 5 }));
  const script = new Script(payload);
  await startGateway(payload, directory);
  script.connect();

  await script.run(warmUpRequests);
  const windows: Figures[] = [];
  for (let count = 0; count < windowCount; count += 1) windows.push(await measureWindow(script));
  const middle = (pick: (one: Figures) => number): number => median(windows.map(pick)) ?? Number.NaN;
  const promises = await countPromises(script);
  const figures: Figures = {
    us: round(middle(({ us }) => us)),
    bytes: Math.round(middle(({ bytes }) => bytes)),
    promises: round(promises),
  };
  if (options.files) await listFunctions(script);
  console.log(JSON.stringify(figures));
  process.exit(0);
}

/** As `postern serve` does, in this process; with the access log in a file. */
async function startGateway(payload: Payload, directory: string): Promise<void> {
  // Only now: whatever is imported by then has the platform's sockets.
  const { openConfiguration } = await import('../src/serve/configuration.ts');
  const { openStoreToServe } = await import('../src/serve/gateway.ts');
  const { serveWith } = await import('../src/serve/serve.ts');
  const { families } = await import('../src/families/index.ts');
  const configPath = join(directory, 'postern.json');
  const logFile = join(directory, 'access.log');
  const config = {
    ...toConfig(payload, 9, { isCapped: options.capped }),
    log: { file: logFile },
  };
  writeFileSync(configPath, JSON.stringify(config));
  const silent = (): void => undefined;
  const env = { POSTERN_WARM_UP: 'off' };
  const surroundings = { configPath, env, cwd: directory, families, stdout: silent, stderr: console.error };
  const open = async (): Promise<OpenConfiguration> => {
    const found = await openConfiguration(surroundings, (url) => openStoreToServe(url, surroundings));
    if (!found.ok) throw new Error(JSON.stringify(found.faults));
    return found;
  };
  const ended = serveWith(open, surroundings);
  const isListening = (): boolean => existsSync(logFile) && readFileSync(logFile, 'utf8').includes('"listening"');
  while (!isListening()) await Promise.race([ended, wait(50)]);
}

const round = (value: number): number => Math.round(value * 10) / 10;

async function measureWindow(script: Script): Promise<Figures> {
  const cpu = process.threadCpuUsage();
  const before = v8.getHeapStatistics().total_allocated_bytes;
  await script.run(windowRequests);
  const { user, system } = process.threadCpuUsage(cpu);
  const bytes = v8.getHeapStatistics().total_allocated_bytes - before;
  return { us: (user + system) / windowRequests, bytes: bytes / windowRequests, promises: 0 };
}

async function countPromises(script: Script): Promise<number> {
  let promises = 0;
  const stop = v8.promiseHooks.onInit(() => {
    promises += 1;
  });
  await script.run(countedRequests);
  stop();
  return promises / countedRequests;
}

/** Those that run in at least half of the requests. */
async function listFunctions(script: Script): Promise<void> {
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  await session.post('Profiler.takePreciseCoverage');
  await script.run(countedRequests);
  const { result } = await session.post('Profiler.takePreciseCoverage');
  const sources = pathToFileURL(join(root, 'src')).href;
  let functions = 0;
  let calls = 0;
  const lines = result
    .filter(({ url }) => url.startsWith(sources))
    .map(({ url, functions: all }) => {
      const often = all.filter(({ ranges: [whole] }) => (whole?.count ?? 0) >= countedRequests / 2);
      functions += often.length;
      for (const { ranges } of often) calls += (ranges[0]?.count ?? 0) / countedRequests;
      const names = often.map(({ functionName }) => functionName || '(anonymous)');
      return names.length === 0 ? '' : `${url.slice(pathToFileURL(root).href.length)}: ${names.join(', ')}`;
    })
    .filter((line) => line !== '')
    .toSorted();
  console.log(lines.join('\n'));
  console.log(`${lines.length} of our files, ${functions} functions, ${Math.round(calls)} calls a request`);
}

/** Clients and upstream together: sends requests, answers calls, and counts what has come back. */
class Script {
  readonly #payload: Payload;
  readonly #answer: Buffer;
  readonly #clients: ScriptedSocket[] = [];
  /** Clients without a request, and upstreams with one. */
  readonly #ready: ScriptedSocket[] = [];
  readonly #asked: ScriptedSocket[] = [];
  /** Of each key, with a number of its own in its body. */
  readonly #requests: readonly Buffer[];
  #sent = 0;
  #answered = 0;
  #server: net.Server | undefined = undefined;

  constructor(payload: Payload) {
    this.#payload = payload;
    this.#answer = toHttpAnswer(payload);
    const { path, request, requestType, counterAt } = payload;
    const about = { port: 80, path, body: request, bodyType: requestType, counterAt, firstCounter, keys: benchKeys };
    const { openings, rest } = toParts(about);
    this.#requests = openings.map((opening, index) =>
      Buffer.concat([Buffer.from(`${opening}${firstCounter + index}`, 'latin1'), rest]),
    );
    this.#takeSockets();
  }

  /** Servers get client sockets by hand, and connections to an upstream get ours. */
  #takeSockets(): void {
    const { listen } = net.Server.prototype;
    const note = (server: net.Server): void => {
      if (!(server instanceof HttpServer)) this.#server ??= server;
    };
    Reflect.set(net.Server.prototype, 'listen', function (this: net.Server, ...args: Parameters<typeof listen>) {
      note(this);
      return listen.apply(this, args);
    });
    Reflect.set(net, 'connect', () => {
      const upstream = new ScriptedSocket(this.#payload.request.length, () => this.#asked.push(upstream));
      setImmediate(() => upstream.emit('connect'));
      return upstream;
    });
    syncBuiltinESMExports();
  }

  connect(): void {
    const answerBytes = this.#payload.eventEnds === undefined ? this.#payload.answer.length : undefined;
    for (let count = 0; count < connections; count += 1) {
      const client = new ScriptedSocket(answerBytes, () => {
        this.#answered += 1;
        this.#ready.push(client);
      });
      this.#clients.push(client);
      this.#ready.push(client);
      this.#server?.emit('connection', client);
    }
  }

  /** Until so many more requests have been answered; all that were sent are answered when it ends. */
  async run(requests: number): Promise<void> {
    const until = this.#sent + requests;
    while (this.#answered < until) {
      for (const upstream of this.#asked.splice(0, messagesASlice)) upstream.send(this.#answer);
      for (const client of this.#ready.splice(0, Math.min(messagesASlice, until - this.#sent))) {
        client.send(this.#requests[this.#sent % this.#requests.length] ?? Buffer.alloc(0));
        this.#sent += 1;
      }
      if (this.#clients.some(({ destroyed }) => destroyed)) throw new Error('the gateway closed a connection');
      await nextSlice();
    }
  }
}

if (options.check || options.accept) compareWithKept();
else await measureOne();
