/** Runs one payload through every subject in turn, each started anew, checked and warmed up before timing. */

import { createHash } from 'node:crypto';
import { mkdirSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { Children, Placement } from './children.ts';
import { type Load, type LoadResult, runLoad } from './load.ts';
import { type Measurement, type Row, type Series, toMeasurement, voidReason, warmUpShares } from './measurement.ts';
import { firstCounter, type Payload } from './payloads.ts';
import { toHeaders } from './requests.ts';
import { benchKeys, type Running, type Subject } from './subjects.ts';
import type { BenchUpstreams } from './upstream.ts';

export interface Rig {
  readonly children: Children;
  readonly upstreams: BenchUpstreams;
  readonly placement: Placement;
  readonly runtime: string;
  /** What is written here is removed when the run ends. */
  readonly temporary: string;
  readonly rounds: number;
  readonly seconds: number;
  /** Without requests, before each timed run. */
  readonly idleSeconds: number;
  /** How many requests a subject answers, at the least, before any round is timed. */
  readonly warmUpRequests: number;
  /** Reports the progress; an empty text when a result follows. */
  progress(text: string): void;
}

type RunLength = Load['length'];

/** Requests a second, or the share of what the slowest proxy answered in its warm-up; undefined: a closed loop. */
export type Rate = { readonly perSecond: number } | { readonly share: number } | undefined;

interface Lane {
  readonly subject: Subject;
  readonly running: Running;
  readonly measured: Measurement[];
  warmUp: WarmUp | undefined;
  void: string | undefined;
}

export async function measureRow(
  rig: Rig,
  payload: Payload,
  subjects: readonly Subject[],
  asked: Rate,
  placement: string,
): Promise<Row> {
  const upstream = rig.upstreams.of(payload);
  const directory = join(rig.temporary, payload.name);
  mkdirSync(directory, { recursive: true });
  const lanes: Lane[] = [];
  let rate: number | undefined;
  try {
    for (const subject of subjects) {
      rig.progress(`${placement} ${payload.name}: ${subject.name} warms up`);
      const running = await subject.start({ ...rig, directory, payload, upstreamPort: upstream.port });
      const lane: Lane = { subject, running, measured: [], warmUp: undefined, void: undefined };
      lanes.push(lane);
      lane.void = await mismatch(running, payload);
      if (lane.void !== undefined) continue;
      lane.warmUp = await warmUp(rig, running, payload);
    }
    rate = toRate(asked, lanes);
    for (let round = 1; round <= rig.rounds; round += 1) {
      for (const lane of lanes) {
        if (lane.void !== undefined) continue;
        rig.progress(`${placement} ${payload.name}: ${lane.subject.name}, round ${round} of ${rig.rounds}`);
        await wait(1_000 * rig.idleSeconds);
        const { measurement } = await measure(rig, lane.running, payload, { seconds: rig.seconds }, rate);
        lane.measured.push(measurement);
        lane.void = voidReason(measurement.errors);
      }
    }
  } finally {
    await Promise.all(lanes.map(({ running }) => running.child?.stop()));
    rmSync(directory, { recursive: true, force: true }); // access logs grow by the gigabyte
  }
  return {
    payload: payload.name,
    title: payload.title,
    requestBytes: payload.request.length,
    answerBytes: payload.answer.length,
    connections: payload.connections,
    upstream: upstream.kind,
    rate,
    placement: rig.placement,
    series: lanes.map(
      (lane): Series => ({
        subject: lane.subject.name,
        rounds: lane.measured,
        warmUpUs: lane.warmUp?.curveUs ?? [],
        void: lane.void,
      }),
    ),
  };
}

function toRate(asked: Rate, lanes: readonly Lane[]): number | undefined {
  if (asked === undefined) return undefined;
  if ('perSecond' in asked) return asked.perSecond;
  const rates = lanes.filter(({ running }) => running.child !== undefined).map(({ warmUp }) => warmUp?.rps ?? Infinity);
  const slowest = Math.min(...rates);
  if (!Number.isFinite(slowest)) throw new Error('no proxy could be warmed up, and so the rate is unknown');
  return Math.max(1, Math.floor(slowest * asked.share));
}

export interface WarmUp {
  /** CPU microseconds a request of each stretch that ends at one of `warmUpShares`. */
  readonly curveUs: readonly (number | undefined)[];
  /** Of the last window. */
  readonly rps: number;
}

const windowSeconds = 2;
const mostWindows = 8;
/** If two windows differ by less, nothing more is compiled. */
const steady = 0.05;
/** A request that moves more bytes than this is counted as several, so that a warm-up ends. */
const bytesARequest = 100_000;

/** Requests first, as time alone does not show what is compiled; then windows, until two in a row cost the same. */
export async function warmUp(rig: Rig, running: Running, payload: Payload): Promise<WarmUp> {
  const weight = Math.max(1, (payload.request.length + payload.answer.length) / bytesARequest);
  const curveUs: (number | undefined)[] = [];
  let done = 0;
  for (const share of warmUpShares) {
    const upTo = Math.ceil((rig.warmUpRequests * share) / weight);
    const { measurement } = await measure(rig, running, payload, { requests: upTo - done }, undefined);
    curveUs.push(measurement.cpuUs);
    done = upTo;
  }
  let last = await measure(rig, running, payload, { seconds: windowSeconds }, undefined);
  for (let windows = 1; windows < mostWindows; windows += 1) {
    const next = await measure(rig, running, payload, { seconds: windowSeconds }, undefined);
    const cost = ({ measurement: { cpuUs, rps } }: typeof next): number => cpuUs ?? 1e6 / rps;
    const change = Math.abs(cost(next) / cost(last) - 1);
    last = next;
    if (change < steady) break;
  }
  return { curveUs, rps: last.measurement.rps };
}

/** Goes on through all of a process, so that no body is sent twice. */
let nextCounter = firstCounter;

export async function measure(
  rig: Rig,
  { port, path, child }: Running,
  payload: Payload,
  length: RunLength,
  rate: number | undefined,
): Promise<{ readonly measurement: Measurement; readonly requests: number }> {
  const { counterAt, connections } = payload;
  const before = child?.cpuTime();
  const result: LoadResult = await runLoad(rig.children, rig.runtime, join(rig.temporary, payload.name), {
    requests: {
      port,
      path,
      body: payload.request,
      bodyType: payload.requestType,
      counterAt,
      firstCounter: nextCounter,
      keys: benchKeys,
    },
    connections,
    length,
    rate,
  });
  const after = child?.cpuTime();
  // Those that were not answered any more have had their numbers, too.
  nextCounter += result.requests + connections;
  const cpu =
    before === undefined || after === undefined
      ? undefined
      : {
          userSeconds: after.userSeconds - before.userSeconds,
          kernelSeconds: after.kernelSeconds - before.kernelSeconds,
        };
  return { measurement: toMeasurement(result, cpu, child?.rssBytes()), requests: result.requests };
}

/** One request before all others: a subject that does not give back the upstream's bytes is not worth timing. */
export async function mismatch({ port, path }: Running, payload: Payload): Promise<string | undefined> {
  const answer = await new Promise<{ status: number; body: Buffer }>((resolve, reject) => {
    const headers = toHeaders(benchKeys[0] ?? '', payload.requestType);
    const sent = request(
      { port, host: '127.0.0.1', path, method: 'POST', headers, agent: false, timeout: 10_000 },
      (response) => {
        const pieces: Buffer[] = [];
        response.on('data', (piece: Buffer) => pieces.push(piece));
        response.on('error', reject);
        response.on('end', () => resolve({ status: response.statusCode ?? 0, body: Buffer.concat(pieces) }));
      },
    );
    sent.on('timeout', () => sent.destroy(new Error('no answer within 10 s')));
    sent.on('error', reject);
    sent.end(payload.request);
  });
  if (answer.status !== 200)
    return `status ${answer.status}: ${answer.body.toString('utf8', 0, 200).replaceAll(/\s+/g, ' ')}`;
  if (digest(answer.body) !== digest(payload.answer))
    return `another body than the upstream's (${answer.body.length} bytes)`;
  return undefined;
}

function digest(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}
