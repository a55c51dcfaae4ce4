/**
 * A demonstration of accounting on two nodes: limits, a project budget, a node that is killed and returns; the sums agree to the last request.
 */

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { LedgerRow } from '../../src/core/accounting/ledger-row.ts';
import type { Store } from '../../src/core/store/store.ts';
import { openStore } from '../../src/store/open-store.ts';
import { type GatewayProcess, startGatewayProcess } from '../support/gateways/gateway-process.ts';
import { startPostgres } from '../support/servers/postgres.ts';
import { startRedis } from '../support/servers/redis.ts';
import { atMost, type Figure } from './promise.ts';
import { Spenders } from './support/clients/spenders.ts';
import { createRandom } from './support/random.ts';
import {
  type Books,
  compareAccounts,
  countOutcomes,
  joinBooks,
  readBooks,
  type StoreLocation,
  sumNanos,
} from './support/readings/books.ts';
import { MoneyScreen } from './support/readings/money-screen.ts';
import { type PaidUpstream, paidModels, startPaidUpstream } from './support/upstreams/paid-upstream.ts';

export interface MoneyStoryOptions {
  readonly seed: number;
  /** How long the load lasts; at least 8. */
  readonly seconds: number;
  /** What both nodes write to: a PostgreSQL beside each other's Redis, or one SQLite file on one machine. */
  readonly store: 'postgres' | 'sqlite';
  /** Prints events as they happen, and the chart at the end. */
  log(line: string): void;
}

const leastSeconds = 8;
const clientsANode = 20;
const restMs = 60;
/** When things happen, as shares of the whole. */
const schedule = { killed: 0.35, restarted: 0.45 } as const;
/** About what a second of the load costs where the machine keeps up: the budget is spent before the end. */
const budgetDollarsPerSecond = 0.07;
const nanosPerDollar = 1e9;

const limitPerMinute = 200;
const keys = [
  { id: 'web', secret: 'key-web-with-enough-characters' },
  { id: 'batch', secret: 'key-batch-with-enough-characters' },
  { id: 'trial', secret: 'key-trial-with-enough-characters', limits: { requests_per_minute: limitPerMinute } },
] as const;
const projectAccount = 'project/shop/total/1970-01-01';
const belongs: ReadonlyMap<string, (row: LedgerRow) => boolean> = new Map([
  [projectAccount, (row: LedgerRow) => row.project === 'shop'],
  ...keys.map(({ id }) => [`key/${id}/total/1970-01-01`, (row: LedgerRow) => row.key === id] as const),
]);

export async function playMoneyStory(options: MoneyStoryOptions): Promise<readonly Figure[]> {
  const { seconds } = options;
  if (!(seconds >= leastSeconds)) throw new RangeError(`the story takes ${leastSeconds} s at least`);
  const stack = new AsyncDisposableStack();
  try {
    return await run(options, stack);
  } finally {
    await stack.disposeAsync();
  }
}

async function run({ seed, seconds, store, log }: MoneyStoryOptions, stack: AsyncDisposableStack): Promise<Figure[]> {
  const random = createRandom(seed);
  const upstream = await startPaidUpstream(random);
  stack.defer(() => upstream.close());
  const location = await findLocation(store, stack);
  const amount = (seconds * budgetDollarsPerSecond).toFixed(2);
  const config = await toConfig(upstream, location.url, amount, stack);
  const directories =
    store === 'sqlite' ? [location.cwd, location.cwd] : await Promise.all([makeDirectory(stack), makeDirectory(stack)]);
  const nodes = directories.map((directory) => new GatewayNode(config, directory));
  const [a, b] = nodes;
  if (a === undefined || b === undefined) throw new Error('the story has two nodes');
  for (const node of nodes) {
    await node.start();
    stack.defer(() => node.stop());
  }

  const spanMs = seconds * 1_000;
  const budgetNanos = Number(amount) * nanosPerDollar;
  const secrets = keys.map(({ secret }) => secret);
  const [ofA, ofB] = nodes.map(
    () => new Spenders({ keys: secrets, random, count: clientsANode, restMs, leavingShare: 0.03 }),
  );
  if (ofA === undefined || ofB === undefined) throw new Error('both nodes have clients');
  const viewer = await openStore(location.url, { cwd: location.cwd });
  const closeViewer = once(() => viewer.close());
  stack.defer(closeViewer);
  const screen = new MoneyScreen({
    spanMs,
    log,
    budgetNanos,
    answers: [ofA.answers, ofB.answers],
    nodes: [
      { name: 'node a', has: (port) => a.ports.has(port) },
      { name: 'node b', has: (port) => b.ports.has(port) },
    ],
    spentNanos: () => spentOf(viewer),
  });
  ofA.start(() => a.port);
  // A load balancer sends nothing to an unreachable node.
  ofB.start(() => (b.isUp ? b.port : a.port));

  await screen.until(schedule.killed * spanMs);
  screen.mark('node b is killed: kill -9 in the middle of its work');
  await b.kill();
  await screen.until(schedule.restarted * spanMs);
  await b.start();
  screen.mark('node b is back');
  await screen.until(spanMs);
  await Promise.all([ofA.end(), ofB.end()]);
  await screen.end();
  await closeViewer();
  for (const node of nodes) await node.stop();

  const books = await readBooks(location, [...belongs.keys()]);
  const figures = judge({ books, upstream, ofA, ofB, budgetNanos });
  for (const line of toTable(books, upstream)) log(line);
  return figures.map((figure) => ({ ...figure, name: `${nameOf(store)}: ${figure.name}` }));
}

