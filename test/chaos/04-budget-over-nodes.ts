/** Promise 4: a key worth ten requests, and hundreds of simultaneous ones on several nodes: the upstream never sees more than the budget. */

import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { LedgerRow } from '../../src/core/accounting/ledger-row.ts';
import { nanosPerDollar, toDollars } from '../../src/lib/money.ts';
import { type GatewayProcess, startGatewayProcess } from '../support/gateways/gateway-process.ts';
import { startPostgres, whyNoPostgres } from '../support/servers/postgres.ts';
import { startRedis } from '../support/servers/redis.ts';
import { type FakeUpstream, startFakeUpstream } from '../support/upstreams/fake-upstream.ts';
import { type ChaosRig, definePromise, type Figure, type Scale } from './promise.ts';
import { type Answer, Caller, inWords, type Question } from './support/clients/caller.ts';
import { createRandom } from './support/random.ts';
import { compareAccounts, joinBooks, readBooks, type StoreLocation, sumNanos } from './support/readings/books.ts';
import { none } from './support/readings/findings.ts';

const rounds: Readonly<Record<Scale, number>> = { long: 8, short: 1 };
const atOncePerNode = 200;
const mostCrowds = 3;
const worthRequests = 10;
/** A process that has just been started does everything for the first time. */
const warmUp = { perNode: 30, worthRequests: 10_000 };
/** Long enough that all simultaneous requests have arrived before the first is answered. */
const answerAfterMs = 250;
const callerHeader = 'x-caller';
/** Reserved amounts of others are free within two seconds, as `Retry-After` promises; a busy machine needs more. */
const patienceMs = 20_000;

interface Case {
  readonly name: string;
  readonly path: string;
  readonly body: string;
  /** What one request can cost, by the documented rules. */
  readonly worstNanos: number;
  /** A true cost that fits the texts, and the answer that reports it. */
  charge(random: () => number): { readonly nanos: number; readonly answer: unknown };
}

const requestNanos = 0.01 * nanosPerDollar;
const inputNanos = 3_000;
const outputNanos = 9_000;
const maxTokens = 32;
const prompt = 'Tell me in a few words what a gateway is good for.';
const completion = JSON.stringify({ model: 'by-tokens', prompt, max_tokens: maxTokens });

const cases: readonly Case[] = [
  {
    name: 'by request',
    path: '/v1/moderations',
    body: JSON.stringify({ model: 'by-request', input: 'a few words' }),
    worstNanos: requestNanos,
    charge: () => ({ nanos: requestNanos, answer: { id: 'm', model: 'by-request', results: [{ flagged: false }] } }),
  },
  {
    name: 'by tokens',
    path: '/v1/completions',
    body: completion,
    // A token for each byte of the body at most, and what max_tokens allows.
    worstNanos: Buffer.byteLength(completion) * inputNanos + maxTokens * outputNanos,
    charge(random) {
      const input = Math.ceil(prompt.length / (3 + 2 * random()));
      const output = 1 + Math.floor(random() * maxTokens);
      const usage = { prompt_tokens: input, completion_tokens: output, total_tokens: input + output };
      const choices = [{ index: 0, text: 'for all', logprobs: null, finish_reason: 'length' }];
      return {
        nanos: input * inputNanos + output * outputNanos,
        answer: { id: 'c', object: 'text_completion', created: 1, model: 'by-tokens', choices, usage },
      };
    },
  },
];

interface Scene {
  readonly name: string;
  readonly store: 'postgres' | 'sqlite';
  /** At how many nodes it is asked, one after the other; those of a scene share the store. */
  readonly sizes: Readonly<Record<Scale, readonly number[]>>;
  readonly workers: number;
}

const scenes: readonly Scene[] = [
  { name: 'PostgreSQL', store: 'postgres', sizes: { long: [1, 2, 4], short: [2] }, workers: 1 },
  { name: 'SQLite', store: 'sqlite', sizes: { long: [1], short: [] }, workers: 1 },
  { name: 'SQLite, 2 workers', store: 'sqlite', sizes: { long: [1], short: [1] }, workers: 2 },
];

