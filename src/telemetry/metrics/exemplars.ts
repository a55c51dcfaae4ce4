/** Keeps exemplars: one traced request per histogram bucket, to find out what was slow. */

import type { Exchange } from '../../core/exchange.ts';
import type { MetricName } from './definitions.ts';

export interface TraceAt {
  readonly id: string;
  /** Seconds since the epoch. */
  readonly atS: number;
}

export interface Exemplar {
  readonly traceId: string;
  readonly value: number;
  /** Seconds since the epoch. */
  readonly atS: number;
}

type OfBuckets = readonly (Exemplar | null)[];

/** Exemplars by metric, and then by labels as Prometheus writes them. */
export type Exemplars = Readonly<Partial<Record<MetricName, Readonly<Record<string, OfBuckets>>>>>;

export function traceOf({ trace, startedAtMs, startedMs }: Exchange, nowMs: number): TraceAt | undefined {
  if (trace?.isSampled !== true) return undefined;
  return { id: trace.traceId, atS: Math.round(startedAtMs + nowMs - startedMs) / 1000 };
}

/** Merges the exemplars of several processes: the newest one of each bucket stays. */
export function newestOf(all: readonly (Exemplars | undefined)[]): Exemplars | undefined {
  const present = all.filter((one) => one !== undefined);
  if (present.length < 2) return present[0];
  const newest: Partial<Record<string, Record<string, OfBuckets>>> = {};
  for (const exemplars of present) {
    for (const [name, series] of Object.entries(exemplars)) {
      const known = newest[name] ?? {};
      newest[name] = known;
      for (const [labels, own] of Object.entries(series)) known[labels] = newer(known[labels] ?? [], own);
    }
  }
  return newest;
}

function newer(a: OfBuckets, b: OfBuckets): OfBuckets {
  return Array.from({ length: Math.max(a.length, b.length) }, (_, at) => {
    const [one, other] = [a[at] ?? null, b[at] ?? null];
    return (other?.atS ?? 0) >= (one?.atS ?? 0) ? other : one;
  });
}
