/**
 * Promise 7: with Redis hanging, loading or killed under load, every decision is immediate, rates fall to each node's share, and budgets are
 * unaffected.
 */

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { LedgerRow } from '../../src/core/accounting/ledger-row.ts';
import { toDollars } from '../../src/lib/money.ts';
import { type GatewayProcess, startGatewayProcess } from '../support/gateways/gateway-process.ts';
import { startOwnRedis } from '../support/servers/redis.ts';
import { startFakeUpstream } from '../support/upstreams/fake-upstream.ts';
import { type ChaosRig, definePromise, type Figure, type Scale, within } from './promise.ts';
import { type Answer, Caller, inWords } from './support/clients/caller.ts';
import { type Fault, redisFaults, type Victim } from './support/disturbances/redis-faults.ts';
import { compareAccounts, joinBooks, readBooks, type StoreLocation } from './support/readings/books.ts';
import { none } from './support/readings/findings.ts';
import { latencyOf } from './support/readings/latency.ts';

const nodeCount = 2;
const decisionMs = 50;
/** A node that was refused tries again two to four times a second, and a beat is two seconds: nor does it know sooner of another. */
const backWithinMs = 2_500;

interface Size {
  readonly rounds: number;
  readonly awayMs: number;
  /** Between one fault and the next. */
  readonly restMs: number;
}

const sizes: Readonly<Record<Scale, Size>> = {
  long: { rounds: 3, awayMs: 6_000, restMs: 5_000 },
  short: { rounds: 1, awayMs: 1_200, restMs: 600 },
};

/** Between two questions of a client that goes on asking; there is one of each kind at each node. */
const pauseMs = 25;
/** Asked of each node before Redis goes, while it is away (so often, so many at once), and when it is back. */
const asked = { before: 10, awayTimes: 4, away: 20, after: 10 };
const limit = 60;
const roomyLimit = 1_000_000;
const requestNanos = 100_000;
const worthRequests = 10;
const tightAtOnce = 30;
const warmUps = 50;
/** The store has no part in what is shown here. */
const slowStore = 'store_unavailable';
const path = '/v1/moderations';
const body = JSON.stringify({ model: 'm', input: 'a few words' });

const kinds = ['free', 'roomy', 'paid'] as const;
type Kind = (typeof kinds)[number];
const secretOf = (id: string): string => `${id}-key-with-enough-characters`;

export default definePromise({
  no: 7,
  title: 'Redis is killed, hangs, loads its data and comes back, under steady load',
  async run(rig) {
    const { t, scale, progress } = rig;
    const redis = await startOwnRedis(t, { args: ['--dbfilename', '0.rdb'] });
    if (redis === undefined) return [{ name: 'Redis', bar: 'measured', measured: 'not: there is none', met: false }];
    const size = sizes[scale];
    const stage = await setUp(rig, redis.url, size.rounds * redisFaults.length);
    const victim: Victim = { redis, file: 0 };
    const outages: Outage[] = [];
    await wait(backWithinMs);
    for (let round = 0; round < size.rounds; round += 1) {
      for (const fault of redisFaults) {
        progress(`round ${round + 1} of ${size.rounds}: ${fault.name}`);
        outages.push(await stage.suffer(fault, victim, size, outages.length));
        await wait(size.restMs);
      }
    }
    await stage.end();
    return [...toFigures(stage, outages), ...(await stage.compareBooks(outages.length))];
  },
});

async function setUp({ t }: ChaosRig, redis: string, outages: number): Promise<Stage> {
  const directory = await mkdtemp(join(tmpdir(), 'postern-redis-away-'));
  t.after(() => rm(directory, { recursive: true, force: true, maxRetries: 20 }));
  const charges = new Map<string, number>();
  const upstream = await startFakeUpstream((request, reply) => {
    const id = request.header('x-request-id') ?? '';
    charges.set(id, (charges.get(id) ?? 0) + requestNanos);
    return reply.json(200, { id: 'm', model: 'm', results: [{ flagged: false }] });
  });
  t.after(() => upstream.close());
  const location = { url: `sqlite:${join(directory, 'postern.db')}`, cwd: directory };
  const config = toConfig(redis, location.url, upstream.url, outages);
  const nodes = await Promise.all(
    Array.from({ length: nodeCount }, () => startGatewayProcess({ config, readyTimeoutMs: 60_000 })),
  );
  const stage = new Stage(nodes, new Caller(t), location, charges);
  await stage.warmUp();
  t.after(() => stage.end());
  return stage;
}

