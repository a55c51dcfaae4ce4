/** The figures of one timed run, and the statistics of several. */

import type { Placement } from './children.ts';
import type { LoadResult } from './load.ts';
import type { CpuTime } from './proc.ts';

export interface Measurement {
  readonly rps: number;
  readonly bytesPerSecond: number;
  readonly p50Us: number;
  readonly p99Us: number;
  readonly p999Us: number;
  readonly errors: LoadResult['errors'];
  /** CPU microseconds per request, of all threads of the proxy's process; undefined if there is none or the system does not report it. */
  readonly cpuUs: number | undefined;
  /** Of these, those in the kernel. */
  readonly kernelUs: number | undefined;
  readonly rssBytes: number | undefined;
}

export function toMeasurement(load: LoadResult, cpu: CpuTime | undefined, rssBytes: number | undefined): Measurement {
  const perRequestUs = (seconds: number): number => (seconds * 1e6) / load.requests;
  return {
    rps: load.requests / load.seconds,
    bytesPerSecond: load.bytes / load.seconds,
    p50Us: load.p50Us,
    p99Us: load.p99Us,
    p999Us: load.p999Us,
    errors: load.errors,
    cpuUs: cpu === undefined ? undefined : perRequestUs(cpu.userSeconds + cpu.kernelSeconds),
    kernelUs: cpu === undefined ? undefined : perRequestUs(cpu.kernelSeconds),
    rssBytes,
  };
}

/** Where the parts of a warm-up end: of 50,000 requests, 1,000, 10,000 and all. */
export const warmUpShares: readonly number[] = [0.02, 0.2, 1];

/** All rounds of one subject on one payload. */
export interface Series {
  readonly subject: string;
  readonly rounds: readonly Measurement[];
  /** Of the stretches of requests that end at `warmUpShares`: CPU microseconds a request. */
  readonly warmUpUs: readonly (number | undefined)[];
  /** Why these figures must not be used. */
  readonly void: string | undefined;
}

export interface Row {
  readonly payload: string;
  readonly title: string;
  readonly requestBytes: number;
  readonly answerBytes: number;
  readonly connections: number;
  readonly upstream: string;
  /** Requests a second at fixed times; undefined: a closed loop. */
  readonly rate: number | undefined;
  readonly placement: Placement;
  readonly series: readonly Series[];
}

export function median(values: readonly number[]): number | undefined {
  const sorted = values.toSorted((a, b) => a - b);
  const upper = sorted[Math.floor(sorted.length / 2)];
  const lower = sorted[Math.floor((sorted.length - 1) / 2)];
  return upper === undefined || lower === undefined ? undefined : (upper + lower) / 2;
}

export function medianOf(series: Series, pick: (one: Measurement) => number | undefined): number | undefined {
  return median(series.rounds.map(pick).filter((value) => value !== undefined));
}

/** How far the rounds lie apart, as a share of their median. */
export function spread(series: Series): number | undefined {
  const rates = series.rounds.map(({ rps }) => rps);
  const middle = median(rates);
  return middle === undefined ? undefined : (Math.max(...rates) - Math.min(...rates)) / middle;
}

/** The median of the rounds' own ratios: what drifts over a run weighs on both sides of each. */
export function ratioOf(
  series: Series,
  floor: Series | undefined,
  pick: (one: Measurement) => number | undefined,
): number | undefined {
  if (floor === undefined || series.void !== undefined || floor.void !== undefined) return undefined;
  const ratios = series.rounds.map((one, round) => {
    const beside = floor.rounds[round];
    return (pick(one) ?? Number.NaN) / ((beside === undefined ? undefined : pick(beside)) ?? Number.NaN);
  });
  return median(ratios.filter((ratio) => Number.isFinite(ratio)));
}

/** What a subject adds to another's latency: the median of the rounds' own differences. */
export function addedTo(
  floor: Series | undefined,
  series: Series,
  pick: (one: Measurement) => number,
): number | undefined {
  if (floor === undefined || series.void !== undefined || floor.void !== undefined) return undefined;
  const differences = series.rounds.map((one, round) => {
    const beside = floor.rounds[round];
    return beside === undefined ? undefined : pick(one) - pick(beside);
  });
  return median(differences.filter((difference) => difference !== undefined));
}

/** Requests per second of CPU time: stable even if other processes share the core, which `rps` is not. */
export function requestsPerCpuSecond({ cpuUs }: Measurement): number | undefined {
  return cpuUs === undefined ? undefined : 1e6 / cpuUs;
}

/** A row with a single failed request is void: failing is faster than serving. */
export function voidReason(errors: LoadResult['errors']): string | undefined {
  const kinds = Object.entries(errors).filter(([, count]) => count > 0);
  return kinds.length === 0 ? undefined : kinds.map(([kind, count]) => `${count} ${kind} errors`).join(', ');
}
