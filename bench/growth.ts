/**
 * Measures how the gateway scales with its configuration: start time, memory, how long a reload blocks, and time per request.
 *
 *   node bench/growth.ts [--only models-10000,pool-256] [--yaml] [--rounds 3]
 */

import { appendFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, createServer, request } from 'node:http';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { toTable } from '../src/cli/output.ts';
import { digestOf } from '../src/lib/secrets/key-secret.ts';
import { openStore } from '../src/store/open-store.ts';
import { type Child, createChildren, listeningPort } from './children.ts';
import { type Growth, keySecret, toGrowthFile } from './growth-file.ts';
import { median } from './measurement.ts';
import type { CpuTime } from './proc.ts';

const cases: readonly Growth[] = [
  { name: 'models-10', models: 10, fileKeys: 100, storedKeys: 0, pool: 1 },
  { name: 'models-1000', models: 1_000, fileKeys: 100, storedKeys: 0, pool: 1 },
  { name: 'models-10000', models: 10_000, fileKeys: 100, storedKeys: 0, pool: 1 },
  { name: 'models-10000-keys-20000', models: 10_000, fileKeys: 20_000, storedKeys: 0, pool: 1 },
  { name: 'keys-100000', models: 10, fileKeys: 100, storedKeys: 100_000, pool: 1 },
  { name: 'pool-16', models: 10, fileKeys: 100, storedKeys: 0, pool: 16 },
  { name: 'pool-256', models: 10, fileKeys: 100, storedKeys: 0, pool: 256 },
];

const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    yaml: { type: 'boolean', default: false },
    rounds: { type: 'string', default: '3' },
  },
});
const chosen = values.only === undefined ? cases : cases.filter(({ name }) => values.only?.split(',').includes(name));
const format = values.yaml ? 'yaml' : 'json';
const launcher = fileURLToPath(new URL('../bin/postern', import.meta.url));
const probe = new URL('loop-probe.ts', import.meta.url).href;
const children = createChildren(availableParallelism());
const temporary = mkdtempSync(join(tmpdir(), 'postern-growth-'));
process.once('exit', () => {
  children.killAll();
  rmSync(temporary, { recursive: true, force: true });
});

const requests = 400;
const betweenRequestsMs = 20;
const settleMs = 2_000;
const patienceMs = 120_000;

interface Figures {
  readonly startMs: number;
  readonly cpuS: number;
  readonly rssMiB: number;
  readonly requestMs: number;
  readonly reloadMs: number;
  readonly reloadRequestMs: number;
  readonly heldMs: number;
  readonly rssAfterReloadMiB: number;
}

const upstream = createServer((incoming, outgoing) => {
  incoming.resume();
  incoming.once('end', () => {
    outgoing.setHeader('Content-Type', 'application/json');
    outgoing.end('{"object":"list","data":[{"object":"embedding","index":0,"embedding":[0.5]}],"model":"m"}');
  });
});
await new Promise<void>((resolve) => {
  upstream.listen(0, '127.0.0.1', resolve);
});
const address = upstream.address();
if (address === null || typeof address === 'string') throw new Error('the upstream has no port');
const origin = `http://127.0.0.1:${address.port}`;

const head = [
  'CASE',
  'START s',
  'CPU s',
  'RSS MiB',
  'REQUEST ms',
  'RELOAD s',
  'LONGEST REQUEST ms',
  'LOOP HELD ms',
  'RSS THEN MiB',
];
const rows: string[][] = [];
for (const growth of chosen) {
  const figures: Figures[] = [];
  for (let round = 0; round < Number(values.rounds); round++) figures.push(await measure(growth, round));
  const of = (read: (one: Figures) => number): number => median(figures.map(read)) ?? 0;
  rows.push([
    growth.name,
    (of(({ startMs }) => startMs) / 1000).toFixed(2),
    of(({ cpuS }) => cpuS).toFixed(2),
    of(({ rssMiB }) => rssMiB).toFixed(0),
    of(({ requestMs }) => requestMs).toFixed(2),
    (of(({ reloadMs }) => reloadMs) / 1000).toFixed(2),
    of(({ reloadRequestMs }) => reloadRequestMs).toFixed(0),
    of(({ heldMs }) => heldMs).toFixed(0),
    of(({ rssAfterReloadMiB }) => rssAfterReloadMiB).toFixed(0),
  ]);
  console.error(rows.at(-1)?.join('  '));
}
for (const line of toTable(head, rows)) console.log(line);
process.exit(0);

