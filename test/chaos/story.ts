/** A demonstration of failover: three upstreams fail in three ways at once and recover under load, and no client notices. */

import { toRequestBytes } from '../support/clients/raw-client.ts';
import { startGatewayProcess } from '../support/gateways/gateway-process.ts';
import { atMost, type Figure } from './promise.ts';
import { type LoadReport, startLoad } from './support/clients/load.ts';
import { createRandom } from './support/random.ts';
import { none } from './support/readings/findings.ts';
import { Screen } from './support/readings/story-screen.ts';
import { Actor, retryAfterSeconds, slowdown } from './support/upstreams/actor.ts';

export interface StoryOptions {
  readonly seed: number;
  /** How long the load lasts; at least 15. */
  readonly seconds: number;
  /** Prints events as they happen, and the chart at the end, where the output is no terminal; there it is drawn live. */
  log(line: string): void;
}

const names = ['alpha', 'beta', 'gamma'] as const;
const leastSeconds = 15;
const ratePerSecond = 300;
const connections = 96;

/** When things happen, as shares of the whole. */
const schedule = { killed: 0.12, slowed: 0.2, limited: 0.28, back: 0.4 } as const;

/** Each target's share of the traffic may be so far from a third, over so long. */
const balanceTolerance = 0.15;
const balanceWindowMs = 2_000;
/** The contract's token bucket. */
const budget = { perRequest: 0.2, perSecond: 10, stored: 50 };

export async function playStory({ seed, seconds, log }: StoryOptions): Promise<readonly Figure[]> {
  if (!(seconds >= leastSeconds)) throw new RangeError(`the story takes ${leastSeconds} s at least`);
  const stack = new AsyncDisposableStack();
  try {
    const random = createRandom(seed);
    const actors = await Promise.all(names.map((name) => Actor.start(name, random)));
    for (const actor of actors) stack.defer(() => actor.kill());
    const gateway = await startGatewayProcess({ config: toConfig(actors) });
    stack.defer(async () => {
      await gateway.stop();
    });
    const request = toRequestBytes({
      path: '/v1/embeddings',
      headers: [['x-api-key', gateway.key]],
      body: { model: 'm', input: 'a short text' },
    });
    const spanMs = seconds * 1_000;
    const screen = new Screen({ actors, spanMs, ratePerSecond, log });
    const load = startLoad(
      { after: (end) => stack.defer(end) },
      { port: gateway.port, requests: [request], connections, ratePerSecond, maxMs: spanMs },
      { windowMs: screen.windowMs, onWindow: (window) => screen.add(window) },
    );
    const backAtMs = await play(actors, screen, spanMs);
    const report = await load.ended;
    screen.end();
    return judge(report, actors, screen.nowMs(), backAtMs);
  } finally {
    await stack.disposeAsync();
  }
}

function toConfig(actors: readonly Actor[]): Readonly<Record<string, unknown>> {
  return {
    upstreams: actors.map(({ name, port }) => ({
      id: name,
      family: 'openai',
      base_url: `http://127.0.0.1:${port}`,
      api_key: 'sk-upstream-key',
    })),
    models: [
      {
        id: 'm',
        operations: ['embeddings'],
        balance: 'least_busy',
        targets: actors.map(({ name }) => ({ upstream: name })),
      },
    ],
  };
}

/** Lets everything happen that does; gives the time at which all was well again. */
async function play(actors: readonly Actor[], screen: Screen, spanMs: number): Promise<number> {
  const [alpha, beta, gamma] = actors;
  if (alpha === undefined || beta === undefined || gamma === undefined)
    throw new Error('the story has three upstreams');
  await screen.until(schedule.killed * spanMs);
  screen.mark(`${alpha.name} is killed: its port refuses`);
  await alpha.kill();
  await screen.until(schedule.slowed * spanMs);
  screen.mark(`${beta.name} takes ${slowdown} times as long`);
  beta.mood = 'slow';
  await screen.until(schedule.limited * spanMs);
  screen.mark(`${gamma.name} answers 429 with Retry-After: ${retryAfterSeconds}`);
  gamma.mood = 'limiting';
  await screen.until(schedule.back * spanMs);
  await alpha.revive();
  beta.mood = gamma.mood = 'well';
  screen.mark('all are well again');
  return screen.nowMs();
}

function judge(report: LoadReport, actors: readonly Actor[], nowMs: number, backAtMs: number): readonly Figure[] {
  const startedMs = performance.now() - nowMs;
  const { sent, answered, broken, refused, unsent, statuses, failures, durationMs, latency } = report;
  const failed = broken + refused + unsent + answered - (statuses['200'] ?? 0);
  const dispatches = actors.reduce((sum, actor) => sum + actor.dispatches, 0);
  const seconds = durationMs / 1_000;
  const mostDispatches = Math.floor((1 + budget.perRequest) * sent + budget.perSecond * seconds + budget.stored);
  const balancedMs = balancedAfterMs(actors, startedMs + backAtMs, startedMs + durationMs);
  const barMs = Math.ceil((schedule.back - schedule.killed) * (durationMs / 1_000) + 4) * 1_000;
  return [
    none(
      'errors that clients saw',
      Array.from({ length: failed }, (_, index) => failures[index] ?? 'one more'),
    ),
    atMost(`calls to upstreams, for ${sent} requests in ${Math.round(seconds)} s`, dispatches, mostDispatches),
    {
      name: 'latency of the slowest hundredth, over all',
      bar: 'no bar',
      measured: `${latency.p99Ms.toFixed(1)} ms`,
      met: true,
    },
    {
      // A cooldown is no longer than the time spent in cooldowns before it.
      name: 'back in balance, each target within 15 points of a third, after all are well',
      bar: `at most ${barMs / 1_000} s`,
      measured: balancedMs === undefined ? 'never' : `${(balancedMs / 1_000).toFixed(1)} s`,
      met: balancedMs !== undefined && balancedMs <= barMs,
      broken: balancedMs === undefined,
    },
  ];
}

/** How long after `fromMs` the first stretch ends from which on every stretch is balanced. */
function balancedAfterMs(actors: readonly Actor[], fromMs: number, toMs: number): number | undefined {
  const stepMs = 100;
  let balancedMs: number | undefined;
  for (let endMs = toMs; endMs - balanceWindowMs >= fromMs; endMs -= stepMs) {
    if (!isBalanced(actors, endMs - balanceWindowMs, endMs)) break;
    balancedMs = endMs - fromMs;
  }
  return balancedMs;
}

function isBalanced(actors: readonly Actor[], fromMs: number, toMs: number): boolean {
  const counts = actors.map(({ servedAtMs }) => servedAtMs.filter((at) => at >= fromMs && at < toMs).length);
  const total = counts.reduce((sum, count) => sum + count, 0);
  return counts.every((count) => Math.abs(count / total - 1 / counts.length) <= balanceTolerance);
}
