/**
 * Measures the admin API of a gateway with 5,000 models, 500 upstreams and 2,000 keys: CPU time per call, and the longest block of the event
 * loop. Each target was called before, so that its health is known.
 *
 *   node bench/admin-calls.ts [--stored] [--only models,/api/health] [--rounds 5] [--models 5000]
 *   node bench/admin-calls.ts --traffic 300 [--only overview,models] [--rounds 5] [--seconds 20]
 *
 * With --traffic, clients send so many rerank requests a second while a page of the console is open, page by page, and while models are
 * written: see beside-pages.ts.
 * Fails where a call holds the loop for more than 20 ms of CPU time (the median of its rounds). With --stored upstreams and models are in the store, as the console and `postern resources apply` put them there; else in the file.
 */

import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, createServer, request } from 'node:http';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { endpoints } from '../src/admin/endpoints.ts';
import { toTable } from '../src/cli/output.ts';
import { createSecretWith, digestOf } from '../src/lib/secrets/key-secret.ts';
import { openStore } from '../src/store/open-store.ts';
import { fillLedger, measureBeside } from './beside-pages.ts';
import { createChildren, listeningPort } from './children.ts';
import { keySecret } from './growth-file.ts';
import { median } from './measurement.ts';
import { readThreads, readWaitedMs } from './proc.ts';

const { values } = parseArgs({
  options: {
    stored: { type: 'boolean', default: false },
    only: { type: 'string' },
    rounds: { type: 'string', default: '5' },
    traffic: { type: 'string' },
    seconds: { type: 'string', default: '20' },
    models: { type: 'string', default: '5000' },
    upstreams: { type: 'string', default: '500' },
    keys: { type: 'string', default: '2000' },
  },
});
const sizes = { models: Number(values.models), upstreams: Number(values.upstreams), keys: Number(values.keys) };
const rounds = Number(values.rounds);
const adminToken = createSecretWith('psa_');
const secretKey = 'ab'.repeat(32);
/** No call of the admin API may hold the loop for longer. */
const barMs = 20;
/** What Prometheus reads there is 40 MB, which is no call of the API. */
const scrapeBarMs = 50;
/** Reports are written every 5 s, and rows are brought into the store meanwhile. */
const settleMs = 7_000;
const betweenCallsMs = 120;
const streamedForMs = 1_500;

const isBeside = values.traffic !== undefined;
const embeddingsAnswer =
  '{"object":"list","data":[{"object":"embedding","index":0,"embedding":[0.5]}],"model":"m","usage":{"prompt_tokens":2,"total_tokens":2}}';
const rerankAnswer = `{"id":"r","model":"m","results":[${Array.from({ length: 10 }, (_, index) => `{"index":${index},"relevance_score":0.5}`).join(',')}],"usage":{"total_tokens":80}}`;
const upstream = createServer((incoming, outgoing) => {
  incoming.resume();
  incoming.once('end', () => {
    outgoing.setHeader('Content-Type', 'application/json');
    outgoing.end(isBeside ? rerankAnswer : embeddingsAnswer);
  });
});
await new Promise<void>((resolve) => {
  upstream.listen(0, '127.0.0.1', resolve);
});
const address = upstream.address();
if (address === null || typeof address === 'string') throw new Error('the upstream has no port');
const origin = `http://127.0.0.1:${address.port}`;

const home = mkdtempSync(join(tmpdir(), 'postern-admin-calls-'));
const children = createChildren(availableParallelism());
process.once('exit', () => {
  children.killAll();
  rmSync(home, { recursive: true, force: true });
});

const upstreamsWritten = Array.from({ length: sizes.upstreams }, (_, index) => ({
  id: `upstream-${index}`,
  family: isBeside ? 'vllm' : 'openai',
  base_url: `${origin}/v1`,
}));
const modelsWritten = Array.from({ length: sizes.models }, (_, index) => ({
  id: `model-${String(index).padStart(5, '0')}`,
  operations: [isBeside ? 'rerank' : 'embeddings'],
  aliases: [`alias-${index}`],
  price: { input: 0.1 },
  targets: [
    { upstream: `upstream-${index % sizes.upstreams}` },
    { upstream: `upstream-${(index + 1) % sizes.upstreams}`, priority: 1 },
  ],
}));
const budgets = [{ every: 'month', amount: 1000 }];
const projects = Array.from({ length: 50 }, (_, index) => ({ id: `project-${index}`, budgets }));
const keysInFile = sizes.keys / 2;
const config = join(home, 'postern.json');
writeFileSync(
  config,
  JSON.stringify({
    server: { port: 0 },
    console: { port: 0 },
    store: 'sqlite:postern.db',
    projects,
    ...(values.stored ? {} : { upstreams: upstreamsWritten, models: modelsWritten }),
    keys: Array.from({ length: keysInFile }, (_, index) => ({
      id: `key-${index}`,
      secret: keySecret('file', index),
      project: `project-${index % projects.length}`,
      budgets,
    })),
  }),
);
const storedKey = await fillStore();

