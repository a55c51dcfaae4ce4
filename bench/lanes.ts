/**
 * Measures interactive search beside bulk indexing through one upstream that batches: `npm run bench -- --lanes`. `node bench/lanes.ts --draw`
 * draws it in the terminal while a reindex runs.
 *
 * The model server is scripted: a call takes the same time up to so many at once (the knee), and proportionally longer beyond. Also with
 * six endpoints of which one dies, and with two nodes that share slots in Redis.
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
import { freePort } from './children.ts';
import { redisProgram } from './redis.ts';

const knee = 8;
const callMs = 100;
const bulkWorkers = 4 * knee;
const secrets = { search: 'the-secret-of-the-searchers', index: 'the-secret-of-the-indexers' };

interface Status {
  readonly ms: number;
  readonly status: number;
}

interface LaneFigures {
  readonly aloneP95Ms: number;
  readonly besideP95Ms: number;
  readonly bulkAlone: number;
  readonly bulkBeside: number;
  readonly refused: number;
}

/** How the gateway is set up, and what happens to it. */
interface Scenario {
  readonly title: string;
  /** Addresses of the model server; each runs so many calls at once. */
  readonly endpoints: number;
  readonly knee: number;
  /** Gateways that share the slots in Redis; one has none. */
  readonly nodes: number;
  /** One endpoint ends in the middle of the reindex, and breaks off the calls that run on it. */
  readonly isOneKilled: boolean;
}

const plain: Scenario = { title: 'one endpoint', endpoints: 1, knee, nodes: 1, isOneKilled: false };
const scenarios: readonly Scenario[] = [
  plain,
  { title: 'six endpoints of which one dies', endpoints: 6, knee: 2, nodes: 1, isOneKilled: true },
  // A process with fewer than 8 slots keeps none free.
  { title: 'two nodes with Redis', endpoints: 1, knee: 2 * knee, nodes: 2, isOneKilled: false },
];

/** Called as fast at `knee` calls as at one, at each of its addresses. */
async function startModelServers({ endpoints, knee: most }: Scenario): Promise<Server[]> {
  const servers: Server[] = [];
  let port = 0;
  for (let index = 1; index <= endpoints; index += 1) {
    let inFlight = 0;
    const handler: RequestListener = (request, response) => {
      inFlight += 1;
      const ms = callMs * Math.max(1, inFlight / most);
      request.resume().on('end', () => {
        setTimeout(() => {
          inFlight -= 1;
          response.setHeader('content-type', 'application/json');
          response.end('{"data":[{"index":0,"embedding":[1,2]}],"usage":{"prompt_tokens":3,"total_tokens":3}}');
        }, ms);
      });
    };
    const server = await listen(handler, `127.0.0.${index}`, port);
    port = portOf(server);
    servers.push(server);
  }
  return servers;
}

