/** Promise 16: of two targets one fails for a while: it is probed occasionally, and not overloaded when it recovers. */

import { setTimeout as wait } from 'node:timers/promises';
import { nowMs } from '../support/clients/http-message.ts';
import { toRequestBytes } from '../support/clients/raw-client.ts';
import { startGatewayProcess } from '../support/gateways/gateway-process.ts';
import { type FakeUpstream, type Handler, startFakeUpstream } from '../support/upstreams/fake-upstream.ts';
import { atMost, definePromise, type Scale } from './promise.ts';
import { startLoad } from './support/clients/load.ts';
import { startChaosProxy } from './support/disturbances/chaos-proxy.ts';
import { none } from './support/readings/findings.ts';

interface Size {
  readonly calmMs: number;
  readonly downMs: number;
  /** The rest that is in force when it comes back may still have to pass. */
  readonly patienceMs: number;
}

const sizes: Readonly<Record<Scale, Size>> = {
  long: { calmMs: 5_000, downMs: 60_000, patienceMs: 70_000 },
  short: { calmMs: 1_000, downMs: 6_000, patienceMs: 12_000 },
};

const ratePerSecond = 200;
const connections = 32;
/** The one that goes down is the lesser one, so that a rush to it would show. */
const weights = { steady: 3, failing: 1 };
const share = weights.failing / (weights.steady + weights.failing);

/** The contract: a rest begins at 1 s and doubles up to 60 s. It may be shorter by this share, so that not all gateways come at once. */
const firstRestMs = 1_000;
const longestRestMs = 60_000;
const jitter = 0.2;
/** Clocks are read a little late on a busy machine. */
const tolerance = 0.05;
const failuresInARow = 5;
/** Shorter than any rest, longer than what failed together takes. */
const burstGapMs = 500;

export default definePromise({
  no: 16,
  title: 'one of two targets down for 60 s, then back',
  async run({ t, scale, progress }) {
    const { calmMs, downMs, patienceMs } = sizes[scale];
    const answer: Handler = async (_request, reply) => {
      await reply.sleep(5);
      await reply.json(200, { ok: true });
    };
    const steady = await startFakeUpstream(answer);
    t.after(() => steady.close());
    const failing = await startFakeUpstream(answer);
    t.after(() => failing.close());
    const proxy = await startChaosProxy(t, failing.port);
    const gateway = await startGatewayProcess({ config: toConfig(steady.url, proxy.url) });
    t.after(() => gateway.stop());

    const load = startLoad(t, {
      port: gateway.port,
      requests: [
        toRequestBytes({
          path: '/v1/embeddings',
          headers: [['x-api-key', gateway.key]],
          body: { model: 'm', input: 'x' },
        }),
      ],
      connections,
      ratePerSecond,
      maxMs: calmMs + downMs + patienceMs + 5_000,
    });
    progress('both work');
    await wait(calmMs);
    const shareBefore = failing.requests.length / (failing.requests.length + steady.requests.length);

    // Whatever is sent to it is reset at its first byte, and each call is a connection of its own.
    const attemptsMs: number[] = [];
    proxy.behave({ toServer: { ends: 'reset', afterBytes: 0 } }, { open: true });
    proxy.behave(() => {
      attemptsMs.push(nowMs());
      return { toServer: { ends: 'reset', afterBytes: 0 } };
    });
    const downAtMs = nowMs();
    while (nowMs() - downAtMs < downMs) {
      progress(`down, attempt ${attemptsMs.length}`);
      await wait(200);
    }
    proxy.behave({});
    const known = failing.requests.length;
    const backAtMs = nowMs();
    while (failing.requests.length === known && nowMs() - backAtMs < patienceMs) {
      progress('back, and not asked yet');
      await wait(10);
    }
    const recoveredAtMs = failing.requests[known]?.receivedAtMs;
    await wait(1_100);
    const report = await load.stop();

    const { burst, probes } = splitAttempts(attemptsMs);
    const failed = report.broken + report.answered - (report.statuses['200'] ?? 0);
    const inFirstSecond = recoveredAtMs === undefined ? 0 : countWithin(failing, recoveredAtMs, 1_000);
    return [
      none(
        'failed requests',
        Array.from({ length: failed }, (_, index) => report.failures[index] ?? 'one more'),
      ),
      atMost('attempts until it rests', burst.length, failuresInARow + connections),
      atMost(`probes in ${downMs / 1_000} s`, probes.length, mostProbes(downMs)),
      none('probes before the rest was over', hastyProbes(burst.at(-1), probes)),
      {
        name: 'called again after it is back',
        bar: `within the rest in force, ${restMs(probes.length) / 1_000} s`,
        measured: recoveredAtMs === undefined ? 'never' : `${((recoveredAtMs - backAtMs) / 1_000).toFixed(1)} s`,
        met: recoveredAtMs !== undefined && recoveredAtMs - backAtMs <= restMs(probes.length),
        broken: recoveredAtMs === undefined,
      },
      atMost(
        `requests in its first second, its share being ${Math.round(share * ratePerSecond)} (measured before: ${Math.round(shareBefore * ratePerSecond)})`,
        inFirstSecond,
        2 * share * ratePerSecond,
      ),
    ];
  },
});

function toConfig(steadyUrl: string, failingUrl: string): Readonly<Record<string, unknown>> {
  const common = { family: 'openai', api_key: 'sk-upstream-key' };
  return {
    upstreams: [
      { id: 'steady', base_url: steadyUrl, ...common },
      { id: 'failing', base_url: failingUrl, ...common },
    ],
    models: [
      {
        id: 'm',
        operations: ['embeddings'],
        targets: [
          { upstream: 'steady', weight: weights.steady },
          { upstream: 'failing', weight: weights.failing },
        ],
      },
    ],
  };
}

/** What failed together before it was left alone, and what came after the first rest. */
function splitAttempts(atMs: readonly number[]): {
  readonly burst: readonly number[];
  readonly probes: readonly number[];
} {
  const first = atMs.findIndex((at, index) => at - (atMs[index - 1] ?? at) > burstGapMs);
  return first === -1 ? { burst: atMs, probes: [] } : { burst: atMs.slice(0, first), probes: atMs.slice(first) };
}

/** The rest before probe `index`, at most. */
function restMs(index: number): number {
  return Math.min(longestRestMs, firstRestMs * 2 ** index);
}

/** As many as fit where every rest is as short as it may be. */
function mostProbes(durationMs: number): number {
  let count = 0;
  for (let atMs = restMs(0) * (1 - jitter); atMs <= durationMs; atMs += restMs(count) * (1 - jitter)) count += 1;
  return count;
}

function hastyProbes(burstEndMs: number | undefined, probes: readonly number[]): string[] {
  return probes.flatMap((at, index) => {
    const afterMs = at - (probes[index - 1] ?? burstEndMs ?? at);
    const leastMs = restMs(index) * (1 - jitter) * (1 - tolerance);
    return afterMs < leastMs ? [`probe ${index + 1} after ${Math.round(afterMs)} ms`] : [];
  });
}

function countWithin({ requests }: FakeUpstream, fromMs: number, forMs: number): number {
  return requests.filter(({ receivedAtMs }) => receivedAtMs >= fromMs && receivedAtMs < fromMs + forMs).length;
}