const nameOf = (store: MoneyStoryOptions['store']): string => (store === 'sqlite' ? 'SQLite' : 'PostgreSQL and Redis');

async function findLocation(store: MoneyStoryOptions['store'], stack: AsyncDisposableStack): Promise<StoreLocation> {
  const cwd = await makeDirectory(stack);
  if (store === 'sqlite') return { url: 'sqlite:postern.db', cwd };
  const postgres = await startPostgres({ after: (end) => stack.defer(end) });
  return { url: await postgres.createDatabase(), cwd };
}

async function makeDirectory(stack: AsyncDisposableStack): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'postern-money-'));
  stack.defer(() => rm(directory, { recursive: true, force: true }));
  return directory;
}

async function toConfig(upstream: PaidUpstream, store: string, amount: string, stack: AsyncDisposableStack) {
  const redis = await startRedis({
    after: (end) => stack.defer(() => end()),
    skip: (why) => {
      throw new Error(why);
    },
  });
  return {
    store,
    redis: redis?.url,
    upstreams: [{ id: 'up', family: 'openai', base_url: upstream.url, api_key: 'sk-upstream-key' }],
    models: paidModels('up'),
    projects: [{ id: 'shop', budgets: [{ every: 'total', amount }] }],
    keys: keys.map((key) => ({ ...key, project: 'shop', budgets: [{ every: 'total', amount: 1_000 }] })),
    server: { drain: { delay: '0s', deadline: '5s' } },
  };
}

/** One of the two, over all its lives. */
class GatewayNode {
  readonly ports = new Set<number>();
  readonly #config: Readonly<Record<string, unknown>>;
  readonly #directory: string;
  #gateway: GatewayProcess | undefined = undefined;

  constructor(config: Readonly<Record<string, unknown>>, directory: string) {
    this.#config = config;
    this.#directory = directory;
  }

  get isUp(): boolean {
    return this.#gateway !== undefined;
  }

  get port(): number {
    return this.#gateway?.port ?? 0;
  }

  async start(): Promise<void> {
    const gateway = await startGatewayProcess({
      config: this.#config,
      directory: this.#directory,
      readyTimeoutMs: 60_000,
    });
    this.ports.add(gateway.port);
    this.#gateway = gateway;
  }

  async kill(): Promise<void> {
    const gateway = this.#gateway;
    this.#gateway = undefined;
    gateway?.signal('SIGKILL');
    await gateway?.stop();
  }

  async stop(): Promise<void> {
    const gateway = this.#gateway;
    this.#gateway = undefined;
    const exit = await gateway?.stop();
    if (exit !== undefined && exit.code !== 0) throw new Error(`a node ended with ${exit.code}`);
  }
}

async function spentOf({ budgets }: Store): Promise<number> {
  return (await budgets.state(projectAccount))?.spentNanos ?? 0;
}

interface Ending {
  readonly books: Books;
  readonly upstream: PaidUpstream;
  readonly ofA: Spenders;
  readonly ofB: Spenders;
  readonly budgetNanos: number;
}

