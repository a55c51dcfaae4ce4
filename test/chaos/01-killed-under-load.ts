/** Promise 1: kill -9 at any moment under load, repeatedly: the ledger has every call that the upstream saw, exactly once. */

import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { LedgerRow } from '../../src/core/accounting/ledger-row.ts';
import { type GatewayProcess, startGatewayProcess } from '../support/gateways/gateway-process.ts';
import { startPostgres } from '../support/servers/postgres.ts';
import { atMost, type ChaosRig, definePromise, type Figure, type Scale, within } from './promise.ts';
import { Spenders } from './support/clients/spenders.ts';
import { createRandom } from './support/random.ts';
import {
  compareAccounts,
  countOutcomes,
  joinBooks,
  readBooks,
  readRows,
  type StoreLocation,
  startedAtMs,
  withStore,
} from './support/readings/books.ts';
import { type PaidUpstream, paidModelIds, paidModels, startPaidUpstream } from './support/upstreams/paid-upstream.ts';

interface Scene {
  readonly name: string;
  readonly store: 'sqlite' | 'postgres';
  readonly kills: Readonly<Record<Scale, number>>;
  readonly config: Readonly<Record<string, unknown>>;
  readonly server?: Readonly<Record<string, unknown>>;
  /** One of several workers is killed, and the others go on. */
  readonly ofWorkers?: boolean;
}

const scenes: readonly Scene[] = [
  { name: 'SQLite', store: 'sqlite', kills: { long: 85, short: 2 }, config: {} },
  { name: 'PostgreSQL', store: 'postgres', kills: { long: 85, short: 1 }, config: {} },
  {
    name: 'SQLite, strict',
    store: 'sqlite',
    kills: { long: 20, short: 0 },
    config: { ledger: { durability: 'strict' } },
  },
  {
    name: 'SQLite, one of two workers',
    store: 'sqlite',
    kills: { long: 10, short: 1 },
    config: {},
    server: { workers: 2 },
    ofWorkers: true,
  },
];

const clients = 16;
const leavingShare = 0.05;
const longestLoadMs = 700;
const longestStartMs = 700;
/** How the rounds are shared out: killed while it starts; killed before anyone looked; looked at first. */
const shares = { starting: 0.15, early: 0.25 };
const resolvedWithinMs = 60_000;
const lookEveryMs = 40;
const answeredWithinMs = 20_000;
const keys = [
  { id: 'one', secret: 'key-one-with-enough-characters' },
  { id: 'two', secret: 'key-two-with-enough-characters' },
] as const;
const budgets = [{ every: 'total', amount: 100_000 }];
const isMine: ReadonlyMap<string, (row: LedgerRow) => boolean> = new Map([
  ...keys.map(({ id }) => [`key/${id}/total/1970-01-01`, (row: LedgerRow) => row.key === id] as const),
  ['project/all/total/1970-01-01', (row) => row.project === 'all'],
  ...paidModelIds.map((id) => [`model/${id}/total/1970-01-01`, (row: LedgerRow) => row.model === id] as const),
  ['upstream/up/total/1970-01-01', (row) => row.upstream === 'up'],
]);

export default definePromise({
  no: 1,
  title: 'kill -9 at random under load; then the ledger is compared with what the upstream recorded',
  async run(rig) {
    const figures: Figure[] = [];
    for (const scene of scenes) if (scene.kills[rig.scale] > 0) figures.push(...(await play(rig, scene)));
    return figures;
  },
});

