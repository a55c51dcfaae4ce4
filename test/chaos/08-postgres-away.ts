/**
 * Promise 8: with PostgreSQL killed, hanging, out of connections or cut off, known keys work, no valid key is refused as invalid, and nothing is
 * lost.
 */

import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { LedgerRow } from '../../src/core/accounting/ledger-row.ts';
import type { Store } from '../../src/core/store/store.ts';
import { nanosPerDollar } from '../../src/lib/money.ts';
import { createSecret } from '../../src/lib/secrets/key-secret.ts';
import { openStore } from '../../src/store/open-store.ts';
import { type GatewayProcess, startGatewayProcess } from '../support/gateways/gateway-process.ts';
import { type Postgres, startPostgres, whyNoOwnPostgres } from '../support/servers/postgres.ts';
import { type ChaosRig, definePromise, type Figure, within } from './promise.ts';
import { type Answer, Caller, inWords } from './support/clients/caller.ts';
import { Spenders } from './support/clients/spenders.ts';
import { createCommandLine } from './support/command-line.ts';
import { startChaosProxy } from './support/disturbances/chaos-proxy.ts';
import { createOutages, type Outage } from './support/disturbances/postgres-outages.ts';
import { checkAlive, startWithoutStore } from './support/disturbances/without-store.ts';
import { createRandom } from './support/random.ts';
import { compareAccounts, joinBooks, readBooks, readRows, startedAtMs, sumNanos } from './support/readings/books.ts';
import { none } from './support/readings/findings.ts';
import { type PaidUpstream, paidModels, startPaidUpstream } from './support/upstreams/paid-upstream.ts';

/** The promise is ten minutes, which is how long a key is remembered; the long form takes two of most kinds. */
const outageMs = { long: 120_000, short: 2_500 };
const cutOffMs = { long: 30_000, short: 2_500 };
const calmMs = { long: 5_000, short: 500 };
const nodeCount = 2;
const clients = 6;
const restMs = 25;
const probeEveryMs = 250;
/** Both nodes, their importers and the test fit in; not much else does. */
const connections = 80;
const checkNanos = 100_000;
const budgetRequests = 60;
const budgetNanos = budgetRequests * checkNanos;
const backWithinMs = 3_000;
const revokedWithinMs = 2_000;
/** A statement that was running when nodes were cut off is given up after 30 s; until then its rows wait. */
const importedWithinMs = { usual: 20_000, cutOff: 40_000 };
const rssBarBytes = 64 * 1024 * 1024;
const patienceMs = 60_000;

export default definePromise({
  no: 8,
  title: `PostgreSQL is killed, hangs, has no connections left or is cut off, while ${nodeCount} nodes serve requests`,
  async run(rig) {
    if (whyNoOwnPostgres !== false) {
      return [{ name: 'PostgreSQL', bar: 'measured', measured: `left out: it ${whyNoOwnPostgres}`, met: false }];
    }
    const directory = await mkdtemp(join(tmpdir(), 'postern-away-'));
    const ends: (() => unknown)[] = [() => rm(directory, { recursive: true, force: true })];
    try {
      return await play(rig, directory, ends);
    } finally {
      for (const end of ends.reverse()) await end();
    }
  },
});

async function play(rig: ChaosRig, directory: string, ends: (() => unknown)[]): Promise<Figure[]> {
  const starting = startWithoutStore(directory);
  const server = await startPostgres(rig.t, {
    isOwn: true,
    settings: {
      max_connections: String(connections),
      superuser_reserved_connections: '0',
      // The proxy opens a connection here for each that is tried while nodes are cut off, which no network would.
      authentication_timeout: '2s',
    },
  });
  const setup = await setUp(rig, server, directory, ends);
  const figures: Figure[] = [];
  for (const outage of setup.outages) figures.push(...(await goThrough(rig, setup, outage)));
  await setup.spenders.end();
  figures.push(...(await closeBooks(setup)));
  figures.push(...(await starting));
  return figures;
}

interface Key {
  readonly id: string;
  readonly secret: string;
}

interface Setup {
  readonly nodes: readonly GatewayProcess[];
  readonly upstream: PaidUpstream;
  readonly outages: readonly Outage[];
  readonly spenders: Spenders;
  readonly caller: Caller;
  /** Not by way of the proxy. */
  readonly store: Store;
  readonly location: { readonly url: string; readonly cwd: string };
  readonly budgeted: Key[];
  /** Of single requests, for any key. */
  readonly answers: Answer[];
  createKey(...options: string[]): Promise<Key>;
}