export default definePromise({
  no: 4,
  title: `${atOncePerNode} requests at once at each of 1, 2 and 4 nodes, with a budget for ${worthRequests}`,
  async run(rig) {
    const figures: Figure[] = [];
    for (const scene of scenes) figures.push(...(await play(rig, scene)));
    return figures;
  },
});

/** One key in one trial, and what the upstream saw of it. */
interface Trial {
  readonly key: string;
  readonly secret: string;
  readonly budgetNanos: number;
  readonly asked: Case;
  /** Nodes; 0 for the warming up. */
  readonly size: number;
  readonly answers: Answer[];
  calls: number;
  chargedNanos: number;
  underWay: number;
  /** The most that was charged and could still be, at any one moment. */
  mostAdmittedNanos: number;
  /** Those that got through while all came at once; undefined until that is over. */
  callsAtOnce: number | undefined;
}

async function play(rig: ChaosRig, scene: Scene): Promise<Figure[]> {
  const { t, scale, seed } = rig;
  if (scene.store === 'postgres' && whyNoPostgres !== false) {
    return [{ name: scene.name, bar: 'measured', measured: `not: it ${whyNoPostgres}`, met: false }];
  }
  const sizes = scene.sizes[scale];
  if (sizes.length === 0) return [];
  const trials = makeTrials(sizes, rounds[scale]);
  const [warm] = trials;
  const upstream = await startChargingUpstream(rig, trials, createRandom(seed));
  const directory = await mkdtemp(join(tmpdir(), 'postern-budgets-'));
  t.after(() => rm(directory, { recursive: true, force: true, maxRetries: 20 }));
  const url = scene.store === 'postgres' ? await (await startPostgres(t)).createDatabase() : 'sqlite:postern.db';
  const redis = scene.store === 'postgres' ? await startRedis(t) : undefined;
  const config = toConfig(scene, url, redis?.url, upstream.fake.url, trials);
  const nodes: GatewayProcess[] = [];
  t.after(() => Promise.all(nodes.map((node) => node.stop())));
  const caller = new Caller(t);

  for (const size of sizes) {
    const more = Array.from({ length: size - nodes.length }, (_, index) =>
      startNode(join(directory, String(nodes.length + index)), config),
    );
    const started = await Promise.all(more);
    nodes.push(...started);
    if (warm !== undefined) await crowd(warm, started, warmUp.perNode, caller);
    for (const [index, trial] of trials.filter((one) => one.size === size).entries()) {
      rig.progress(`${scene.name}, ${toNodes(size)}: trial ${index + 1}`);
      await spend(trial, nodes, caller, 2 * size * scene.workers);
    }
  }
  for (const node of nodes) {
    const { code } = await node.stop();
    if (code !== 0) throw new Error(`a node ended with ${code}:\n${node.stdout().slice(-2_000)}${node.stderr()}`);
  }
  return [
    ...sizes.flatMap((size) => {
      const ofSize = trials.filter((trial) => trial.size === size);
      return [
        toOvershoot(`${scene.name}, ${toNodes(size)}`, ofSize),
        toRest(`${scene.name}, ${toNodes(size)}`, ofSize),
      ];
    }),
    ...toAnswerFigures(scene.name, trials),
    ...(await compareBooks(scene.name, { url, cwd: join(directory, '0') }, upstream.charges, trials)),
  ];
}

const toNodes = (size: number): string => (size === 1 ? '1 node' : `${size} nodes`);

function makeTrials(sizes: readonly number[], count: number): Trial[] {
  const warm = cases.slice(0, 1).map((asked) => makeTrial('key-warm', 0, asked, warmUp.worthRequests));
  const measured = sizes.flatMap((size) =>
    cases.flatMap((asked, which) =>
      Array.from({ length: count }, (_, round) =>
        makeTrial(`key-${size}-${which}-${round}`, size, asked, worthRequests),
      ),
    ),
  );
  return [...warm, ...measured];
}