function toConfig(redis: string, store: string, upstream: string, outages: number): Readonly<Record<string, unknown>> {
  const worth = (requests: number) => [{ every: 'total', amount: toDollars(requests * requestNanos) }];
  const price = { request: toDollars(requestNanos) };
  return {
    redis,
    store,
    server: { drain: { delay: '0s', deadline: '5s' } },
    upstreams: [{ id: 'up', family: 'openai', base_url: upstream, api_key: 'sk-upstream-key' }],
    models: [{ id: 'm', operations: ['moderations'], price, targets: [{ upstream: 'up' }] }],
    keys: [
      { id: 'free' },
      { id: 'roomy', limits: { requests_per_minute: roomyLimit, concurrency: 1_000 } },
      { id: 'paid', budgets: worth(1_000_000) },
      ...Array.from({ length: outages }, (_, no) => ({ id: `limited-${no}`, limits: { requests_per_minute: limit } })),
      ...Array.from({ length: outages }, (_, no) => ({ id: `tight-${no}`, budgets: worth(worthRequests) })),
    ].map((key) => ({ ...key, secret: secretOf(key.id) })),
  };
}

/** What each node let through under the one limit. */
interface Outage {
  readonly name: string;
  readonly goneAtMs: number;
  readonly returnedAtMs: number;
  /** When all nodes counted together again; infinite where they did not. */
  readonly sharedAtMs: number;
  readonly before: readonly number[];
  readonly away: readonly number[];
  readonly after: readonly number[];
  /** Calls for the key that is worth ten. */
  readonly tight: number;
}

/** Three requests that left at the same time. */
interface Tick {
  readonly node: number;
  readonly answers: Readonly<Record<Kind, Answer>>;
}

class Stage {
  readonly ticks: Tick[] = [];
  /** Of the limited and the tight keys. */
  readonly others: Answer[] = [];
  readonly #nodes: readonly GatewayProcess[];
  readonly #caller: Caller;
  readonly #location: StoreLocation;
  readonly #charges: ReadonlyMap<string, number>;
  readonly #clients: readonly Promise<void>[];
  #isOver = false;

  constructor(
    nodes: readonly GatewayProcess[],
    caller: Caller,
    location: StoreLocation,
    charges: ReadonlyMap<string, number>,
  ) {
    this.#nodes = nodes;
    this.#caller = caller;
    this.#location = location;
    this.#charges = charges;
    this.#clients = nodes.map((_, node) => this.#keepCalling(node));
  }

  /** A process that has just been started does everything for the first time, and Redis seems late to it. */
  async warmUp(): Promise<void> {
    for (const kind of kinds) await this.#letThrough(kind, warmUps);
  }

  async suffer(fault: Fault, victim: Victim, size: Size, no: number): Promise<Outage> {
    await this.#shared(performance.now());
    await fault.prepare?.(victim);
    const ask = (count: number): Promise<number[]> => this.#letThrough(`limited-${no}`, count);
    const before = await ask(asked.before);

    const goneAtMs = performance.now();
    await fault.go(victim, size.awayMs);
    const away = this.#nodes.map(() => 0);
    const tight = this.#letThrough(`tight-${no}`, tightAtOnce);
    for (let time = 0; time < asked.awayTimes; time += 1) {
      for (const [node, count] of (await ask(asked.away)).entries()) away[node] = (away[node] ?? 0) + count;
      await wait(size.awayMs / asked.awayTimes);
    }
    const spent = (await tight).reduce((sum, count) => sum + count, 0);
    await fault.comeBack(victim);

    const returnedAtMs = performance.now();
    const sharedAtMs = await this.#shared(returnedAtMs);
    const after = await ask(asked.after);
    return { name: fault.name, goneAtMs, returnedAtMs, sharedAtMs, before, away, after, tight: spent };
  }