async function play(rig: ChaosRig, scene: Scene): Promise<Figure[]> {
  const stage = await setUp(rig, scene);
  const kills = scene.kills[rig.scale];
  for (let round = 1; round <= kills; round += 1) {
    rig.progress(`${scene.name}: kill ${round} of ${kills}, ${stage.upstream.calls} calls`);
    await (scene.ofWorkers === true ? stage.killWorker() : stage.killOnce(round === kills));
  }
  await stage.end();
  const { upstream, spenders, location, resolved } = stage;
  const books = await readBooks(location, [...isMine.keys()]);
  const { lost, aborted } = countOutcomes(books);
  const slowestMs = Math.max(0, ...resolved);
  const unresolved = [...upstream.charges.keys()].filter((id) => !books.rows.has(id)).length;
  return [
    {
      name: `${scene.name}: kills, and calls to the upstream`,
      bar: 'some of each',
      measured: `${kills}, ${upstream.calls} (${spenders.answers.length} whole answers; rows: ${books.rows.size}, of these ${lost} lost, ${aborted} aborted)`,
      met: upstream.calls > kills && spenders.answers.length > kills,
    },
    atMost(`${scene.name}: requests that got neither an answer nor an end`, spenders.late, 0),
    ...joinBooks(scene.name, books, { charges: upstream.charges, answers: spenders.answers }),
    unresolved === 0
      ? within(
          `${scene.name}: what a killed process left open has its row, after the restart, at most`,
          slowestMs,
          resolvedWithinMs,
        )
      : {
          name: `${scene.name}: what a killed process left open has its row`,
          bar: 'all',
          measured: `${unresolved} never`,
          met: false,
          broken: true,
        },
    compareAccounts(scene.name, books, isMine),
  ];
}

async function setUp({ t, seed }: ChaosRig, scene: Scene): Promise<Stage> {
  const random = createRandom(seed);
  const upstream = await startPaidUpstream(random);
  t.after(() => upstream.close());
  const directory = await mkdtemp(join(tmpdir(), 'postern-killed-'));
  t.after(() => rm(directory, { recursive: true, force: true, maxRetries: 20 }));
  const url = scene.store === 'sqlite' ? 'sqlite:postern.db' : await (await startPostgres(t)).createDatabase();
  const config = {
    store: url,
    upstreams: [{ id: 'up', family: 'openai', base_url: upstream.url, api_key: 'sk-upstream-key', budgets }],
    models: paidModels('up').map((model) => ({ ...model, budgets })),
    projects: [{ id: 'all', budgets }],
    keys: keys.map((key) => ({ ...key, project: 'all', budgets })),
    ...scene.config,
    server: { drain: { delay: '0s', deadline: '5s' }, ...scene.server },
  };
  const stage = new Stage(upstream, { url, cwd: directory }, config, random);
  t.after(() => stage.end());
  return stage;
}

class Stage {
  readonly upstream: PaidUpstream;
  readonly location: StoreLocation;
  readonly spenders: Spenders;
  /** How long after the restart everything of the time before had its row, each time that it was looked at. */
  readonly resolved: number[] = [];
  readonly #config: Readonly<Record<string, unknown>>;
  readonly #random: () => number;
  #gateway: GatewayProcess | undefined = undefined;
  /** Calls that are known to have their rows. */
  readonly #settled = new Set<string>();

  constructor(
    upstream: PaidUpstream,
    location: StoreLocation,
    config: Readonly<Record<string, unknown>>,
    random: () => number,
  ) {
    this.upstream = upstream;
    this.location = location;
    this.#config = config;
    this.#random = random;
    this.spenders = new Spenders({ keys: keys.map(({ secret }) => secret), random, count: clients, leavingShare });
  }

  /** Starts it, lets it work for a while and kills it. */
  async killOnce(isLast: boolean): Promise<void> {
    const drawn = this.#random();
    if (!isLast && drawn < shares.starting) return this.#killStarting();
    const open = this.#openCalls();
    const startedMs = performance.now();
    const gateway = await this.#start();
    this.spenders.start(() => gateway.port);
    if (isLast || drawn >= shares.starting + shares.early) await this.#resolve(open, startedMs);
    // However slow the machine, one of the rounds at least has whole answers to compare.
    if (isLast) await this.#answered();
    await wait(this.#random() * longestLoadMs);
    process.kill(gateway.pid, 'SIGKILL');
    await this.spenders.end();
    await this.#forget(gateway);
  }

  async #answered(): Promise<void> {
    const before = this.spenders.answers.length;
    const deadlineMs = performance.now() + answeredWithinMs;
    while (this.spenders.answers.length < before + clients && performance.now() < deadlineMs) await wait(lookEveryMs);
  }