function judge({ books, upstream, ofA, ofB, budgetNanos }: Ending): Figure[] {
  const { charges } = upstream;
  const answers = [...ofA.answers, ...ofB.answers];
  const rows = [...books.rows.values()];
  const spentNanos = books.accounts.get(projectAccount)?.spentNanos ?? 0;
  const chargedNanos = [...charges.values()].reduce((sum, nanos) => sum + nanos, 0);
  const beyond = rows
    .filter(({ outcome }) => outcome !== 'ok')
    .map((row) => (row.costNanos ?? 0) - (charges.get(row.id) ?? 0));
  const beyondNanos = beyond.reduce((sum, nanos) => sum + nanos, 0);
  const gapNanos = spentNanos - chargedNanos - beyondNanos;
  const trialRows = rows.filter(({ key, outcome }) => key === 'trial' && outcome !== 'refused');
  const serverErrors = answers.filter(({ status }) => status >= 500);
  const refused = answers.filter(({ status }) => status === 429).length;
  return [
    {
      name: 'requests, and calls to the upstream',
      bar: 'some of each',
      measured: `${ofA.asked + ofB.asked}, ${upstream.calls} (${refused} refused by the limit or the budget)`,
      met: upstream.calls > 0,
    },
    ...joinBooks('', books, { charges, answers }).map((figure) => ({
      ...figure,
      name: figure.name.replace(/^: /, ''),
    })),
    compareAccounts('', books, belongs),
    {
      name: 'dollars that neither the upstream charged nor rows without an end explain',
      bar: '$0',
      measured: `${toDollars(gapNanos)}: spent ${toDollars(spentNanos)}, charged ${toDollars(chargedNanos)}, reserved or estimated beyond for those that were lost or left ${toDollars(beyondNanos)}`,
      met: gapNanos === 0,
      broken: gapNanos !== 0,
    },
    atMost(
      `nano-dollars spent beyond the budget of ${toDollars(budgetNanos)}`,
      Math.max(0, spentNanos - budgetNanos),
      0,
    ),
    {
      ...atMost('requests of the key with a limit that were let in, in all', trialRows.length, limitPerMinute),
      // Where Redis takes longer than its nodes wait, each lets through its share: twice the limit at most.
      broken: trialRows.length > 2 * limitPerMinute,
    },
    atMost(`answers that broke off, of ${clientsANode} clients of the node that was killed`, ofB.broken, clientsANode),
    {
      ...atMost(
        'answers that broke off on the other node, and answers of 500 and above',
        ofA.broken + serverErrors.length,
        0,
      ),
      // Money fails closed: a store that takes longer than requests wait for it, as on a busy machine, gets them a 503.
      broken: ofA.broken > 0 || serverErrors.some(({ status }) => status !== 503),
    },
  ].map((figure) => ({ ...figure, name: figure.name.replace(/^: /, '') }));
}

/** What a person would put side by side. */
function toTable(books: Books, { charges }: PaidUpstream): string[] {
  const counts = countOutcomes(books);
  const lines = Object.entries(counts).flatMap(([outcome, count]) => {
    if (count === 0) return [];
    const rows = [...books.rows.values()].filter((row) => row.outcome === outcome);
    const charged = rows.reduce((sum, { id }) => sum + (charges.get(id) ?? 0), 0);
    return toLine([outcome, String(count), toDollars(sumNanos(rows)), toDollars(charged)]);
  });
  const all = [...books.rows.values()];
  const charged = [...charges.values()].reduce((sum, nanos) => sum + nanos, 0);
  return [
    '',
    toLine(['outcome', 'rows', 'ledger', 'upstream']),
    ...lines,
    toLine(['all', String(all.length), toDollars(sumNanos(all)), toDollars(charged)]),
    toLine(['budget', '', toDollars(books.accounts.get(projectAccount)?.spentNanos ?? 0), '']),
    '',
  ];
}

const toLine = ([name = '', ...cells]: readonly string[]): string =>
  `  ${name.padEnd(10)}${cells.map((cell) => cell.padStart(16)).join('')}`.trimEnd();

/** To the nano-dollar. */
function toDollars(nanos: number): string {
  return `${nanos < 0 ? '-' : ''}$${(Math.abs(nanos) / nanosPerDollar).toFixed(9)}`;
}

function once(call: () => Promise<void>): () => Promise<void> {
  let done: Promise<void> | undefined;
  return () => (done ??= call());
}