function makeTrial(key: string, size: number, asked: Case, worth: number): Trial {
  return {
    ...{ key, secret: `${key}-with-enough-characters`, asked, size, answers: [] },
    budgetNanos: worth * asked.worstNanos,
    ...{ calls: 0, chargedNanos: 0, underWay: 0, mostAdmittedNanos: 0, callsAtOnce: undefined },
  };
}

/** It charges every call that comes, and knows by a header that the gateway passes on whose it is. */
async function startChargingUpstream({ t }: ChaosRig, trials: readonly Trial[], random: () => number) {
  const charges = new Map<string, number>();
  const fake: FakeUpstream = await startFakeUpstream(async (request, reply) => {
    const trial = trials.find(({ key }) => request.header(callerHeader) === key);
    const id = request.header('x-request-id');
    if (trial === undefined || id === undefined) throw new Error('a call came that nobody may have sent');
    const { nanos, answer } = trial.asked.charge(random);
    trial.calls += 1;
    trial.underWay += 1;
    const admittedNanos = trial.chargedNanos + trial.underWay * trial.asked.worstNanos;
    trial.mostAdmittedNanos = Math.max(trial.mostAdmittedNanos, admittedNanos);
    if (trial.callsAtOnce === undefined) await reply.sleep(answerAfterMs);
    trial.underWay -= 1;
    trial.chargedNanos += nanos;
    charges.set(id, (charges.get(id) ?? 0) + nanos);
    await reply.json(200, answer);
  });
  t.after(() => fake.close());
  return { fake, charges };
}

function toConfig(
  { workers }: Scene,
  store: string,
  redis: string | undefined,
  upstream: string,
  trials: readonly Trial[],
): Readonly<Record<string, unknown>> {
  const targets = [{ upstream: 'up' }];
  return {
    store,
    ...(redis === undefined ? {} : { redis }),
    server: { workers, drain: { delay: '0s', deadline: '5s' } },
    upstreams: [
      { id: 'up', family: 'openai', base_url: upstream, api_key: 'sk-upstream-key', forward_headers: [callerHeader] },
    ],
    models: [
      { id: 'by-request', operations: ['moderations'], price: { request: requestNanos / nanosPerDollar }, targets },
      {
        id: 'by-tokens',
        operations: ['completions'],
        // Nano-dollars a token are thousandths of a dollar a million.
        price: { input: inputNanos / 1_000, output: outputNanos / 1_000 },
        targets,
      },
    ],
    keys: trials.map(({ key, secret, budgetNanos }) => ({
      id: key,
      secret,
      budgets: [{ every: 'total', amount: toDollars(budgetNanos) }],
    })),
  };
}

async function startNode(directory: string, config: Readonly<Record<string, unknown>>): Promise<GatewayProcess> {
  await mkdir(directory);
  return startGatewayProcess({ config, directory, readyTimeoutMs: 60_000 });
}

/** So many at the same time at each of the nodes. */
async function crowd(trial: Trial, nodes: readonly GatewayProcess[], perNode: number, caller: Caller): Promise<void> {
  const questions = toQuestions(trial, nodes);
  trial.answers.push(...(await caller.askAll(Array.from({ length: perNode }, () => questions).flat())));
}

function toQuestions({ secret, key, asked }: Trial, nodes: readonly GatewayProcess[]): Question[] {
  const { path, body } = asked;
  return nodes.map(({ port }) => ({ port, key: secret, path, body, headers: { [callerHeader]: key } }));
}

/** All at once, and then one by one at all nodes in turn, until so many in a row are refused because the budget is spent. */
async function spend(trial: Trial, nodes: readonly GatewayProcess[], caller: Caller, refusals: number): Promise<void> {
  const questions = toQuestions(trial, nodes);
  for (let times = 1; times <= mostCrowds; times += 1) {
    await crowd(trial, nodes, atOncePerNode, caller);
    // On a busy machine the store may seem slow; clients are then asked to retry, and do.
    if (!trial.answers.some(({ code }) => code === 'store_unavailable')) break;
    await wait(1_000);
  }
  trial.callsAtOnce = trial.calls;

  const deadlineMs = performance.now() + patienceMs;
  for (let turn = 0, refused = 0; refused < refusals; turn += 1) {
    const question = questions[turn % questions.length];
    if (question === undefined) throw new Error('there is no node');
    const answer = await caller.ask(question);
    trial.answers.push(answer);
    refused = answer.status === 429 && answer.retryAfterMs === undefined ? refused + 1 : 0;
    if (performance.now() > deadlineMs) return;
    if (answer.status !== 200 && answer.retryAfterMs !== undefined) await wait(Math.min(answer.retryAfterMs, 500));
  }
}

