/** Computes displayed figures from samples: current rates, and chart points of five seconds. */

import type { LiveSample } from '../../../../../src/admin/contract.ts';
import { shownMs } from './live-feed.ts';

export const stepMs = 5_000;
const minuteMs = 60_000;

type Pick = (sample: LiveSample) => number;

function newest(samples: readonly LiveSample[], spanMs: number): readonly LiveSample[] {
  const last = samples.at(-1);
  if (last === undefined) return [];
  const fromMs = Date.parse(last.at) - spanMs;
  let at = samples.length;
  while (at > 0 && Date.parse(samples[at - 1]?.at ?? '') > fromMs) at -= 1;
  return samples.slice(at);
}

function rateOf(samples: readonly LiveSample[], pick: Pick): number | undefined {
  let sum = 0;
  let spanMs = 0;
  for (const sample of samples) {
    sum += pick(sample);
    spanMs += sample.spanMs;
  }
  return spanMs === 0 ? undefined : (sum * 1000) / spanMs;
}

/** The share of cached items in the last minute, and the cost that they saved; undefined if there were no items. */
export function savings(
  samples: readonly LiveSample[],
): { readonly share: number; readonly dollars: number } | undefined {
  let asked = 0;
  let saved = 0;
  let dollars = 0;
  for (const sample of newest(samples, minuteMs)) {
    asked += sample.items;
    saved += sample.savedItems;
    dollars += Number(sample.saved);
  }
  return saved === 0 ? undefined : { share: saved / (saved + asked), dollars };
}

export interface LivePoint {
  readonly atMs: number;
  /** The samples of the point; undefined if there are none, as the console or the gateway was disconnected. */
  readonly samples: readonly LiveSample[] | undefined;
}

/** Points of a chart, always the same number, the last one with the last sample. Their times are multiples of a step, so that shapes stay stable. */
export function toPoints(samples: readonly LiveSample[]): LivePoint[] {
  const last = samples.at(-1);
  if (last === undefined) return [];
  const lastMs = Math.floor(Date.parse(last.at) / stepMs) * stepMs;
  const own = Map.groupBy(samples, ({ at }) => Math.floor(Date.parse(at) / stepMs) * stepMs);
  const count = shownMs / stepMs;
  return Array.from({ length: count }, (_, at) => {
    const atMs = lastMs - (count - 1 - at) * stepMs;
    return { atMs, samples: own.get(atMs) };
  });
}

/** Index of the series minute that stands for a point without samples; -1 if there is none, or the point has samples. */
export const minuteFor = ({ atMs, samples }: LivePoint, times: readonly string[]): number =>
  samples === undefined ? times.findLastIndex((time) => Date.parse(time) <= atMs) : -1;

export const rateAt = ({ samples }: LivePoint, pick: Pick): number | null =>
  samples === undefined ? null : (rateOf(samples, pick) ?? null);

export const dollarsOf: Pick = ({ cost }) => Number(cost);

const outcomesOf: Readonly<Record<string, readonly (keyof LiveSample['byOutcome'])[]>> = {
  succeeded: ['ok'],
  failed: ['error', 'cut', 'lost'],
  refused: ['refused'],
  cancelled: ['aborted'],
};

export const resultOf = ({ byOutcome }: LiveSample, result: string): number =>
  (outcomesOf[result] ?? []).reduce((sum, outcome) => sum + (byOutcome[outcome] ?? 0), 0);
