/** The figures of one timed run, and what several of them say together. */

import type { LoadResult } from './load.ts';

export interface Measurement {
  readonly rps: number;
  readonly bytesPerSecond: number;
  readonly p50Us: number;
  readonly p99Us: number;
  readonly p999Us: number;
  readonly errors: LoadResult['errors'];
  /** Of the proxy's process; undefined where there is none or the system does not tell. */
  readonly cpuSecondsPer1000: number | undefined;
  readonly rssBytes: number | undefined;
}

export function toMeasurement(
  load: LoadResult,
  cpuSeconds: number | undefined,
  rssBytes: number | undefined,
): Measurement {
  return {
    rps: load.requests / load.seconds,
    bytesPerSecond: load.bytes / load.seconds,
    p50Us: load.p50Us,
    p99Us: load.p99Us,
    p999Us: load.p999Us,
    errors: load.errors,
    cpuSecondsPer1000: cpuSeconds === undefined ? undefined : (cpuSeconds / load.requests) * 1_000,
    rssBytes,
  };
}

/** All rounds of one subject on one payload. */
export interface Series {
  readonly subject: string;
  readonly rounds: readonly Measurement[];
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

/** Requests a second of CPU time: holds still where neighbours take turns on the core, and `rps` does not. */
export function requestsPerCpuSecond({ cpuSecondsPer1000 }: Measurement): number | undefined {
  return cpuSecondsPer1000 === undefined ? undefined : 1_000 / cpuSecondsPer1000;
}

/** A row with a single failed request says nothing: failing is faster than serving. */
export function voidReason(errors: LoadResult['errors']): string | undefined {
  const kinds = Object.entries(errors).filter(([, count]) => count > 0);
  return kinds.length === 0 ? undefined : kinds.map(([kind, count]) => `${count} ${kind} errors`).join(', ');
}