async function setUp(rig: ChaosRig, server: Postgres, directory: string, ends: (() => unknown)[]): Promise<Setup> {
  const random = createRandom(rig.seed);
  const upstream = await startPaidUpstream(random);
  ends.push(() => upstream.close());
  const url = await server.createDatabase();
  const proxy = await startChaosProxy(rig.t, Number(new URL(url).port));
  ends.push(() => proxy.goDown());
  const proxied = new URL(url);
  proxied.port = String(proxy.port);

  const config = {
    store: proxied.href,
    upstreams: [{ id: 'up', family: 'openai', base_url: upstream.url, api_key: 'sk-upstream-key' }],
    models: paidModels('up'),
    keys: [],
  };
  await writeFile(join(directory, 'postern.json'), JSON.stringify({ ...config, store: url }));
  const command = createCommandLine({ cwd: directory });
  async function createKey(...options: string[]): Promise<Key> {
    const { code, output, errors } = await command(
      ...['keys', 'create', '--json', '--config', 'postern.json', '--name', 'chaos', ...options],
    );
    if (code !== 0) throw new Error(`keys create: ${errors}`);
    const key: Key = JSON.parse(output);
    return key;
  }
  const known = [await createKey(), await createKey()];

  const directories = Array.from({ length: nodeCount }, (_, n) => join(directory, `node-${n}`));
  await Promise.all(directories.map((location) => mkdir(location)));
  const nodes = await Promise.all(
    directories.map((location) => startGatewayProcess({ config, directory: location, readyTimeoutMs: 60_000 })),
  );
  ends.push(() => Promise.all(nodes.map((node) => node.stop())));
  const store = await openStore(url, { cwd: directory });
  ends.push(() => store.close());

  let turn = 0;
  const spenders = new Spenders({ keys: known.map(({ secret }) => secret), random, count: clients, restMs });
  spenders.start(() => {
    turn += 1;
    return nodes[turn % nodes.length]?.port ?? 0;
  });
  ends.push(() => spenders.end());
  const caller = new Caller({ after: (end) => ends.push(end) });
  return {
    ...{ nodes, upstream, spenders, caller, store, createKey },
    outages: createOutages(server, proxy, url),
    location: { url, cwd: directory },
    budgeted: [],
    answers: [],
  };
}

