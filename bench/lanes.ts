/**
 * Interactive search beside bulk indexing, through one upstream that batches: `npm run bench -- --lanes`, or, drawn in the terminal while a
 * reindex starts and ends, `node bench/lanes.ts --draw`.
 *
 * The model server is scripted: a call takes the same time up to so many at once (the knee), and proportionally longer beyond.
 */

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const knee = 8;
const callMs = 100;
const bulkWorkers = 4 * knee;
const secrets = { search: 'the-secret-of-the-searchers', index: 'the-secret-of-the-indexers' };

interface Told {
  readonly ms: number;
  readonly status: number;
}

export interface LaneFigures {
  readonly aloneP95Ms: number;
  readonly besideP95Ms: number;
  readonly bulkAlone: number;
  readonly bulkBeside: number;
  readonly refused: number;
}

function startModelServer(): Promise<Server> {
  let inFlight = 0;
  return listen((request, response) => {
    inFlight += 1;
    const ms = callMs * Math.max(1, inFlight / knee);
    request.resume().on('end', () => {
      setTimeout(() => {
        inFlight -= 1;
        response.setHeader('content-type', 'application/json');
        response.end('{"data":[{"index":0,"embedding":[1,2]}],"usage":{"prompt_tokens":3,"total_tokens":3}}');
      }, ms);
    });
  });
}