const probeFile = join(home, 'probe.log');
const child = children.start({
  command: fileURLToPath(new URL('../bin/postern', import.meta.url)),
  args: ['serve', '--config', config],
  outputFile: join(home, 'output.log'),
  core: 'subject',
  cwd: home,
  env: {
    NODE_OPTIONS: `--import=${new URL('loop-probe.ts', import.meta.url).href} ${process.env.BENCH_NODE_OPTIONS ?? ''}`,
    POSTERN_BENCH_PROBE: probeFile,
    POSTERN_SECRET_KEY: secretKey,
  },
});
const port = await started();
const adminUrl = new URL(/"console":"([^"]+)"/.exec(child.output())?.[1] ?? '');
await callEveryModel();
await wait(settleMs);
if (values.traffic !== undefined) {
  await measureBeside({
    ...{ children, port, rounds, only: values.only?.split(','), rate: Number(values.traffic) },
    ...{ directory: home, seconds: Number(values.seconds), models: modelsWritten.map(({ id }) => id) },
    keys: Array.from({ length: keysInFile }, (_, index) => keySecret('file', index)),
    ask: visit,
    readHeld: readProbe,
    mainThreadMs,
    waitedMs: () => readWaitedMs(child.pid),
  });
  await child.stop();
  process.exit(0);
}

const requestId = (await ask('GET', '/api/ledger?limit=1')).json?.items[0]?.id;
const samples: Readonly<Record<string, string>> = {
  '/api/upstreams/:id': 'upstream-7',
  '/api/upstreams/:id/models': 'upstream-7',
  '/api/models/:id': 'model-00007',
  '/api/keys/:id': storedKey,
  '/api/keys/:id/usage': storedKey,
  '/api/keys/:id/burn-down': storedKey,
  '/api/projects/:id': 'project-1',
  '/api/projects/:id/usage': 'project-1',
  '/api/projects/:id/burn-down': 'project-1',
  '/api/playground/tries/:requestId': 'playground.bench.x',
  '/api/ledger/:id': requestId,
  '/api/ledger/:id/capture': requestId,
};
const queries: Readonly<Record<string, readonly string[]>> = {
  '/api/models': [
    '?limit=200',
    '?limit=50&q=model-0499',
    '?limit=200&upstream=upstream-7',
    '?limit=200&before=model-04700',
    '?limit=200&sort=name',
    '?limit=200&sort=p95',
  ],
  '/api/upstreams': ['?limit=200', '?limit=50&q=499'],
  '/api/keys': ['?limit=200', '?limit=50&q=key-9'],
  '/api/ledger': ['?limit=200'],
  '/api/series': ['?by=model,upstream&top=50&heatmap=true&compare=before', '?by=key,model&order=p95'],
  '/api/states': ['?limit=200', '?model=model-00007'],
  '/api/usage': ['?by=model,key', '?by=model,hour', '?by=key&format=csv'],
  '/api/ledger/export': ['?format=csv', '?format=ndjson'],
};

interface Call {
  readonly method: string;
  /** `$round` stands for the number of the round. */
  readonly path: string;
  readonly body: unknown;
  readonly ifMatch?: string;
  readonly isEndless?: boolean;
}

const asked: readonly Call[] = endpoints
  .filter(({ method }) => method === 'GET')
  .flatMap(({ path, streams }) => {
    const filled = path.replace(/:[A-Za-z]+/, () => samples[path] ?? 'none');
    const isEndless = streams === 'text/event-stream';
    return ['', ...(queries[path] ?? [])].map((query) => ({
      method: 'GET',
      path: filled + query,
      isEndless,
      body: undefined,
    }));
  });