/** One outage, from the calm before to the time when everything is as it was. */
async function goThrough(rig: ChaosRig, setup: Setup, outage: Outage): Promise<Figure[]> {
  const { nodes, upstream, spenders, store } = setup;
  const { name, isOnlyCutOff = false } = outage;
  const lastsMs = (isOnlyCutOff ? cutOffMs : outageMs)[rig.scale];
  const scene = new Scene(setup);
  rig.progress(`${name}: calm`);
  const [budgeted, revoked, uncached] = await Promise.all([
    setup.createKey('--budget', `total=${budgetNanos / nanosPerDollar}`),
    setup.createKey(),
    setup.createKey(),
  ]);
  setup.budgeted.push(budgeted);
  // Both nodes know the two, and have drawn of the budget.
  for (let n = 0; n < 5; n += 1) {
    await Promise.all([scene.askAll(budgeted, 'budget'), scene.askAll(revoked, 'revoked')]);
  }
  await wait(calmMs[rig.scale]);
  const rssBefore = await Promise.all(nodes.map((node) => node.rssBytes()));
  const from = spenders.answers.length;
  const brokenFrom = spenders.broken;
  const spentBefore = scene.count('budget', 200);

  const beganAtMs = Date.now();
  await outage.begin();
  const untilMs = performance.now() + lastsMs;
  let isRevoked = false;
  const spending = scene.spendUp(budgeted, untilMs);
  while (performance.now() < untilMs) {
    rig.progress(`${name}: ${spenders.answers.length - from} answers with known keys`);
    await Promise.all([
      scene.askAll(uncached, 'uncached'),
      scene.askAll({ id: '', secret: createSecret() }, 'unknown'),
      ...(isRevoked ? [] : [scene.askAll(revoked, 'revoked')]),
      wait(probeEveryMs),
    ]);
    if (isOnlyCutOff && !isRevoked) {
      isRevoked = true;
      await store.keys.revoke(revoked.id);
    }
  }
  await spending;
  const servedDuring = spenders.answers.length - from;
  checkAlive(nodes);
  const rssAfter = await Promise.all(nodes.map((node) => node.rssBytes()));
  const during = scene.close();

  const calls = [...upstream.charges.keys()].filter((id) => startedAtMs(id) >= beganAtMs);
  rig.progress(`${name}: over`);
  await outage.end();
  const endedMs = performance.now();
  if (!isRevoked) await untilDone(() => store.keys.revoke(revoked.id));
  const revokedMs = await scene.timeUntil(revoked, ({ status }) => status === 401, performance.now());
  const backMs = await scene.timeUntil(uncached, ({ status }) => status === 200, endedMs);
  const moneyMs = await scene.timeUntil(
    budgeted,
    ({ status, code }) => status === 200 || code === 'budget_exceeded',
    endedMs,
  );
  // In the short form the next outage breaks what hangs.
  const isWaitedFor = !isOnlyCutOff || rig.scale === 'long';
  const importedMs = isWaitedFor ? await timeUntilImported(setup, calls, endedMs) : undefined;
  const growth = Math.max(...rssAfter.map((bytes, n) => bytes - (rssBefore[n] ?? 0)));
  const known = spenders.answers.slice(from);
  return [
    none(
      `${name}: answers to known keys other than 200`,
      [
        ...known.filter(({ status }) => status !== 200).map(({ id, status, code }) => `${id}: ${status} ${code}`),
        ...Array.from({ length: spenders.broken - brokenFrom }, () => 'broken off'),
      ],
      `of ${servedDuring} during ${(lastsMs / 1_000).toFixed(1)} s`,
    ),
    none(
      `${name}: answers to a valid key that no node knew, other than 503 store_unavailable`,
      otherThan(during.uncached, isUnavailable),
      `of ${during.uncached.length}`,
    ),
    none(
      `${name}: answers to keys that nobody made, other than 503 store_unavailable`,
      otherThan(during.unknown, isUnavailable),
      `of ${during.unknown.length}`,
    ),
    {
      name: `${name}: a budget: requests served before and during, and refused with 503 store_unavailable`,
      bar: `at most ${budgetRequests} served, some refused`,
      ...toBudgetFigure(spentBefore, during.budget),
    },
    none(
      `${name}: answers of the budgeted key other than 200 and 503 store_unavailable`,
      otherThan(during.budget, isServedOrUnavailable),
    ),
    none(
      `${name}: 401 for a valid key`,
      [...during.uncached, ...during.budget, ...during.revoked].filter(({ status }) => status === 401).map(inWords),
    ),
    {
      name: `${name}: memory of a node grew by`,
      bar: `at most ${toMebibytes(rssBarBytes)}`,
      measured: toMebibytes(growth),
      met: growth <= rssBarBytes,
      broken: growth > 3 * rssBarBytes,
    },
    within(`${name}: back, a key that was revoked is refused at every node within`, revokedMs, revokedWithinMs),
    within(`${name}: back, a key that no node knew is served at every node within`, backMs, backWithinMs),
    within(`${name}: back, money is given out again at every node within`, moneyMs, backWithinMs),
    ...(importedMs === undefined
      ? []
      : [
          within(
            `${name}: back, every row is in the ledger within`,
            importedMs,
            isOnlyCutOff ? importedWithinMs.cutOff : importedWithinMs.usual,
          ),
        ]),
  ];
}

type Kind = 'uncached' | 'unknown' | 'budget' | 'revoked';

/** The single requests of one outage, by their sender. */
class Scene {
  readonly #setup: Setup;
  #answers: Record<Kind, Answer[]> = { uncached: [], unknown: [], budget: [], revoked: [] };

  constructor(setup: Setup) {
    this.#setup = setup;
  }

  count(kind: Kind, wanted: number): number {
    return this.#answers[kind].filter(({ status }) => status === wanted).length;
  }

  /** At every node once. */
  async askAll({ secret }: Key, kind: Kind): Promise<readonly Answer[]> {
    const { caller, nodes, answers: all } = this.#setup;
    const body = JSON.stringify({ model: 'check', input: 'a few words' });
    const answers = await caller.askAll(
      nodes.map(({ port }) => ({ port, key: secret, path: '/v1/moderations', body })),
    );
    this.#answers[kind].push(...answers);
    all.push(...answers);
    return answers;
  }