async function listen(handler?: RequestListener, host = '127.0.0.1', port = 0): Promise<Server> {
  const server = createServer(handler).listen(port, host);
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

  constructor(upstreamPort: number, port: number, { endpoints, knee: most, isOneKilled }: Scenario, redis?: string) {
    const left = isOneKilled ? endpoints - 1 : endpoints;
    const config = {
      ...(redis !== undefined && { redis }),
      console: { port: 0 },
      store: 'sqlite::memory:',
      server: { host: '127.0.0.1', port },
      log: { file: join(this.#directory, 'log') },
      upstreams: [
        {
          id: 'server',
          family: 'openai',
          base_url: `http://127.0.0.1:${upstreamPort}/v1`,
          api_key: 'a-credential-of-the-server',
          limits: { concurrency: left * most, queue: 1_000 },
          ...(endpoints > 1 && { endpoints: Array.from({ length: endpoints }, (_, index) => `127.0.0.${index + 1}`) }),
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

  async embed(key: keyof typeof secrets): Promise<Status> {
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

/** Nodes behind a balancer that takes turns. */
class Gateways {
  readonly #all: readonly Gateway[];
  #next = 0;

  constructor(all: readonly Gateway[]) {
    this.#all = all;
  }

  async ready(): Promise<void> {
    for (const one of this.#all) await one.ready();
  }

  embed(key: keyof typeof secrets): Promise<Status> {
    const gateway = this.#all[this.#next % this.#all.length];
    this.#next += 1;
    if (gateway === undefined) throw new Error('no gateway');
    return gateway.embed(key);
  }

  close(): void {
    for (const one of this.#all) one.close();
  }
}

/** Searches at fixed times. */
async function search(
  gateway: Gateways,
  seconds: number,
  everyMs: number,
  onEach?: (status: Status) => void,
): Promise<Status[]> {
  const all: Promise<Status>[] = [];
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
async function index(gateway: Gateways, seconds: number): Promise<Status[]> {
  const all: Status[] = [];
  const untilMs = performance.now() + seconds * 1_000;
  const work = async (): Promise<void> => {
    while (performance.now() < untilMs) all.push(await gateway.embed('index'));
  };
  await Promise.all(Array.from({ length: bulkWorkers }, work));
  return all;
}

function p95(all: readonly Status[]): number {
  const sorted = all.map(({ ms }) => ms).toSorted((a, b) => a - b);
  return sorted[Math.ceil(sorted.length * 0.95) - 1] ?? Number.NaN;
}

interface Setting {
  readonly gateways: Gateways;
  /** The last endpoint ends at once. */
  kill(): void;
}

async function withGateway<T>(scenario: Scenario, use: (setting: Setting) => Promise<T>): Promise<T> {
  const servers = await startModelServers(scenario);
  const [first] = servers;
  if (first === undefined) throw new Error('no model server');
  const redis = scenario.nodes > 1 ? await startRedis() : undefined;
  const all: Gateway[] = [];
  for (let node = 0; node < scenario.nodes; node += 1)
    all.push(new Gateway(portOf(first), await freePort(), scenario, redis?.url));
  const gateways = new Gateways(all);
  const end = (server: Server | undefined): void => {
    server?.close();
    server?.closeAllConnections();
  };
  try {
    await gateways.ready();
    return await use({ gateways, kill: () => end(servers.at(-1)) });
  } finally {
    gateways.close();
    redis?.child.kill();
    for (const server of servers) end(server);
  }
}

async function startRedis(): Promise<{ readonly url: string; readonly child: ChildProcess }> {
  if (redisProgram === undefined) throw new Error('there is no redis-server on the path');
  const port = await freePort();
  const args = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', '--dir', tmpdir()];
  const child = spawn(redisProgram, args, { stdio: 'ignore' });
  await wait(500);
  return { url: `redis://127.0.0.1:${port}`, child };
}

/** Each scenario that can be run here; `onEach` is called with each result. */
export async function measureLanes(seconds: number, onEach: (text: string) => void): Promise<void> {
  for (const scenario of scenarios) {
    if (scenario.nodes > 1 && redisProgram === undefined) onEach(`${scenario.title}: no redis-server on the path`);
    else onEach(`${scenario.title}\n${toText(await measure(scenario, seconds))}`);
  }
}

function measure(scenario: Scenario, seconds: number): Promise<LaneFigures> {
  return withGateway(scenario, async ({ gateways, kill }) => {
    await search(gateways, 2, 100);
    const alone = await search(gateways, seconds, 200);
    const bulkAlone = await index(gateways, seconds);
    if (scenario.isOneKilled) setTimeout(kill, seconds * 500);
    const [beside, bulkBeside] = await Promise.all([search(gateways, seconds, 200), index(gateways, seconds)]);
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

function toText({ aloneP95Ms, besideP95Ms, bulkAlone, bulkBeside, refused }: LaneFigures): string {
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
  await withGateway(plain, async ({ gateways: gateway }) => {
    let phase = '';
    const line = ({ ms }: Status): void => {
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
  else await measureLanes(Number(values.seconds), (text) => void process.stdout.write(`${text}\n\n`));
}
