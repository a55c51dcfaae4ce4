/** Promise 39: with Redis healthy and the nodes' event loops late, every decision uses Redis, and every limit is exact. */

import { setTimeout as wait } from 'node:timers/promises';
import { type GatewayProcess, startGatewayProcess } from '../support/gateways/gateway-process.ts';
import { startOwnRedis } from '../support/servers/redis.ts';
import { startFakeUpstream } from '../support/upstreams/fake-upstream.ts';
import { atMost, type ChaosRig, definePromise, type Figure, type Scale } from './promise.ts';
import { type Answer, Caller, inWords, type Question } from './support/clients/caller.ts';
import { createRandom } from './support/random.ts';
import { none } from './support/readings/findings.ts';
import { readMetric } from './support/readings/metric.ts';

const nodeCount = 2;
const holdMs = 500;
const limit = 40;
/** At each node, before its loop is held up and while it is. */
const asked = { before: 20, meanwhile: 20 };
const longestPauseMs = 6;
const warmUps = 100;
/** Nodes report that they are running every two seconds. */
const heardOfMs = 2_500;
const heldLoop = new URL('./support/disturbances/held-loop.ts', import.meta.url).href;

interface Scene {
  readonly name: string;
  readonly deadline: string;
  readonly times: Readonly<Record<Scale, number>>;
  /** Whether Redis answers in time at all depends on what else the machine does, where it has but 30 ms. */
  readonly isAsserted: boolean;
}

const scenes: readonly Scene[] = [
  { name: 'a deadline of 400 ms', deadline: '400ms', times: { long: 100, short: 9 }, isAsserted: true },
  { name: 'the standard deadline', deadline: '30ms', times: { long: 100, short: 0 }, isAsserted: false },
];

export default definePromise({
  no: 39,
  title: `Redis works, but the event loops of ${nodeCount} nodes are late by ${holdMs} ms again and again`,
  async run(rig) {
    const redis = await startOwnRedis(rig.t);
    if (redis === undefined) return [{ name: 'Redis', bar: 'measured', measured: 'not: there is none', met: false }];
    const upstream = await startFakeUpstream((_, reply) =>
      reply.json(200, { id: 'm', model: 'm', results: [{ flagged: false }] }),
    );
    rig.t.after(() => upstream.close());
    const figures: Figure[] = [];
    for (const scene of scenes) figures.push(...(await play(rig, scene, redis.url, upstream.url)));
    return figures;
  },
});

async function play(rig: ChaosRig, scene: Scene, redis: string, upstream: string): Promise<Figure[]> {
  const { t, scale, seed, progress } = rig;
  const times = scene.times[scale];
  if (times === 0) return [];
  const keys = Array.from({ length: times }, (_, at) => `${scene.deadline}-${at}`);
  const config = toConfig(scene, redis, upstream, keys);
  const nodes = await Promise.all(Array.from({ length: nodeCount }, () => startHeld(config)));
  t.after(() => Promise.all(nodes.map((node) => node.stop())));
  const caller = new Caller(t);
  const random = createRandom(seed);
  // A process that has just been started does everything for the first time.
  await caller.askAll(Array.from({ length: warmUps }, () => nodes.map(({ port }) => toQuestion(port, 'warm'))).flat());
  await wait(heardOfMs);
  const before = await localDecisions(nodes);

  const letThrough: number[] = [];
  const others: Answer[] = [];
  for (const [at, key] of keys.entries()) {
    progress(`${scene.name}: ${at + 1} of ${times}`);
    const answers = await holdUp(nodes, caller, key, () => wait(random() * longestPauseMs));
    letThrough.push(answers.filter(({ status }) => status === 200).length);
    others.push(...answers.filter(({ status, code }) => status !== 200 && code !== 'rate_limit_exceeded'));
  }
  const local = (await localDecisions(nodes)) - before;
  const inexact = letThrough.filter((count) => count !== limit);
  const all = times * nodeCount * (asked.before + asked.meanwhile);
  const figures: Figure[] = [
    none(
      `${scene.name}: limits of ${limit} that let through another number, of ${all / times} requests each`,
      inexact.map(String),
      `of ${times}`,
    ),
    atMost(`${scene.name}: decisions without Redis, of ${all}`, local, 0),
  ];
  return [
    ...(scene.isAsserted ? figures : figures.map((figure) => ({ ...figure, broken: false }))),
    none(`${scene.name}: answers other than 200 and 429`, others.map(inWords), `of ${all}`),
  ];
}

/** Some are on their way to Redis when the loop stands still, some to the node, and all are answered. */
async function holdUp(
  nodes: readonly GatewayProcess[],
  caller: Caller,
  key: string,
  pause: () => Promise<unknown>,
): Promise<Answer[]> {
  const askAll = (count: number): Promise<Answer[]> =>
    caller.askAll(Array.from({ length: count }, () => nodes.map(({ port }) => toQuestion(port, key))).flat());
  const first = askAll(asked.before);
  await pause();
  for (const node of nodes) node.signal('SIGUSR2');
  await pause();
  const then = askAll(asked.meanwhile);
  return [...(await first), ...(await then)];
}

async function localDecisions(nodes: readonly GatewayProcess[]): Promise<number> {
  const counts = await Promise.all(nodes.map((node) => readMetric(node, 'postern_limit_local_decisions_total')));
  return counts.reduce((sum, count) => sum + count, 0);
}

const secretOf = (id: string): string => `${id}-key-with-enough-characters`;

function toQuestion(port: number, key: string): Question {
  const body = JSON.stringify({ model: 'm', input: 'a few words' });
  return { port, key: secretOf(key), path: '/v1/moderations', body };
}

function startHeld(config: Readonly<Record<string, unknown>>): Promise<GatewayProcess> {
  const env = { NODE_OPTIONS: `--import=${heldLoop}`, POSTERN_TEST_HOLD_MS: String(holdMs) };
  return startGatewayProcess({ config, env, readyTimeoutMs: 60_000 });
}

function toConfig(scene: Scene, redis: string, upstream: string, keys: readonly string[]) {
  return {
    redis,
    redis_deadline: scene.deadline,
    // It sheds what comes while its loop is late, by default; here all of it is to be judged.
    server: { drain: { delay: '0s', deadline: '5s' } },
    upstreams: [{ id: 'up', family: 'openai', base_url: upstream, api_key: 'sk-upstream-key' }],
    models: [{ id: 'm', operations: ['moderations'], targets: [{ upstream: 'up' }] }],
    keys: [
      { id: 'warm', secret: secretOf('warm'), limits: { requests_per_minute: 100_000 } },
      ...keys.map((id) => ({ id, secret: secretOf(id), limits: { requests_per_day: limit } })),
    ],
  };
}