const document = { operations: ['embeddings'], targets: [{ upstream: 'upstream-7' }] };
const upstreamDocument = { family: 'openai', base_url: `${origin}/v1` };
const changedUpstream = { ...upstreamDocument, timeouts: { first_byte: '30s' } };
const writing: readonly Call[] = [
  { method: 'PUT', path: '/api/models/written-$round', body: document },
  { method: 'PATCH', path: '/api/models/written-$round', body: { visible: false } },
  { method: 'PUT', path: '/api/models/faulty-$round', body: { ...document, targets: [{ upstream: 'none' }] } },
  { method: 'DELETE', path: '/api/models/written-$round', body: undefined },
  { method: 'PUT', path: '/api/upstreams/written-$round', body: upstreamDocument },
  // Of some twenty models; those of the file cannot be changed.
  ...(values.stored
    ? [
        { method: 'PUT', path: '/api/upstreams/upstream-1$round', body: changedUpstream, ifMatch: '"1"' },
        { method: 'PUT', path: '/api/models/model-0100$round', body: document, ifMatch: '"1"' },
        // Models call it, so it stays.
        { method: 'DELETE', path: '/api/upstreams/upstream-1$round', body: undefined },
      ]
    : []),
  { method: 'DELETE', path: '/api/upstreams/written-$round', body: undefined },
  { method: 'PUT', path: '/api/projects/written-$round', body: { budgets } },
  { method: 'DELETE', path: '/api/projects/written-$round', body: undefined },
  { method: 'POST', path: '/api/keys', body: { name: 'bench' } },
  { method: 'POST', path: `/api/keys/${storedKey}/rotate`, body: {} },
  { method: 'PATCH', path: `/api/keys/${storedKey}`, body: { name: 'bench $round' } },
  { method: 'POST', path: `/api/keys/${storedKey}/revoke`, body: {} },
  { method: 'POST', path: `/api/keys/${storedKey}/restore`, body: {} },
  { method: 'GET', path: '/metrics', body: undefined },
];
const only = values.only?.split(',');
const chosen = [...asked, ...writing].filter(
  ({ path }) => only === undefined || only.some((part) => path.includes(part)),
);

const rows: string[][] = [];
let above = 0;
for (const { method, path, isEndless, ifMatch, body } of chosen) {
  const cpu: number[] = [];
  const held: number[] = [];
  let [status, bytes] = [0, 0];
  for (let round = 0; round < rounds; round++) {
    await wait(betweenCallsMs);
    const before = readProbe().length;
    const cpuBefore = mainThreadMs();
    const answer = await ask(method, path.replace('$round', String(round)), body, {
      ifMatch,
      leaveAfterMs: isEndless ? streamedForMs : undefined,
    });
    await wait(betweenCallsMs);
    cpu.push(mainThreadMs() - cpuBefore);
    held.push(Math.max(0, ...readProbe().slice(before)));
    ({ status, bytes } = answer);
  }
  const typical = median(held) ?? 0;
  const isAbove = typical > (path === '/metrics' ? scrapeBarMs : barMs);
  if (isAbove) above += 1;
  rows.push([
    `${method} ${path}`,
    String(status),
    (bytes / 1024).toFixed(0),
    (median(cpu) ?? 0).toFixed(0),
    typical === 0 ? '< 10' : typical.toFixed(0),
    Math.max(...held).toFixed(0),
    isAbove ? 'above' : '',
  ]);
  console.error(rows.at(-1)?.join('  '));
}
await child.stop();
for (const line of toTable(['CALL', 'STATUS', 'KiB', 'CPU ms', 'HELD ms', 'LONGEST ms', ''], rows)) console.log(line);
console.log(
  `${above} of ${rows.length} hold the loop for more than ${barMs} ms of CPU time, /metrics for more than ${scrapeBarMs} ms`,
);
process.exit(above === 0 ? 0 : 1);

/** So many models take longer to start on a busy machine. */
async function started(): Promise<number> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await listeningPort(child);
    } catch (error) {
      if (child.hasEnded() || attempt === 8) throw error;
    }
  }
}

/** Creates keys, an owner with a token, and upstreams and models if they belong in the store. Returns the ID of a key. */
async function fillStore(): Promise<string> {
  const store = await openStore('sqlite:postern.db', { cwd: home });
  try {
    const owner = await store.members.create({ email: 'bench@example.com', name: 'Bench', role: 'owner' }, 'bench');
    if (owner === 'taken') throw new Error('the owner is there already');
    const token = {
      digest: digestOf(adminToken),
      hint: 'psa_',
      memberId: owner.id,
      name: 'bench',
      role: 'owner',
    } as const;
    await store.tokens.create(token, 'bench');
    let last = '';
    for (let index = 0; index < sizes.keys - keysInFile; index++) {
      const secret = keySecret('stored', index);
      const terms = { name: `stored ${index}`, models: ['*'], project: `project-${index % projects.length}` };
      const caps = {
        rates: [],
        concurrency: undefined,
        budgets: [{ period: 'month', nanos: 1_000_000_000_000, alerts: [] }],
      } as const;
      ({ id: last } = await store.keys.create({ ...terms, caps, digest: digestOf(secret), hint: secret.slice(0, 8) }));
    }
    if (isBeside) await fillLedger(store, { ...sizes, projects: projects.length });
    if (values.stored) {
      for (const one of upstreamsWritten) await store.resources.put('upstream', one.id, one, { actor: 'bench' });
      for (const one of modelsWritten) await store.resources.put('model', one.id, one, { actor: 'bench' });
    }
    return last;
  } finally {
    await store.close();
  }
}