async function listen(handler?: RequestListener): Promise<Server> {
  const server = createServer(handler).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

function portOf(server: Server): number {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no TCP address');
  return address.port;
}

/** A gateway on a port of its own, with a key for each lane. */
class Gateway {
  readonly #directory = mkdtempSync(join(tmpdir(), 'postern-lanes-'));
  readonly #child: ChildProcess;
  readonly #url: string;

  constructor(upstreamPort: number, port: number) {
    const config = {
      store: 'sqlite::memory:',
      server: { host: '127.0.0.1', port },
      log: { file: join(this.#directory, 'log') },
      upstreams: [
        {
          id: 'server',
          family: 'openai',
          base_url: `http://127.0.0.1:${upstreamPort}/v1`,
          api_key: 'a-credential-of-the-server',
          limits: { concurrency: knee, queue: 1_000 },
        },
      ],
      models: [{ id: 'm', price: 'free', targets: [{ upstream: 'server' }] }],
      keys: [
        { id: 'search', secret: secrets.search, lane: 'interactive' },
        { id: 'index', secret: secrets.index, lane: 'bulk' },
      ],
    };
    const file = join(this.#directory, 'postern.json');
    writeFileSync(file, JSON.stringify(config));
    const program = fileURLToPath(new URL('../bin/postern', import.meta.url));
    this.#child = spawn(program, ['serve', '--config', file], { cwd: this.#directory, stdio: 'ignore' });
    this.#url = `http://127.0.0.1:${port}`;
  }

  async ready(): Promise<void> {
    for (let tries = 0; tries < 600; tries += 1) {
      const isReady = await fetch(`${this.#url}/readyz`).then(
        ({ ok }) => ok,
        () => false,
      );
      if (isReady) return;
      await wait(100);
    }
    throw new Error('the gateway did not become ready');
  }

  async embed(key: keyof typeof secrets): Promise<Told> {
    const sinceMs = performance.now();
    const response = await fetch(`${this.#url}/v1/embeddings`, {
      method: 'POST',
      headers: { authorization: `Bearer ${secrets[key]}`, 'content-type': 'application/json' },
      body: '{"model":"m","input":"some text"}',
    });
    await response.arrayBuffer();
    return { ms: performance.now() - sinceMs, status: response.status };
  }

  close(): void {
    this.#child.kill('SIGTERM');
    this.#child.once('exit', () => rmSync(this.#directory, { recursive: true, force: true }));
  }
}

/** Searches at fixed times. */
async function search(
  gateway: Gateway,
  seconds: number,
  everyMs: number,
  onEach?: (told: Told) => void,
): Promise<Told[]> {
  const all: Promise<Told>[] = [];
  const untilMs = performance.now() + seconds * 1_000;
  while (performance.now() < untilMs) {
    const one = gateway.embed('search');
    all.push(one);
    if (onEach !== undefined) void one.then(onEach);
    await wait(everyMs);
  }
  return Promise.all(all);
}

/** As many workers as keep the upstream busy, each with one call at a time. */
async function index(gateway: Gateway, seconds: number): Promise<Told[]> {
  const all: Told[] = [];
  const untilMs = performance.now() + seconds * 1_000;
  const work = async (): Promise<void> => {
    while (performance.now() < untilMs) all.push(await gateway.embed('index'));
  };
  await Promise.all(Array.from({ length: bulkWorkers }, work));
  return all;
}

function p95(all: readonly Told[]): number {
  const sorted = all.map(({ ms }) => ms).toSorted((a, b) => a - b);
  return sorted[Math.ceil(sorted.length * 0.95) - 1] ?? Number.NaN;
}

async function withGateway<T>(use: (gateway: Gateway) => Promise<T>): Promise<T> {
  const server = await startModelServer();
  const spare = await listen();
  const port = portOf(spare);
  spare.close();
  const gateway = new Gateway(portOf(server), port);
  try {
    await gateway.ready();
    return await use(gateway);
  } finally {
    gateway.close();
    server.close();
    server.closeAllConnections();
  }
}

export function measureLanes(seconds: number): Promise<LaneFigures> {
  return withGateway(async (gateway) => {
    await search(gateway, 2, 100);
    const alone = await search(gateway, seconds, 200);
    const bulkAlone = await index(gateway, seconds);
    const [beside, bulkBeside] = await Promise.all([search(gateway, seconds, 200), index(gateway, seconds)]);
    const refused = [...alone, ...beside, ...bulkAlone, ...bulkBeside].filter(({ status }) => status !== 200).length;
    return {
      aloneP95Ms: p95(alone),
      besideP95Ms: p95(beside),
      bulkAlone: bulkAlone.length / seconds,
      bulkBeside: bulkBeside.length / seconds,
      refused,
    };
  });
}

export function toText({ aloneP95Ms, besideP95Ms, bulkAlone, bulkBeside, refused }: LaneFigures): string {
  const times = (besideP95Ms / aloneP95Ms).toFixed(2);
  const share = ((bulkBeside / bulkAlone) * 100).toFixed(0);
  return [
    `search p95:  ${aloneP95Ms.toFixed(0)} ms alone, ${besideP95Ms.toFixed(0)} ms beside a reindex (${times} times)`,
    `bulk:        ${bulkAlone.toFixed(1)} calls a second alone, ${bulkBeside.toFixed(1)} beside search (${share}%)`,
    `refused:     ${refused}`,
  ].join('\n');
}

const barMs = 10;

/** A line for each search: calm, a reindex, calm again. */
async function draw(): Promise<void> {
  await withGateway(async (gateway) => {
    let phase = '';
    const line = ({ ms }: Told): void => {
      const bar = '#'.repeat(Math.min(80, Math.round(ms / barMs)));
      process.stdout.write(`${phase.padEnd(9)} ${ms.toFixed(0).padStart(5)} ms ${bar}\n`);
    };
    await search(gateway, 4, 500, line);
    phase = 'reindex';
    const [, bulk] = await Promise.all([search(gateway, 8, 500, line), index(gateway, 8)]);
    phase = '';
    await search(gateway, 4, 500, line);
    process.stdout.write(`The reindex embedded ${bulk.length} texts meanwhile.\n`);
  });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { values } = parseArgs({
    options: { draw: { type: 'boolean', default: false }, seconds: { type: 'string', default: '10' } },
  });
  if (values.draw) await draw();
  else process.stdout.write(`${toText(await measureLanes(Number(values.seconds)))}\n`);
}
