/** Converts series for charts: readable rate units, local time, one series per value. */

import type { Series as Answer, SeriesLine } from '../../../../src/admin/contract.ts';
import type { ChartRow, Series } from '../charts/chart-geometry.ts';
import { formatCompact } from '../words/format.ts';
import type { Dimension } from './sight.ts';

const secondMs = 1_000;
const minuteMs = 60 * secondMs;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

type Points = Answer['total']['points'];
type Count = 'requests' | 'succeeded' | 'failed' | 'refused' | 'cancelled' | 'attempts' | 'failedAttempts';

export interface RateUnit {
  readonly ms: number;
  readonly words: string;
}

const units: readonly RateUnit[] = [
  { ms: secondMs, words: 'a second' },
  { ms: minuteMs, words: 'a minute' },
  { ms: hourMs, words: 'an hour' },
];

/** The unit of rates (per second, minute, ...): the first in which the busiest point has at least one request. */
export function rateUnitOf({ total, ...answer }: Pick<Answer, 'times' | 'stepMs' | 'from' | 'to' | 'total'>): RateUnit {
  const spans = spansOf(answer);
  const most = Math.max(0, ...total.points.requests.map((count, at) => count / (spans[at] ?? 1)));
  return units.find(({ ms }) => most * ms >= 1) ?? units[units.length - 1] ?? { ms: hourMs, words: 'an hour' };
}

/** The length of each point. The first and the last may be cut short, and future time does not count. */
export function spansOf(
  { times, stepMs, from, to }: Pick<Answer, 'times' | 'stepMs' | 'from' | 'to'>,
  nowMs = Date.now(),
): number[] {
  const [fromMs, toMs] = [Date.parse(from), Math.min(Date.parse(to), Math.max(nowMs, Date.parse(from) + 1))];
  return times.map((at) => {
    const ms = Date.parse(at);
    return Math.max(secondMs, Math.min(ms + stepMs, toMs) - Math.max(ms, fromMs));
  });
}

const clock = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit' });
const dayClock = new Intl.DateTimeFormat(undefined, {
  weekday: 'short',
  day: 'numeric',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
});
const days = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short' });

function timeWords(at: string, { stepMs, from, to }: Pick<Answer, 'stepMs' | 'from' | 'to'>): string {
  const format = stepMs >= dayMs ? days : Date.parse(to) - Date.parse(from) > dayMs ? dayClock : clock;
  return format.format(new Date(at));
}

export const zoneWords = (): string => {
  const { timeZone } = new Intl.DateTimeFormat().resolvedOptions();
  const parts = new Intl.DateTimeFormat('en', { timeZoneName: 'shortOffset' }).formatToParts(new Date());
  return `${timeZone} (${parts.find(({ type }) => type === 'timeZoneName')?.value ?? 'UTC'})`;
};

/** A row for each point of a chart; each column is a function of the point's index. */
export const toRows = (
  answer: Pick<Answer, 'times' | 'stepMs' | 'from' | 'to'>,
  columns: (at: number) => Readonly<Record<string, number | null>>,
): ChartRow[] =>
  answer.times.map((time, at) => ({ time: timeWords(time, answer), atMs: Date.parse(time), ...columns(at) }));

export function ratesOf(points: Points, count: Count, spans: readonly number[], unit: RateUnit): (number | null)[] {
  return points[count].map((value, at) => (value * unit.ms) / (spans[at] ?? unit.ms));
}

export const shareAt = (part: number | undefined, whole: number | undefined): number | null =>
  part === undefined || whole === undefined || whole === 0 ? null : part / whole;

/** Share of failed requests. Refused and cancelled ones are left out, as they would hide failures; the Overview and alerts do the same. */
export const failedShareAt = (points: Points, at: number, whole = points): number | null =>
  shareAt(points.failed[at], (whole.succeeded[at] ?? 0) + (whole.failed[at] ?? 0));

/** Whether shares are of all requests: in a split by outcome or error code, the requests of one line either all fail or none. */
export const isOfAll = (by: readonly Dimension[]): boolean => by.includes('outcome') || by.includes('code');

/** Colours for the values of a split; the last one is for all other values. */
const splitColors = ['teal.6', 'blue.6', 'orange.6', 'grape.6', 'red.6', 'indigo.5', 'lime.7', 'pink.5'] as const;
const othersColor = 'gray.6';

export interface NamedLine {
  readonly series: Series;
  readonly line: SeriesLine;
}

export function toNamedLines(
  lines: readonly SeriesLine[],
  by: readonly Dimension[],
  nameOf: (dimension: Dimension, value: string | null) => string,
): NamedLine[] {
  return lines.map((line, at) => ({
    line,
    series: {
      name: `line ${at}`,
      label: line.isOthers ? 'All others' : by.map((each) => nameOf(each, line.by[each] ?? null)).join(' · '),
      color: line.isOthers ? othersColor : (splitColors[at % splitColors.length] ?? othersColor),
    },
  }));
}

export function changeWords(now: number, before: number | undefined): string {
  if (before === undefined) return 'no data before';
  if (before === 0) return now === 0 ? 'also none before' : 'none before';
  const share = now / before - 1;
  if (Math.abs(share) < 0.005) return 'as before';
  if (share >= manyTimes) return `${formatCompact(now / before)} × before`;
  return `${changes.format(share * 100)}\u00a0%`;
}

/** A change beyond this is written as a factor, which is then easier to read than a percentage. */
const manyTimes = 9;
const changes = new Intl.NumberFormat(undefined, { signDisplay: 'always', maximumFractionDigits: 1 });