/** One request to each, so that the state of its target is known and the ledger has a row of it. */
async function callEveryModel(): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: 8 });
  const send = (index: number): Promise<number> =>
    new Promise((resolve, reject) => {
      const outgoing = request(
        {
          port,
          agent,
          host: '127.0.0.1',
          method: 'POST',
          path: isBeside ? '/v1/rerank' : '/v1/embeddings',
          headers: {
            'Content-Type': 'application/json',
            Authorization: `Bearer ${keySecret('file', index % keysInFile)}`,
          },
        },
        (incoming) => {
          incoming.resume();
          incoming.once('end', () => resolve(incoming.statusCode ?? 0));
        },
      );
      outgoing.once('error', reject);
      const asked = isBeside ? { query: 'a text', documents: ['a text'] } : { input: 'a text' };
      outgoing.end(JSON.stringify({ model: modelsWritten[index]?.id, ...asked }));
    });
  // A machine that is busy with other things makes the gateway shed load for a moment.
  const insist = async (index: number): Promise<void> => {
    for (let attempt = 1; ; attempt++) {
      const status = await send(index);
      if (status === 200) return;
      if (status !== 503 || attempt === 50) throw new Error(`a request was answered with ${status}`);
      await wait(200);
    }
  };
  for (let from = 0; from < sizes.models; from += 8) {
    await Promise.all(Array.from({ length: Math.min(8, sizes.models - from) }, (_, index) => insist(from + index)));
  }
  agent.destroy();
}

/** Asks as a page does, and drops the answer. */
async function visit(path: string, signal: AbortSignal | undefined, body?: object): Promise<void> {
  try {
    const written = body && { method: 'PUT', body: JSON.stringify(body) };
    const headers = {
      Authorization: `Bearer ${adminToken}`,
      ...(body && { 'Content-Type': 'application/json', 'If-None-Match': '*' }),
    };
    const answer = await fetch(new URL(path, adminUrl), {
      headers,
      ...written,
      ...(signal !== undefined && { signal }),
    });
    if (!answer.ok) throw new Error(`${path} was answered with ${answer.status}`);
    for await (const _ of answer.body ?? []);
  } catch (thrown) {
    if (signal?.aborted !== true) throw thrown;
  }
}

/** A stream that has no end is left after `leaveAfterMs`. */
function ask(
  method: string,
  path: string,
  body?: unknown,
  { ifMatch, leaveAfterMs }: { ifMatch?: string | undefined; leaveAfterMs?: number | undefined } = {},
): Promise<{ status: number; bytes: number; json: ReturnType<typeof JSON.parse> }> {
  return new Promise((resolve, reject) => {
    const headers = {
      Authorization: `Bearer ${adminToken}`,
      ...(body !== undefined && { 'Content-Type': 'application/json' }),
      ...(method === 'PUT' && (ifMatch === undefined ? { 'If-None-Match': '*' } : { 'If-Match': ifMatch })),
    };
    const outgoing = request(new URL(path, adminUrl), { method, headers }, (incoming) => {
      const pieces: Buffer[] = [];
      incoming.on('data', (piece: Buffer) => pieces.push(piece));
      const end = (): void => {
        const bytes = Buffer.concat(pieces);
        const isJson = incoming.headers['content-type'] === 'application/json';
        resolve({
          status: incoming.statusCode ?? 0,
          bytes: bytes.length,
          json: isJson ? JSON.parse(bytes.toString()) : undefined,
        });
      };
      if (leaveAfterMs === undefined) incoming.once('end', end);
      else
        setTimeout(() => {
          end();
          outgoing.destroy();
        }, leaveAfterMs);
    });
    outgoing.once('error', reject);
    outgoing.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

/** In CPU time: other processes on the machine do not count. */
function readProbe(): number[] {
  if (!existsSync(probeFile)) return [];
  return readFileSync(probeFile, 'utf8')
    .trim()
    .split('\n')
    .map((line) => Number(line.split(' ')[1]));
}

function mainThreadMs(): number {
  const main = readThreads(child.pid).find(({ id }) => id === child.pid);
  return main === undefined ? 0 : 1000 * (main.userSeconds + main.kernelSeconds);
}