function toOvershoot(name: string, trials: readonly Trial[]): Figure {
  const over = trials.map(({ mostAdmittedNanos, chargedNanos, budgetNanos }) =>
    Math.max(0, mostAdmittedNanos - budgetNanos, chargedNanos - budgetNanos),
  );
  const worst = Math.max(...over);
  const calls = cases.map((asked) => {
    const counts = trials.filter((trial) => trial.asked === asked).map((trial) => trial.calls);
    return `${asked.name} ${toSpan(counts)}`;
  });
  return {
    name: `${name}: charged, and at most still to be charged, beyond the budget at any moment`,
    bar: '$0',
    measured: `$${toDollars(worst)} (${trials.length} keys; calls with each: ${calls.join(', ')})`,
    met: worst === 0,
    broken: worst > 0,
  };
}

function toSpan(counts: readonly number[]): string {
  const [least, most] = [Math.min(...counts), Math.max(...counts)];
  return least === most ? String(least) : `${least} to ${most}`;
}

function toRest(name: string, trials: readonly Trial[]): Figure {
  const tooMuch = trials.filter(
    ({ budgetNanos, chargedNanos, asked }) => budgetNanos - chargedNanos >= asked.worstNanos,
  );
  return none(
    `${name}: keys with which another request would fit, and is refused`,
    tooMuch.map(({ key, budgetNanos, chargedNanos, asked }) => {
      const rest = toDollars(budgetNanos - chargedNanos);
      return `${key}, with $${rest} left and $${toDollars(asked.worstNanos)} for a request`;
    }),
    `of ${trials.length}`,
  );
}

function toAnswerFigures(name: string, trials: readonly Trial[]): Figure[] {
  const answers = trials.flatMap((trial) => trial.answers);
  const late = answers.filter(({ code }) => code === 'store_unavailable').length;
  const others = answers.filter(
    ({ status, code }) => status !== 200 && code !== 'budget_exceeded' && code !== 'store_unavailable',
  );
  // The bar is what a request is said to cost at most: else the rig reckons with something else than the gateway.
  const misquoted = trials.flatMap(({ asked, answers: ofTrial }) =>
    ofTrial
      .filter(
        ({ code, message }) => code === 'budget_exceeded' && !message.includes(`$${toDollars(asked.worstNanos)}:`),
      )
      .map(({ message }) => message),
  );
  return [
    none(`${name}: answers other than 200 and 429 budget_exceeded`, others.map(inWords), `of ${answers.length}`),
    none(`${name}: refusals that name another worst case than the documented one`, misquoted),
    {
      name: `${name}: refused with 503 because the store took longer than a second`,
      bar: '0, on a machine of its own',
      measured: String(late),
      met: late === 0,
    },
  ];
}

async function compareBooks(
  name: string,
  location: StoreLocation,
  charges: ReadonlyMap<string, number>,
  trials: readonly Trial[],
): Promise<Figure[]> {
  const belongs = new Map(
    trials.map(({ key }) => [`key/${key}/total/1970-01-01`, (row: LedgerRow) => row.key === key] as const),
  );
  const books = await readBooks(location, [...belongs.keys()]);
  const answers = trials.flatMap((trial) => trial.answers);
  const wrong = trials.filter(
    ({ key, chargedNanos }) => sumNanos(books.rows.values(), (row) => row.key === key) !== chargedNanos,
  );
  return [
    ...joinBooks(name, books, { charges, answers }),
    compareAccounts(name, books, belongs),
    none(
      `${name}: keys whose rows do not sum up to what the upstream charged`,
      wrong.map(({ key }) => key),
      `of ${trials.length}`,
    ),
  ];
}