  async end(): Promise<void> {
    if (this.#isOver) return;
    this.#isOver = true;
    await Promise.all(this.#clients);
    for (const node of this.#nodes) {
      const { code } = await node.stop();
      if (code !== 0) throw new Error(`a node ended with ${code}:\n${node.stdout().slice(-2_000)}${node.stderr()}`);
    }
  }

  async compareBooks(outages: number): Promise<Figure[]> {
    const keys = ['paid', ...Array.from({ length: outages }, (_, no) => `tight-${no}`)];
    const belongs = new Map(
      keys.map((key) => [`key/${key}/total/1970-01-01`, (row: LedgerRow) => row.key === key] as const),
    );
    const books = await readBooks(this.#location, [...belongs.keys()]);
    const answers = [...this.ticks.flatMap((tick) => kinds.map((kind) => tick.answers[kind])), ...this.others];
    return [
      ...joinBooks('the ledger', books, { charges: this.#charges, answers }),
      compareAccounts('the ledger', books, belongs),
    ];
  }

  /** How many of so many, at each node. */
  async #letThrough(key: string, count: number): Promise<number[]> {
    return Promise.all(
      this.#nodes.map(async ({ port }) => {
        const question = { port, key: secretOf(key), path, body };
        const answers = await this.#caller.askAll(Array.from({ length: count }, () => question));
        this.others.push(...answers);
        return answers.filter(({ status }) => status === 200).length;
      }),
    );
  }

  async #keepCalling(node: number): Promise<void> {
    const port = this.#nodes[node]?.port ?? 0;
    const ask = (kind: Kind) => this.#caller.ask({ port, key: secretOf(kind), path, body });
    while (!this.#isOver) {
      const [free, roomy, paid] = await Promise.all([ask('free'), ask('roomy'), ask('paid')]);
      this.ticks.push({ node, answers: { free, roomy, paid } });
      await wait(pauseMs);
    }
  }

  /** When each node first showed the whole limit, of what was asked since then. */
  async #shared(sinceMs: number): Promise<number> {
    const deadlineMs = performance.now() + 8 * backWithinMs;
    for (;;) {
      const firstAtMs = this.#nodes.map((_, node) => {
        const first = this.ticks.find(
          ({ node: by, answers }) =>
            by === node && answers.roomy.sentAtMs >= sinceMs && answers.roomy.limit === roomyLimit,
        );
        return first === undefined
          ? Number.POSITIVE_INFINITY
          : first.answers.roomy.sentAtMs + first.answers.roomy.tookMs;
      });
      const latestMs = Math.max(...firstAtMs);
      if (Number.isFinite(latestMs) || performance.now() > deadlineMs) return latestMs;
      await wait(pauseMs);
    }
  }
}

const sumOf = (counts: readonly number[]): number => counts.reduce((sum, count) => sum + count, 0);

