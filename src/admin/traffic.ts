/** Reads the traffic of the last 24 hours by key, model or upstream, and sorts lists by it. */

import type * as z from 'zod';
import { type SeriesLine, wholeStretch } from '../core/store/series.ts';
import { toDollars } from '../lib/money.ts';
import type { AdminContext } from './context.ts';
import { createRecently } from './recently.ts';
import type { shownTraffic, sortedPageQuery, trafficSorts } from './shapes/common.ts';

const dayMs = 86_400_000;
/** Limit of names with figures; further names count as having had no traffic. */
const mostLines = 100_000;

const recently = createRecently(15_000);

type Figures = SeriesLine['figures'];
export type Traffic = ReadonlyMap<string, Figures>;

export type Order = Pick<z.output<typeof sortedPageQuery>, 'sort' | 'direction'>;

export const readTraffic = (
  context: Pick<AdminContext, 'series' | 'clock'>,
  by: 'key' | 'model' | 'upstream',
): Promise<Traffic> =>
  recently(context, by, async () => {
    const toMs = context.clock.nowMs();
    const asked = { ...wholeStretch, by: [by], top: mostLines };
    const { lines } = await context.series.read({ ...asked, fromMs: toMs - dayMs, toMs });
    return byName(lines);
  });

/** Figures by name, for lines that are split by one dimension. */
export const byName = (lines: readonly SeriesLine[]): Traffic =>
  new Map(lines.flatMap(({ names: [name = ''], isOthers, figures }) => (isOthers ? [] : [[name, figures] as const])));

export function toTraffic(figures: Figures | undefined): z.input<typeof shownTraffic.traffic> {
  if (figures === undefined) return null;
  const { requests, duration, costNanos } = figures;
  return { requests, duration: duration === undefined ? null : { p95: duration.p95 }, cost: toDollars(costNanos) };
}

/** The number to sort by; without a figure it is lower than any other. */
export function numberOf(figures: Figures | undefined, sort: (typeof trafficSorts)[number]): number {
  const number = sort === 'p95' ? figures?.duration?.p95 : sort === 'cost' ? figures?.costNanos : figures?.requests;
  return number ?? -1;
}

/** Compares IDs in the requested order. Equal figures are sorted by ID, so that pages follow each other without gaps. */
export function toComparison({ sort, direction }: Order, traffic: Traffic): (a: string, b: string) => number {
  const byId = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
  if (sort === undefined) return byId;
  const sign = direction === 'asc' ? 1 : -1;
  if (sort === 'name') {
    const { compare } = new Intl.Collator('en', { numeric: true });
    return (a, b) => sign * compare(a, b) || byId(a, b);
  }
  return (a, b) => sign * (numberOf(traffic.get(a), sort) - numberOf(traffic.get(b), sort)) || byId(a, b);
}
