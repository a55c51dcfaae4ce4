/** From samples to what is shown: rates of the last moments, and points of five seconds each for charts. */

import type { LiveSample } from '../../../../src/admin/contract.ts';
import { formatCompact, formatCount } from '../../parts/words/format.ts';
import { shownMs } from './live-feed.ts';

export const outcomes = ['ok', 'error', 'refused', 'aborted', 'cut', 'lost'] as const;

export const stepMs = 5_000;
const nowMs = 10_000;
const minuteMs = 60_000;

type Pick = (sample: LiveSample) => number;

/** The samples of so long before the last one. */
function newest(samples: readonly LiveSample[], spanMs: number): readonly LiveSample[] {
  const last = samples.at(-1);
  if (last === undefined) return [];
  const fromMs = Date.parse(last.at) - spanMs;
  let at = samples.length;
  while (at > 0 && Date.parse(samples[at - 1]?.at ?? '') > fromMs) at -= 1;
  return samples.slice(at);
}

/** A second, over the last ten. Undefined before there is a sample. */
export const rateNow = (samples: readonly LiveSample[], pick: Pick): number | undefined =>
  rateOf(newest(samples, nowMs), pick);

function rateOf(samples: readonly LiveSample[], pick: Pick): number | undefined {
  let sum = 0;
  let spanMs = 0;
  for (const sample of samples) {
    sum += pick(sample);
    spanMs += sample.spanMs;
  }
  return spanMs === 0 ? undefined : (sum * 1000) / spanMs;
}

/** Of the requests of the last minute. Undefined where there were none. */
export function errorShare(samples: readonly LiveSample[]): number | undefined {
  let all = 0;
  let well = 0;
  for (const { requests, byOutcome } of newest(samples, minuteMs)) {
    all += requests;
    well += byOutcome.ok ?? 0;
  }
  return all === 0 ? undefined : (all - well) / all;
}

/** Of the items of the last minute; and what those would have cost that nobody was asked for. Undefined where there were none of these. */
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
  /** Undefined where nothing was seen: the console or the gateway was away. */
  readonly samples: readonly LiveSample[] | undefined;
}

/** Always as many, the last one with the last sample; on the same marks each time, so that shapes do not waver as they move. */
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

export const rateAt = ({ samples }: LivePoint, pick: Pick): number | null =>
  samples === undefined ? null : (rateOf(samples, pick) ?? null);

export const dollarsOf: Pick = ({ cost }) => Number(cost);
export const tokensOf: Pick = ({ inputTokens, outputTokens }) => inputTokens + outputTokens;
export const requestsOf: Pick = ({ requests }) => requests;
export const badOf: Pick = ({ requests, byOutcome }) => requests - (byOutcome.ok ?? 0);

/** Rates as people read them: two digits below a hundred, whole numbers above. */
export function formatRate(value: number): string {
  if (value >= 1_000) return formatCompact(value);
  return formatCount(value >= 100 ? Math.round(value) : Number(value.toPrecision(2)));
}