function toFigures({ ticks, others }: Stage, outages: readonly Outage[]): Figure[] {
  const isAway = (atMs: number, graceMs = 0): boolean =>
    outages.some(({ goneAtMs, sharedAtMs }) => atMs >= goneAtMs - graceMs && atMs <= sharedAtMs + graceMs);
  const away = ticks.filter(({ answers }) => isAway(answers.free.sentAtMs));
  const there = ticks.filter(({ answers }) => !isAway(answers.free.sentAtMs, 300));
  const late = there.filter(({ answers }) => answers.roomy.limit !== roomyLimit).length;
  const steady = ticks.flatMap(({ answers }) => kinds.map((kind) => answers[kind]));
  const failed = steady.filter(({ status, code }) => status !== 200 && code !== slowStore);
  const codes: readonly unknown[] = ['rate_limit_exceeded', 'budget_exceeded', slowStore];
  const wrong = others.filter(({ status, code }) => status !== 200 && !codes.includes(code));
  const withoutStore = [...steady, ...others].filter(({ code }) => code === slowStore).length;
  return [
    ...redisFaults.flatMap(({ name }) =>
      toRates(
        name,
        outages.filter((outage) => outage.name === name),
      ),
    ),
    none(
      'requests within their limits and budgets that were not answered with 200',
      failed.map(inWords),
      `of ${3 * ticks.length}, ${3 * away.length} of them with Redis away`,
    ),
    none('other requests that were answered otherwise than with 200 or 429', wrong.map(inWords), `of ${others.length}`),
    {
      name: 'refused with 503 because the store took longer than a second for a budget',
      bar: '0, on a machine of its own',
      measured: String(withoutStore),
      met: withoutStore === 0,
    },
    ...toDelays('a limit', away, there, 'roomy'),
    ...toDelays('a budget', away, there, 'paid'),
    {
      name: 'decided by a node alone although Redis was there: late, for its 30 ms',
      bar: '0, on a machine of its own',
      measured: `${late} of ${there.length}`,
      met: late === 0,
    },
  ];
}

function toRates(name: string, outages: readonly Outage[]): Figure[] {
  const share = Math.floor(limit / nodeCount);
  const passed = outages.flatMap(({ before, away }) =>
    away.map((count, node) => ({ before: before[node] ?? 0, away: count })),
  );
  const overShare = Math.max(...passed.map((one) => one.before + one.away - Math.max(share, one.before)));
  const overAfter = Math.max(
    ...outages.map(({ before, away, after }) => sumOf(after) - Math.max(0, limit - sumOf(before) - sumOf(away))),
  );
  const most = passed.toSorted((a, b) => b.before + b.away - a.before - a.away)[0];
  const tight = outages.map((outage) => outage.tight);
  const times = outages.length === 1 ? '' : `, in ${outages.length} times`;
  return [
    {
      name: `${name}: let through by a node of ${nodeCount}, with ${limit} for all, before and while Redis was away${times}`,
      bar: `at most ${share}`,
      measured: `at most ${most?.before} + ${most?.away}`,
      met: overShare <= 0,
      broken: overShare > 0,
    },
    {
      name: `${name}: let through beyond the limit when Redis was back, of ${nodeCount * asked.after} more`,
      bar: '0',
      measured: String(Math.max(0, overAfter)),
      met: overAfter <= 0,
      broken: overAfter > 0,
    },
    within(
      `${name}: until all count together again, at most`,
      Math.max(...outages.map(({ returnedAtMs, sharedAtMs }) => sharedAtMs - returnedAtMs)),
      backWithinMs,
    ),
    {
      name: `${name}: calls meanwhile for a key that is worth ${worthRequests}, of ${nodeCount * tightAtOnce} at once`,
      bar: String(worthRequests),
      measured: [...new Set(tight)].join(', '),
      met: tight.every((calls) => calls === worthRequests),
      broken: tight.some((calls) => calls > worthRequests),
    },
  ];
}

/** Beside a request that left at the same time, of a key without caps. */
function toDelays(what: string, away: readonly Tick[], there: readonly Tick[], kind: Kind): Figure[] {
  const addedMs = (ticks: readonly Tick[]): number[] =>
    ticks.map(({ answers }) => Math.max(0, answers[kind].tookMs - answers.free.tookMs));
  const { p50Ms, p99Ms, maxMs } = latencyOf(addedMs(away));
  const usual = latencyOf(addedMs(there));
  const shown = (ms: number): string => ms.toFixed(1);
  return [
    within(
      `added by ${what} with Redis away, at most (p50 ${shown(p50Ms)}, p99 ${shown(p99Ms)}; with Redis there ${shown(usual.p50Ms)}, ${shown(usual.p99Ms)}, at most ${shown(usual.maxMs)})`,
      maxMs,
      decisionMs,
    ),
  ];
}
