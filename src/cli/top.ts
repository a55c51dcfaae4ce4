/** `postern top`: shows a running gateway's upstreams, their lanes and waiting keys, updated each second. */

import { performance } from 'node:perf_hooks';
import { setTimeout as wait } from 'node:timers/promises';
import { createLabelReader, toPercentiles } from '../admin/overview/live/reading.ts';
import { loadConfiguration } from '../config/load.ts';
import { type Lane, lanes } from '../core/lane.ts';
import { UserFault } from '../core/user-fault.ts';
import { getOrMake } from '../lib/get-or-make.ts';
import { reasonOf } from '../lib/thrown.ts';
import { ClientPool } from '../wire/client-pool.ts';
import { createDirectConnector, nameOf, TlsClient, toServerAddress } from '../wire/connect.ts';
import { exchange } from '../wire/exchange.ts';
import { Wheel } from '../wire/wheel.ts';
import { type CommandContext, commandOf, configUsage } from './command.ts';
import { toTable } from './output.ts';

export const top = commandOf('top', `${configUsage} --url URL --once --json`, run);

async function run(context: CommandContext): Promise<0> {
  const { values, stdout, stderr, terminal, unread } = context;
  const source = await openSource(context);
  const show = values.json === true ? showJson : terminal === undefined ? showTable : showScreen;
  try {
    let before = await source.read();
    do {
      await wait(refreshMs, undefined, { signal: unread });
      try {
        const now = await source.read();
        show(digest(now, before), stdout);
        before = now;
      } catch (error) {
        if (values.once === true) throw error;
        stderr(reasonOf(error));
      }
    } while (values.once !== true);
  } catch (error) {
    if (unread?.aborted !== true) throw error;
  } finally {
    source.close();
  }
  return 0;
}

const refreshMs = 1_000;
const patienceMs = 5_000;
const longestBytes = 64 * 1024 * 1024;

interface Reading {
  readonly atMs: number;
  /** Values by the metric's name, one for each set of labels. */
  readonly metrics: ReadonlyMap<string, readonly Sample[]>;
}

