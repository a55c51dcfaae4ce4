/** The stretches of time that the overview knows, in whole hours: that is how sums are kept. */

import type { Range } from './contract/overview.ts';

export const minuteMs = 60_000;
export const hourMs = 60 * minuteMs;
export const dayMs = 24 * hourMs;

export interface Stretch {
  readonly fromMs: number;
  readonly toMs: number;
  readonly bucket: 'minute' | 'hour' | 'day';
  /** The whole hours in it, and the same hours one stretch earlier; the hour that is running is in neither. */
  readonly whole: { readonly fromMs: number; readonly toMs: number; readonly earlierByMs: number };
}

const lengths: Readonly<Record<Range, number>> = { '1h': hourMs, '24h': dayMs, '7d': 7 * dayMs, '30d': 30 * dayMs };

export function toStretch(range: Range, nowMs: number): Stretch {
  const lengthMs = lengths[range];
  const hourNow = Math.floor(nowMs / hourMs) * hourMs;
  if (range === '1h') {
    const whole = { fromMs: hourNow - hourMs, toMs: hourNow, earlierByMs: hourMs };
    return { fromMs: hourNow - hourMs, toMs: nowMs, bucket: 'hour', whole };
  }
  const dayNow = Math.floor(nowMs / dayMs) * dayMs;
  const fromMs = range === '24h' ? hourNow - lengthMs + hourMs : dayNow - lengthMs + dayMs;
  const whole = { fromMs, toMs: hourNow, earlierByMs: lengthMs };
  return { fromMs, toMs: nowMs, bucket: range === '30d' ? 'day' : 'hour', whole };
}

/** The beginnings of all buckets, so that those without a request are there too. */
export function bucketsOf({ fromMs, toMs, bucket }: Pick<Stretch, 'fromMs' | 'toMs' | 'bucket'>): number[] {
  const stepMs = { minute: minuteMs, hour: hourMs, day: dayMs }[bucket];
  const first = Math.floor(fromMs / stepMs) * stepMs;
  const starts: number[] = [];
  for (let at = first; at < toMs; at += stepMs) starts.push(at);
  return starts;
}
