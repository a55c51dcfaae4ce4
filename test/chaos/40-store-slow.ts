/** Promise 40: with a store that is slow, then unreachable, no request with budget left is refused for it, and no budget is overdrawn. */

import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { LedgerRow } from '../../src/core/accounting/ledger-row.ts';
import { toDollars } from '../../src/lib/money.ts';
import { type GatewayProcess, startGatewayProcess } from '../support/gateways/gateway-process.ts';
import { startPostgres, whyNoPostgres } from '../support/servers/postgres.ts';
import { startFakeUpstream } from '../support/upstreams/fake-upstream.ts';
import { atMost, type ChaosRig, definePromise, type Figure, type Scale, within } from './promise.ts';
import { type Answer, Caller, inWords, type Question } from './support/clients/caller.ts';
import { type ChaosProxy, startChaosProxy } from './support/disturbances/chaos-proxy.ts';
import { createRandom } from './support/random.ts';
import {
  compareAccounts,
  joinBooks,
  readBooks,
  type StoreLocation,
  sumNanos,
  withStore,
} from './support/readings/books.ts';
import { none } from './support/readings/findings.ts';
import { readMetric } from './support/readings/metric.ts';

const nodeCount = 2;
const roomyKeys = 8;
/** Of the budget of a roomy key, a request takes so small a part. */
const roomyWorth = 100_000;
const tightWorth = 10;
const requestNanos = 100_000;
const pauseMs = 40;
const importedWithinMs = 20_000;

interface Size {
  readonly calmMs: number;
  /** A draw is some six questions and answers, each later by this. */
  readonly slow: readonly { readonly delayMs: number; readonly forMs: number }[];
  readonly awayMs: number;
}

const sizes: Readonly<Record<Scale, Size>> = {
  short: {
    calmMs: 5_000,
    slow: [
      { delayMs: 50, forMs: 2_000 },
      { delayMs: 160, forMs: 3_000 },
    ],
    awayMs: 6_000,
  },
  long: {
    calmMs: 5_000,
    slow: [15, 50, 100, 160, 300].map((delayMs) => ({ delayMs, forMs: 15_000 })),
    awayMs: 300_000,
  },
};

const body = JSON.stringify({ model: 'm', input: 'a few words' });
const secretOf = (id: string): string => `${id}-key-with-enough-characters`;

export default definePromise({
  no: 40,
  title: `the store is slow, then unreachable, while ${nodeCount} nodes serve keys with nearly unused budgets`,
  async run(rig) {
    if (whyNoPostgres !== false) {
      return [{ name: 'PostgreSQL', bar: 'measured', measured: `left out: it ${whyNoPostgres}`, met: false }];
    }
    const stage = await setUp(rig);
    const { slow, awayMs, calmMs } = sizes[rig.scale];
    rig.progress('all is well');
    await stage.inUse();
    await wait(calmMs);
    const figures: Figure[] = stage.toFigures('all is well').slice(1);
    for (const { delayMs, forMs } of slow) {
      rig.progress(`answers are later by ${delayMs} ms`);
      stage.proxy.behave({ toClient: { delayMs } }, { open: true });
      await wait(forMs);
      figures.push(...stage.toFigures(`each answer of PostgreSQL later by ${delayMs} ms`));
    }
    rig.progress(`away for ${awayMs / 1_000} s`);
    stage.proxy.behave({ toServer: { ends: 'stall' }, toClient: { ends: 'stall' } }, { open: true });
    await wait(awayMs);
    figures.push(...stage.toFigures(`away for ${awayMs / 1_000} s`));
    await stage.proxy.goDown();
    stage.proxy.behave({});
    await stage.proxy.comeUp();
    await wait(calmMs);
    figures.push(...stage.toFigures('back'));
    return [...figures, ...(await stage.end())];
  },
});

async function setUp(rig: ChaosRig): Promise<Stage> {
  const { t, seed } = rig;
  const directory = await mkdtemp(join(tmpdir(), 'postern-slow-store-'));
  t.after(() => rm(directory, { recursive: true, force: true, maxRetries: 20 }));
  const url = await (await startPostgres(t)).createDatabase();
  const proxy = await startChaosProxy(t, Number(new URL(url).port));
  const proxied = new URL(url);
  proxied.port = String(proxy.port);
  const charges = new Map<string, number>();
  const upstream = await startFakeUpstream((request, reply) => {
    // The gateway's own requests are free: it reads the list of models.
    if (request.method === 'GET') return reply.json(404, { error: { message: 'no list is here' } });
    const id = request.header('x-request-id') ?? `${request.path} without an ID`;
    charges.set(id, (charges.get(id) ?? 0) + requestNanos);
    return reply.json(200, { id: 'm', model: 'm', results: [{ flagged: false }] });
  });
  t.after(() => upstream.close());
  const config = toConfig(proxied.href, upstream.url);
  const nodes = await Promise.all(
    Array.from({ length: nodeCount }, async (_, index) => {
      const home = join(directory, String(index));
      await mkdir(home);
      return startGatewayProcess({ config, directory: home, readyTimeoutMs: 60_000 });
    }),
  );
  t.after(() => Promise.all(nodes.map((node) => node.stop())));
  const location = { url, cwd: join(directory, '0') };
  return new Stage({ nodes, proxy, charges, location, caller: new Caller(t), random: createRandom(seed) });
}