  /** The first process stays; a killed worker is replaced. */
  async killWorker(): Promise<void> {
    this.#gateway ??= await this.#start();
    const gateway = this.#gateway;
    this.spenders.start(() => gateway.port);
    await this.#answered();
    await wait(200 + this.#random() * longestLoadMs);
    const workers = await readyWorkersOf(gateway);
    process.kill(workers[Math.floor(this.#random() * workers.length)] ?? Number.NaN, 'SIGKILL');
    const killedMs = performance.now();
    const open = this.#openCalls();
    await wait(this.#random() * longestLoadMs);
    await this.spenders.end();
    await this.#resolve(open, killedMs);
  }

  async end(): Promise<void> {
    await this.spenders.end();
    // Everything that is left open is resolved by one more start, and an orderly end brings the rest into the store.
    const gateway = this.#gateway ?? (await this.#start());
    this.end = async () => undefined;
    const startedMs = performance.now();
    await this.#resolve(this.#openCalls(), startedMs);
    const { code } = await gateway.stop();
    if (code !== 0)
      throw new Error(`the last gateway ended with ${code}:\n${gateway.stdout().slice(-3_000)}${gateway.stderr()}`);
  }

  async #killStarting(): Promise<void> {
    let isKilled = false;
    let pid = 0;
    const delayMs = this.#random() * longestStartMs;
    const kill = (): void => {
      isKilled = true;
      process.kill(pid, 'SIGKILL');
    };
    try {
      const gateway = await this.#start((spawned) => {
        pid = spawned;
        setTimeout(kill, delayMs);
      });
      await gateway.exited;
      await this.#forget(gateway);
    } catch (error) {
      if (!isKilled) throw error;
    }
  }

  #start(onSpawned: (pid: number) => void = () => undefined): Promise<GatewayProcess> {
    return startGatewayProcess({
      config: this.#config,
      directory: this.location.cwd,
      readyTimeoutMs: 60_000,
      onSpawned,
    });
  }

  async #forget(gateway: GatewayProcess): Promise<void> {
    const { signal, code } = await gateway.stop();
    if (signal !== 'SIGKILL') throw new Error(`it ended by itself, with ${code}:\n${gateway.stderr()}`);
  }

  #openCalls(): string[] {
    return [...this.upstream.charges.keys()].filter((id) => !this.#settled.has(id));
  }

  /** Polls until all of them have their rows. */
  async #resolve(open: readonly string[], sinceMs: number): Promise<void> {
    const missing = new Set(open);
    if (missing.size === 0) return;
    const fromMs = Math.min(...open.map(startedAtMs));
    await withStore(this.location, async (store) => {
      while (missing.size > 0 && performance.now() - sinceMs < resolvedWithinMs * 1.5) {
        for (const id of (await readRows(store, fromMs)).keys()) {
          if (missing.delete(id)) this.#settled.add(id);
        }
        if (missing.size > 0) await wait(lookEveryMs);
      }
    });
    this.resolved.push(performance.now() - sinceMs);
  }
}

/** Both of them: while one still starts, the other is left alone, so that someone serves at any time. */
async function readyWorkersOf(gateway: GatewayProcess): Promise<readonly number[]> {
  for (;;) {
    const children = await readFile(`/proc/${gateway.pid}/task/${gateway.pid}/children`, 'utf8');
    const alive = new Set(children.trim().split(/\s+/).map(Number));
    const ready = gateway.log().flatMap(({ msg, pid }) => (msg === 'worker is ready' ? Number(pid) : []));
    const serving = ready.filter((pid) => alive.has(pid));
    if (serving.length === 2) return serving;
    await wait(lookEveryMs);
  }
}
