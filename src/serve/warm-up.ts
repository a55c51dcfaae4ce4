/**
 * Warm-up before the port opens: throw-away gateways in this process serve requests over loopback, so that the engine has compiled the path of
 * a request before a client needs it. Their stores are in memory.
 */

import { Buffer } from 'node:buffer';
import { once } from 'node:events';
import { openSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { devNull } from 'node:os';
import { setTimeout as wait } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { bill, unpricedIn, worstCostNanos } from '../accounting/billing.ts';
import { createLedger } from '../accounting/ledger.ts';
import { createSpending } from '../accounting/spending.ts';
import { createLocalBudgets } from '../budgets/local-budgets.ts';
import { compiling } from '../config/elements/compile.ts';
import { judgingDocument } from '../config/elements/document.ts';
import { FaultList, unlocated } from '../config/read/faults.ts';
import { readSideFiles } from '../config/read/side-files.ts';
import { substitute } from '../config/read/substitute.ts';
import type { Family } from '../core/family.ts';
import type { DebugLog, Log } from '../core/log.ts';
import type { Route } from '../core/route.ts';
import type { Snapshot } from '../core/snapshot.ts';
import { createJournal } from '../journal/journal.ts';
import { type JournalFiles, systemFiles } from '../journal/journal-files.ts';
import { systemClock as clock } from '../lib/clock.ts';
import { reasonOf } from '../lib/thrown.ts';
import { timeSliced } from '../lib/time-slices.ts';
import { MemoryLimiter } from '../limits/local-limiter.ts';
import { openStore } from '../store/open-store.ts';
import { openLog } from '../telemetry/log.ts';
import { createMetrics } from '../telemetry/metrics/metrics.ts';
import { version } from '../version.ts';
import { type AppDeps, createApp } from './app.ts';

interface WarmUpDeps {
  readonly families: readonly Family[];
  /** Routes that the metrics count. */
  readonly routes: readonly Route[];
  readonly isDirect: boolean;
  readonly log: Log & DebugLog;
}

/** Duration from the beginning to the last request; with closing everything it is about a second. */
const mostMs = 800;
/** Warm-up is given up after this time: a port that stays closed is worse than a slow first request. */
const longestMs = 5_000;
/** A connection without an answer is closed this much after the end of the requests. */
const graceMs = 50;
/** Number of gateways. With one only, V8 would compile calls for its functions alone, and a client's first request would find others. */
const gateways = 2;
/** Connections of each gateway. With more requests in flight, each turn of the event loop would take longer. */
const clients = 4;
/** Number of calls after which V8 optimizes a function during warm-up; a second is too short for the usual number. */
const fewCalls = 500;
const usualCalls = 3_000;
/** The first version of V8 that is known to have this usual number. */
const firstVersion = 14;
const host = '127.0.0.1';
const node = 'warm-up';
const key = 'warm-up-key-that-nobody-is-given';
const segmentBytes = 1024 * 1024;

/** Warms up the process. Never throws: without warm-up, the process serves as well, but more slowly at first. */
export async function warmUp(deps: WarmUpDeps): Promise<void> {
  const startedMs = clock.monotonicMs();
  try {
    const tooLate = wait(longestMs, undefined, { ref: false });
    const requests = await Promise.race([serveSome(deps, startedMs + mostMs), tooLate]);
    if (requests === undefined) throw new Error('it does not end');
    deps.log.debug('warm-up finished', { requests, duration_ms: Math.round(clock.monotonicMs() - startedMs) });
  } catch (error) {
    deps.log.warn('warm-up failed', { reason: reasonOf(error) });
  }
}

async function serveSome(deps: WarmUpDeps, endsAtMs: number): Promise<number> {
  await using closers = new AsyncDisposableStack();
  try {
    const snapshot = await compile(await openUpstream(closers), deps.families);
    const store = await openStore('sqlite::memory:', { cwd: '.' });
    closers.defer(() => store.close());
    const ports: number[] = [];
    while (ports.length < gateways) ports.push(await openGateway(deps, { snapshot, store }, closers));
    optimizeAfter(fewCalls);
    const asking = ports.flatMap((port) => Array.from({ length: clients }, (_, first) => ask(port, first, endsAtMs)));
    const answered = await Promise.all(asking);
    return answered.reduce((sum, count) => sum + count, 0);
  } finally {
    optimizeAfter(usualCalls);
  }
}

/** Opens a gateway of the classes and functions that serve clients, so that their code is compiled. It is closed before its upstream. */
async function openGateway(
  { routes, isDirect }: WarmUpDeps,
  { snapshot, store }: Pick<AppDeps, 'snapshot' | 'store'>,
  closers: AsyncDisposableStack,
): Promise<number> {
  const log = await openLog({ ...snapshot.log, file: devNull });
  closers.defer(() => log.close());
  const metrics = createMetrics({ routes, version });
  closers.defer(() => metrics.close());
  const journal = await createJournal({
    directory: '',
    node,
    durability: 'fast',
    clock,
    files: discardingFiles,
    segmentBytes,
  });
  closers.defer(() => journal.close());
  const alerts = { reached: (): void => undefined };
  const budgets = createLocalBudgets({ accountStore: store.budgets, node, clock, log, alerts });
  closers.defer(() => budgets.close());
  const limiter = new MemoryLimiter(clock);
  const app = createApp({
    snapshot,
    store,
    log,
    clock,
    installation: node,
    installedAtMs: clock.nowMs(),
    spending: createSpending({ limiter, budgets, worstCost: worstCostNanos, unpricedIn, hits: metrics }),
    ledger: createLedger({ journal, node, clock }),
    bill,
    meter: metrics,
    isDirect,
  });
  closers.defer(() => app.close());
  const { tcp } = await app.listen();
  if (tcp === undefined) throw new TypeError('the gateway listens at a port');
  return tcp.port;
}

function optimizeAfter(calls: number): void {
  if (Number.parseInt(process.versions.v8, 10) >= firstVersion)
    setFlagsFromString(`--invocation-count-for-turbofan=${calls}`);
}

const discardingFiles: JournalFiles = {
  ...systemFiles,
  makeDirectory: () => undefined,
  list: () => [],
  create: async () => openSync(devNull, 'r+'),
  isLinked: () => true,
  remove: () => undefined,
};

async function compile(upstreamPort: number, families: readonly Family[]): Promise<Snapshot> {
  const tree = {
    store: 'sqlite::memory:',
    server: { host, port: 0 },
    upstreams: [
      { id: node, family: 'openai', base_url: `http://${host}:${upstreamPort}/v1`, api_key: `upstream-${key}` },
    ],
    models: [
      {
        id: node,
        operations: ['rerank', 'embeddings', 'chat', 'completions'],
        price: { input: 1, output: 1 },
        targets: [{ upstream: node, model: node }],
      },
    ],
    keys: [{ id: node, secret: key, models: ['*'] }],
  };
  const faults = new FaultList();
  const substitution = substitute(tree, {}, faults);
  const document = await timeSliced(judgingDocument(substitution, { faults, locator: unlocated, elements: [] }));
  if (document === undefined) throw new TypeError('the configuration is a mapping');
  const compilation = compiling(document, {
    families,
    takenPaths: [],
    sideFiles: await readSideFiles([], '.'),
    nowMs: clock.nowMs(),
    availableBytes: 1024 ** 3,
    availableCores: 1,
    isInKubernetes: false,
    faults,
    locator: unlocated,
    isSubstituted: substitution.isSubstituted,
    warnings: [],
  });
  const { snapshot } = await timeSliced(compilation);
  const [fault] = faults.all();
  if (fault !== undefined) throw new TypeError(`${fault.path}: ${fault.message}`);
  return snapshot;
}

function ask(port: number, first: number, endsAtMs: number): Promise<number> {
  return new Promise((resolve) => {
    let answered = 0;
    const socket = connect({ host, port, noDelay: true });
    const tooLong = setTimeout(() => socket.destroy(), Math.max(0, endsAtMs + graceMs - clock.monotonicMs()));
    const send = (): void => {
      const scene = scenes[(first + answered) % scenes.length];
      if (scene === undefined || clock.monotonicMs() >= endsAtMs) socket.destroy();
      else socket.write(scene.request);
    };
    socket.on('connect', send).on('error', () => socket.destroy());
    socket.on('data', (chunk: Buffer) => {
      if (!isLast(chunk)) return;
      answered += 1;
      send();
    });
    socket.on('close', () => {
      clearTimeout(tooLong);
      resolve(answered);
    });
  });
}

/** Opens a fake upstream: the request path selects its response. */
async function openUpstream(closers: AsyncDisposableStack): Promise<number> {
  const server = createServer({ noDelay: true }, (socket) => {
    let answer: Buffer | undefined;
    socket.on('error', () => socket.destroy());
    socket.on('data', (chunk: Buffer) => {
      answer ??= scenes.find(({ path }) => chunk.includes(`POST ${path} `))?.answer;
      if (answer === undefined || !isLast(chunk)) return;
      socket.write(answer);
      answer = undefined;
    });
  });
  // Otherwise workers would share the port that each of them asks for as 0.
  await once(server.listen({ host, port: 0, exclusive: true }), 'listening');
  closers.defer(() => void server.close());
  const address = server.address();
  if (address === null || typeof address === 'string') throw new TypeError('a server at a port has its number');
  return address.port;
}

/** Whether a response ends with this chunk: with a JSON body, or with the last chunk of a stream. */
function isLast(chunk: Buffer): boolean {
  const text = chunk.toString('latin1', Math.max(0, chunk.length - lastChunk.length));
  return text.endsWith('}') || lastChunk.endsWith(text);
}

/** A request, and the answer that the fake upstream gives to it. */
interface Scene {
  readonly path: string;
  readonly request: Buffer;
  readonly answer: Buffer;
}

const lastChunk = '\r\n0\r\n\r\n';
const text = 'a query and the passages that it is compared with, each about as long as a sentence of a document';
const texts = Array.from({ length: 10 }, () => text);
const numbers = Array.from({ length: 256 }, (_, index) => 1 / (index + 3));
const usage = { prompt_tokens: 20, completion_tokens: 20, total_tokens: 40 };

const rerank = toScene(
  '/v1/rerank',
  { query: text, documents: texts },
  toAnswer({ results: texts.map((_, index) => ({ index, relevance_score: numbers[index] })), usage }),
);
const embeddings = toScene(
  '/v1/embeddings',
  { input: text },
  toAnswer({ object: 'list', data: [{ object: 'embedding', index: 0, embedding: numbers }], usage }),
);
const chat = toScene(
  '/v1/chat/completions',
  { messages: [{ role: 'user', content: text }] },
  toAnswer({ choices: [{ index: 0, message: { role: 'assistant', content: text }, finish_reason: 'stop' }], usage }),
);
const stream = toScene(
  '/v1/completions',
  { prompt: text, stream: true, stream_options: { include_usage: true } },
  toStream([...texts.map((part) => ({ choices: [{ index: 0, text: part }] })), { choices: [], usage }]),
);
const scenes = [rerank, embeddings, chat, rerank, embeddings, stream] as const;

function toScene(path: string, fields: object, answer: Buffer): Scene {
  const body = JSON.stringify({ model: node, ...fields });
  const head = `POST ${path} HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${key}\r\n`;
  return { path, request: Buffer.from(`${head}${toJson(body)}`), answer };
}

function toAnswer(value: object): Buffer {
  return Buffer.from(`HTTP/1.1 200 OK\r\n${toJson(JSON.stringify(value))}`);
}

/** The end of a message with a JSON body, which must be ASCII. */
function toJson(body: string): string {
  return `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
}

function toStream(events: readonly object[]): Buffer {
  const parts = [...events.map((event) => JSON.stringify(event)), '[DONE]'].map((data) => `data: ${data}\n\n`);
  const chunks = parts.map((part) => `${part.length.toString(16)}\r\n${part}`).join('\r\n');
  const head = 'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n';
  return Buffer.from(`${head}${chunks}${lastChunk}`);
}