interface Sample {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

async function openSource(context: CommandContext) {
  const { values } = context;
  const loaded = await loadConfiguration(context);
  if (!loaded.ok) throw new UserFault('the configuration has faults; "postern check" lists them');
  const { host, port, token } = loaded.snapshot.console;
  const own = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '[::1]' : host.includes(':') ? `[${host}]` : host;
  const url = URL.parse(typeof values.url === 'string' ? values.url : `http://${own}:${port}`);
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new UserFault('--url wants the URL of the admin listener, such as http://127.0.0.1:4001');
  const server = toServerAddress(url.origin);
  const connect = createDirectConnector({ tcp: {}, tls: new TlsClient({}), timeoutMs: patienceMs });
  const pool = new ClientPool({ server, host: url.host, connect, connections: 1, wheel: new Wheel(100) });
  const headers = token === undefined ? [] : ['authorization', `Bearer ${token}`];
  return {
    close: () => pool.destroy(),
    async read(): Promise<Reading> {
      const request = { method: 'GET', path: '/metrics', headers };
      const options = { limitBytes: longestBytes, beyond: 'fail', timeoutMs: patienceMs } as const;
      const answer = await exchange(pool, request, options).catch((error: unknown) => {
        throw new UserFault(`no gateway answers at ${nameOf(server)}: ${reasonOf(error)}`);
      });
      const advice = answer.status === 401 ? 'see console.token' : '--url wants the admin listener (console.port)';
      if (answer.status !== 200) throw new UserFault(`${url.origin}/metrics answers ${answer.status}; ${advice}`);
      return { atMs: performance.now(), metrics: readMetrics(answer.body.toString()) };
    },
  };
}

const labelsOf = createLabelReader();

/** Parses the text format of Prometheus. */
function readMetrics(text: string): Reading['metrics'] {
  const metrics = new Map<string, Sample[]>();
  for (const line of text.split('\n')) {
    const [, name, labels = '', value = ''] = /^(postern_\w+)(?:\{(.*)\})? (\S+)/.exec(line) ?? [];
    if (name === undefined) continue;
    const number = value === '+Inf' ? Number.POSITIVE_INFINITY : Number(value);
    getOrMake(metrics, name, () => []).push({ labels: labelsOf(labels), value: number });
  }
  return metrics;
}

type Labels = Readonly<Record<string, string>>;

function samplesOf({ metrics }: Reading, name: string, wanted: Labels): Sample[] {
  const pairs = Object.entries(wanted);
  return (metrics.get(name) ?? []).filter(({ labels }) => pairs.every(([key, value]) => labels[key] === value));
}

const sumOf = (reading: Reading, name: string, wanted: Labels): number =>
  samplesOf(reading, name, wanted).reduce((sum, { value }) => sum + value, 0);

/** The p95, in milliseconds, of what was observed between two readings; null where there was nothing. */
function percentile95Ms(now: Reading, before: Reading, histogram: string, wanted: Labels): number | null {
  const counts = new Map<number, number>();
  for (const [reading, sign] of [
    [now, 1],
    [before, -1],
  ] as const) {
    for (const { labels, value } of samplesOf(reading, `${histogram}_bucket`, wanted)) {
      const bound = labels.le === '+Inf' ? Number.POSITIVE_INFINITY : Number(labels.le);
      counts.set(bound, (counts.get(bound) ?? 0) + sign * value);
    }
  }
  // Each bucket of Prometheus counts those before it too.
  const buckets = [...counts].toSorted(([a], [b]) => a - b);
  const own = buckets.map(([, count], index) => count - (buckets[index - 1]?.[1] ?? 0));
  const bounds = buckets.slice(0, -1).map(([bound]) => bound);
  const p95 = toPercentiles(own, bounds)?.p95;
  return p95 === undefined ? null : Math.round(p95);
}

type Digest = ReturnType<typeof digest>;

function digest(now: Reading, before: Reading) {
  const ids = new Set(samplesOf(now, 'postern_lane_in_flight', {}).map(({ labels }) => labels.upstream ?? ''));
  const seconds = Math.max(0.001, (now.atMs - before.atMs) / 1_000);
  return [...ids].map((upstream) => {
    const of = { upstream };
    const laneOf = (lane: Lane) => ({
      in_flight: sumOf(now, 'postern_lane_in_flight', { upstream, lane }),
      waiting: sumOf(now, 'postern_lane_waiting', { upstream, lane }),
      wait_p95_ms: percentile95Ms(now, before, 'postern_lane_wait_seconds', { upstream, lane }),
    });
    const calls = sumOf(now, 'postern_attempts_total', of) - sumOf(before, 'postern_attempts_total', of);
    const endpoints = samplesOf(now, 'postern_endpoint_up', of);
    return {
      upstream,
      calls_per_second: Math.max(0, Math.round((10 * calls) / seconds) / 10),
      first_byte_p95_ms: percentile95Ms(now, before, 'postern_upstream_first_byte_seconds', of),
      learned_limit: samplesOf(now, 'postern_upstream_learned_limit', of)[0]?.value ?? null,
      endpoints: endpoints.length,
      endpoints_up: endpoints.filter(({ value }) => value > 0).length,
      lanes: { interactive: laneOf('interactive'), bulk: laneOf('bulk') },
    };
  });
}

function showJson(upstreams: Digest, stdout: CommandContext['stdout']): void {
  stdout(JSON.stringify({ at: new Date().toISOString(), upstreams }));
}

function showTable(upstreams: Digest, stdout: CommandContext['stdout']): void {
  for (const line of toLines(upstreams)) stdout(line);
}

/** Rewrites the screen line by line: clearing it first would flicker. */
function showScreen(upstreams: Digest, stdout: CommandContext['stdout']): void {
  const [first = '', ...others] = toLines(upstreams);
  stdout(`\x1b[H${first}\x1b[K`);
  for (const line of others) stdout(`${line}\x1b[K`);
  stdout('\x1b[J');
}

const head = [
  'UPSTREAM',
  'LANE',
  'IN FLIGHT',
  'WAITING',
  'WAIT P95',
  'FIRST BYTE P95',
  'CALLS/S',
  'LIMIT',
  'ENDPOINTS',
];
const toMs = (ms: number | null): string => (ms === null ? '-' : `${ms} ms`);

function toLines(upstreams: Digest): string[] {
  if (upstreams.length === 0) return ['No model has a target, so there is no upstream to show.'];
  const rows = upstreams.flatMap((one) =>
    lanes.map((lane) => {
      const { in_flight, waiting, wait_p95_ms } = one.lanes[lane];
      const own = [lane, String(in_flight), String(waiting), toMs(wait_p95_ms)];
      if (lane !== 'interactive') return ['', ...own];
      const endpoints = one.endpoints === 0 ? '-' : `${one.endpoints_up} of ${one.endpoints} up`;
      const limit = one.learned_limit === null ? '-' : String(one.learned_limit);
      return [one.upstream, ...own, toMs(one.first_byte_p95_ms), String(one.calls_per_second), limit, endpoints];
    }),
  );
  return toTable(head, rows);
}