async function measure(growth: Growth, round: number): Promise<Figures> {
  const home = join(temporary, `${growth.name}-${round}`);
  mkdirSync(home, { recursive: true });
  const config = join(home, `postern.${format}`);
  const probeFile = join(home, 'probe.log');
  writeFileSync(config, toGrowthFile(growth, origin, format));
  await fillStore(growth, home);
  const startedMs = performance.now();
  const child = children.start({
    command: launcher,
    args: ['serve', '--config', config],
    outputFile: join(home, 'output.log'),
    core: 'subject',
    cwd: home,
    env: { NODE_OPTIONS: `--import=${probe}`, POSTERN_BENCH_PROBE: probeFile, POSTERN_WARM_UP: 'off' },
  });
  try {
    const port = await listeningPort(child);
    const startMs = performance.now() - startedMs;
    const cpuS = toSeconds(child.cpuTime());
    const rssMiB = toMiB(child);
    await wait(settleMs);
    const requestMs = median(await timeRequests(growth, port)) ?? 0;
    const reload = await timeReload(growth, port, child, config, probeFile);
    return { startMs, cpuS, rssMiB, requestMs, ...reload, rssAfterReloadMiB: toMiB(child) };
  } finally {
    await child.stop();
  }
}

function toSeconds(cpu: CpuTime | undefined): number {
  return cpu === undefined ? 0 : cpu.userSeconds + cpu.kernelSeconds;
}

function toMiB(child: Child): number {
  return (child.rssBytes() ?? 0) / 1024 ** 2;
}

async function fillStore({ storedKeys }: Growth, home: string): Promise<void> {
  if (storedKeys === 0) return;
  const store = await openStore('sqlite:postern.db', { cwd: home });
  try {
    for (let index = 0; index < storedKeys; index++) {
      const secret = keySecret('stored', index);
      await store.keys.create({
        name: `stored ${index}`,
        digest: digestOf(secret),
        hint: secret.slice(0, 8),
        models: ['*'],
        operations: undefined,
        addresses: undefined,
        project: undefined,
        expiresAtMs: undefined,
        caps: { rates: [], concurrency: undefined, budgets: [] },
        metadata: {},
        captureMs: undefined,
        shape: undefined,
      });
    }
  } finally {
    await store.close();
  }
}

/** One after another, on one connection, over models and keys in turn. */
async function timeRequests(growth: Growth, port: number): Promise<number[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const times: number[] = [];
  for (let index = 0; index < requests; index++) times.push(await timeRequest(growth, port, agent, index));
  agent.destroy();
  return times.slice(requests / 4);
}

async function timeReload(
  growth: Growth,
  port: number,
  child: Child,
  config: string,
  probeFile: string,
): Promise<Pick<Figures, 'reloadMs' | 'reloadRequestMs' | 'heldMs'>> {
  const agent = new Agent({ keepAlive: true });
  const before = readProbe(probeFile).length;
  const reloads = countReloads(child);
  // JSON and YAML alike do not mind a line more.
  appendFileSync(config, '\n');
  const startedMs = performance.now();
  process.kill(child.pid, 'SIGHUP');
  const pending: Promise<number>[] = [];
  for (let index = 0; countReloads(child) === reloads; index++) {
    if (performance.now() - startedMs > patienceMs) throw new Error('no reload came');
    pending.push(timeRequest(growth, port, agent, index));
    await wait(betweenRequestsMs);
  }
  const reloadMs = performance.now() - startedMs;
  const times = await Promise.all(pending);
  await wait(settleMs);
  agent.destroy();
  const held = readProbe(probeFile).slice(before);
  return { reloadMs, reloadRequestMs: Math.max(...times), heldMs: Math.max(0, ...held) };
}

function countReloads(child: Child): number {
  return child.output().split('configuration reloaded').length;
}

function readProbe(file: string): number[] {
  return existsSync(file)
    ? readFileSync(file, 'utf8')
        .trim()
        .split('\n')
        .map((line) => Number.parseFloat(line))
    : [];
}

function timeRequest(
  { models, fileKeys, storedKeys }: Growth,
  port: number,
  agent: Agent,
  index: number,
): Promise<number> {
  // Spread over all of them: every time another one.
  const at = (index * 7_919) % models;
  const secret = storedKeys === 0 ? keySecret('file', (index * 7_919) % fileKeys) : keySecret('stored', index);
  const body = JSON.stringify({ model: `model-${at}`, input: 'a text' });
  const startedMs = performance.now();
  return new Promise((resolve, reject) => {
    const outgoing = request(
      {
        port,
        agent,
        host: '127.0.0.1',
        method: 'POST',
        path: '/v1/embeddings',
        headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${secret}` },
      },
      (incoming) => {
        incoming.resume();
        incoming.once('end', () => {
          if (incoming.statusCode === 200) resolve(performance.now() - startedMs);
          else reject(new Error(`a request was answered with ${incoming.statusCode}`));
        });
      },
    );
    outgoing.once('error', reject);
    outgoing.end(body);
  });
}