  /** Until the allowances of the nodes are used up; then a check from time to time. */
  async spendUp(key: Key, untilMs: number): Promise<void> {
    while (performance.now() < untilMs) {
      const answers = await this.askAll(key, 'budget');
      if (answers.every(isUnavailable)) await wait(probeEveryMs);
    }
  }

  /** What was answered so far; what follows is counted elsewhere. */
  close(): Readonly<Record<Kind, readonly Answer[]>> {
    const answers = this.#answers;
    this.#answers = { uncached: [], unknown: [], budget: [], revoked: [] };
    return answers;
  }

  async timeUntil(key: Key, isSo: (answer: Answer) => boolean, sinceMs: number): Promise<number> {
    for (;;) {
      if ((await this.askAll(key, 'budget')).every(isSo)) return performance.now() - sinceMs;
      if (performance.now() - sinceMs > patienceMs) return Number.POSITIVE_INFINITY;
      await wait(20);
    }
  }
}

/** All requests of the budgeted keys, the last ones included: what they cost, and that the next one is refused for it. */
async function closeBooks(setup: Setup): Promise<Figure[]> {
  const { nodes, upstream, spenders, budgeted, location } = setup;
  const scene = new Scene(setup);
  const last: string[] = [];
  for (const key of budgeted) {
    const ms = await scene.timeUntil(key, ({ code }) => code === 'budget_exceeded', performance.now());
    if (!Number.isFinite(ms)) last.push(`${key.id} still spends`);
  }
  const exits = await Promise.all(nodes.map((node) => node.stop()));
  const accountOf = ({ id }: Key): string => `key/${id}/total/1970-01-01`;
  const books = await readBooks(location, budgeted.map(accountOf));
  const served = setup.answers.filter(({ status }) => status === 200);
  const overspent = budgeted.filter(({ id }) => sumNanos(books.rows.values(), ({ key }) => key === id) > budgetNanos);
  return [
    none(
      'after all: budgets that were overspent',
      overspent.map(({ id }) => id),
      `of ${budgeted.length}`,
    ),
    none('after all: budgets that are spent and do not say so', last),
    compareAccounts(
      'after all',
      books,
      new Map(budgeted.map((key) => [accountOf(key), (row: LedgerRow) => row.key === key.id])),
    ),
    ...joinBooks('after all', books, { charges: upstream.charges, answers: [...spenders.answers, ...served] }),
    none(
      'after all: gateways that did not end well',
      exits.filter(({ code }) => code !== 0).map((exit) => JSON.stringify(exit)),
    ),
  ];
}

async function timeUntilImported({ store }: Setup, ids: readonly string[], sinceMs: number): Promise<number> {
  const missing = new Set(ids);
  const fromMs = Math.min(...ids.map(startedAtMs));
  while (performance.now() - sinceMs < patienceMs) {
    for (const id of (await untilDone(() => readRows(store, fromMs))).keys()) missing.delete(id);
    if (missing.size === 0) return performance.now() - sinceMs;
    await wait(100);
  }
  return Number.POSITIVE_INFINITY;
}

/** The test's own connections broke as well. */
async function untilDone<T>(act: () => Promise<T>): Promise<T> {
  const sinceMs = performance.now();
  for (;;) {
    try {
      return await act();
    } catch (error) {
      if (performance.now() - sinceMs > patienceMs) throw error;
      await wait(20);
    }
  }
}

const isUnavailable = ({ status, code }: Answer): boolean => status === 503 && code === 'store_unavailable';
const isServedOrUnavailable = (answer: Answer): boolean => answer.status === 200 || isUnavailable(answer);

const otherThan = (answers: readonly Answer[], isRight: (answer: Answer) => boolean): string[] =>
  answers.filter((answer) => !isRight(answer)).map(inWords);

function toBudgetFigure(before: number, during: readonly Answer[]): Pick<Figure, 'measured' | 'met' | 'broken'> {
  const served = during.filter(({ status }) => status === 200).length;
  const refused = during.filter(isUnavailable).length;
  return {
    measured: `${served} (${before} of them before), ${refused} refused`,
    met: served <= budgetRequests && refused > 0,
    broken: served > budgetRequests,
  };
}

const toMebibytes = (bytes: number): string => `${(bytes / 1024 / 1024).toFixed(1)} MiB`;