function toConfig(store: string, upstream: string): Readonly<Record<string, unknown>> {
  const key = (id: string, worth: number) => ({
    id,
    secret: secretOf(id),
    budgets: [{ every: 'total', amount: toDollars(worth * requestNanos) }],
  });
  return {
    store,
    server: { drain: { delay: '0s', deadline: '5s' } },
    upstreams: [{ id: 'up', family: 'openai', base_url: upstream, api_key: 'sk-upstream-key' }],
    models: [{ id: 'm', operations: ['moderations'], price: { request: 0.0001 }, targets: [{ upstream: 'up' }] }],
    keys: [...Array.from({ length: roomyKeys }, (_, at) => key(`roomy-${at}`, roomyWorth)), key('tight', tightWorth)],
  };
}

interface StageParts {
  readonly nodes: readonly GatewayProcess[];
  readonly proxy: ChaosProxy;
  readonly charges: ReadonlyMap<string, number>;
  readonly location: StoreLocation;
  readonly caller: Caller;
  readonly random: () => number;
}

class Stage {
  readonly proxy: ChaosProxy;
  readonly #parts: StageParts;
  readonly #clients: readonly Promise<void>[];
  readonly #all: Answer[] = [];
  /** Since the last figures. */
  #roomy: Answer[] = [];
  #tightServed = 0;
  #isOver = false;

  constructor(parts: StageParts) {
    this.#parts = parts;
    this.proxy = parts.proxy;
    this.#clients = parts.nodes.flatMap(({ port }) => [
      ...Array.from({ length: roomyKeys }, (_, at) => this.#keepCalling(port, `roomy-${at}`, 1)),
      this.#keepCalling(port, 'tight', 10),
    ]);
  }

  /** Every budget is held at every node; a process that has just been started does everything for the first time. */
  async inUse(): Promise<void> {
    const ids = Array.from({ length: roomyKeys }, (_, at) => `key/roomy-${at}/total/1970-01-01`);
    await withStore(this.#parts.location, async ({ budgets }) => {
      for (;;) {
        const states = await budgets.states(ids);
        const held = ids.map((id) => states.get(id)).filter((state) => state?.holdingNodes === nodeCount);
        if (held.length === ids.length) return;
        await wait(pauseMs);
      }
    });
  }

  toFigures(when: string): Figure[] {
    const answers = this.#roomy;
    this.#roomy = [];
    const refused = answers.filter(({ code }) => code === 'store_unavailable');
    const others = answers.filter(({ status, code }) => status !== 200 && code !== 'store_unavailable');
    const slowestMs = Math.max(0, ...answers.map(({ tookMs }) => tookMs));
    const basis = `of ${answers.length}, the slowest ${Math.round(slowestMs)} ms`;
    return [
      none(`${when}: refused for the store's sake, with a budget nearly untouched`, refused.map(inWords), basis),
      none(`${when}: other answers than 200`, others.map(inWords), `of ${answers.length}`),
    ];
  }

  async end(): Promise<Figure[]> {
    const { nodes, location, charges } = this.#parts;
    this.#isOver = true;
    await Promise.all(this.#clients);
    const importedMs = await this.#timeUntilImported();
    for (const node of nodes) {
      const { code } = await node.stop();
      if (code !== 0) throw new Error(`a node ended with ${code}:\n${node.stdout().slice(-2_000)}${node.stderr()}`);
    }
    const ids = [...Array.from({ length: roomyKeys }, (_, at) => `roomy-${at}`), 'tight'];
    const belongs = new Map(
      ids.map((key) => [`key/${key}/total/1970-01-01`, (row: LedgerRow) => row.key === key] as const),
    );
    const books = await readBooks(location, [...belongs.keys()]);
    const overdrawn = ids.filter((key) => {
      const worth = key === 'tight' ? tightWorth : roomyWorth;
      return sumNanos(books.rows.values(), (row) => row.key === key) > worth * requestNanos;
    });
    return [
      within('back: from the last answer on, every row is in the store within', importedMs, importedWithinMs),
      none('budgets that were overdrawn', overdrawn, `of ${ids.length}`),
      atMost(`calls for a key that is worth ${tightWorth}`, this.#tightServed, tightWorth),
      ...joinBooks('the ledger', books, { charges, answers: this.#all }),
      compareAccounts('the ledger', books, belongs),
    ];
  }

  /** A node that is stopped takes no longer than its deadline: what is left then is for the next start. */
  async #timeUntilImported(): Promise<number> {
    const sinceMs = performance.now();
    for (const node of this.#parts.nodes) {
      while ((await readMetric(node, 'postern_journal_waiting_rows')) > 0) {
        if (performance.now() - sinceMs > 5 * importedWithinMs) return Number.POSITIVE_INFINITY;
        await wait(pauseMs);
      }
    }
    return performance.now() - sinceMs;
  }

  async #keepCalling(port: number, key: string, pauses: number): Promise<void> {
    const { caller, random } = this.#parts;
    const question: Question = { port, key: secretOf(key), path: '/v1/moderations', body };
    while (!this.#isOver) {
      const answer = await caller.ask(question);
      this.#all.push(answer);
      if (key !== 'tight') this.#roomy.push(answer);
      else if (answer.status === 200) this.#tightServed += 1;
      await wait(2 * random() * pauseMs * pauses);
    }
  }
}
