/** By what usage is added up, and what of it a chart shows. */

import type { UsageLine, UsageSums } from '../../../../src/admin/contract.ts';

export const groups = ['day', 'key', 'project', 'model', 'upstream', 'operation', 'outcome', 'hour'] as const;
export type Group = (typeof groups)[number];

export const groupWords: Readonly<Record<Group, string>> = {
  day: 'Day',
  hour: 'Hour',
  key: 'Key',
  project: 'Project',
  model: 'Model',
  upstream: 'Upstream',
  operation: 'Operation',
  outcome: 'Outcome',
};

export const isGroup = (text: string | null): text is Group => groups.some((group) => group === text);

export const measures = ['requests', 'tokens', 'cost'] as const;
export type Measure = (typeof measures)[number];

export const measureWords: Readonly<Record<Measure, string>> = { requests: 'Requests', tokens: 'Tokens', cost: 'Cost' };

export function measureOf(sums: UsageSums, measure: Measure): number {
  switch (measure) {
    case 'requests':
      return sums.requests;
    case 'tokens':
      return sums.inputTokens + sums.outputTokens;
    case 'cost':
      return Number(sums.cost);
  }
}

const days = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeZone: 'UTC' });
const shortDays = new Intl.DateTimeFormat(undefined, { month: 'short', day: 'numeric', timeZone: 'UTC' });
const hours = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short', timeZone: 'UTC' });
const shortHours = new Intl.DateTimeFormat(undefined, {
  month: 'short',
  day: 'numeric',
  hour: '2-digit',
  timeZone: 'UTC',
});

/** Days and hours are in UTC, and are written as the reader writes them. */
export function toTimeWords(value: string, by: 'day' | 'hour', isShort = false): string {
  const at = Date.parse(value);
  if (!Number.isFinite(at)) return value;
  if (by === 'day') return (isShort ? shortDays : days).format(at);
  return (isShort ? shortHours : hours).format(at);
}

export const isTime = (by: Group): by is 'day' | 'hour' => by === 'day' || by === 'hour';

/** Times in their order, names with the largest first. */
export function inOrder(lines: readonly UsageLine[], by: Group, measure: Measure): UsageLine[] {
  const sorted = [...lines];
  if (isTime(by)) return sorted.sort((a, b) => ((a.by[by] ?? '') < (b.by[by] ?? '') ? -1 : 1));
  return sorted.sort((a, b) => measureOf(b, measure) - measureOf(a, measure) || b.requests - a.requests);
}

interface Bar {
  readonly name: string;
  readonly value: number;
}

const mostBars = 31;

/** The last of many times, with those in which nothing was; and of many names the largest, with the rest in one. */
export function toBars(
  lines: readonly UsageLine[],
  by: Group,
  measure: Measure,
  nameOf: (value: string | null) => string,
): Bar[] {
  const bars = inOrder(lines, by, measure).map((line) => ({
    key: line.by[by] ?? null,
    value: measureOf(line, measure),
  }));
  if (isTime(by)) return withGaps(bars, by).map(({ at, value }) => ({ name: toTimeWords(at, by, true), value }));
  const named = bars.map(({ key, value }) => ({ name: nameOf(key), value }));
  if (named.length <= mostNames) return named;
  const rest = named.slice(mostNames - 1);
  return [
    ...named.slice(0, mostNames - 1),
    { name: `${rest.length} others`, value: rest.reduce((sum, { value }) => sum + value, 0) },
  ];
}

function withGaps(bars: readonly { readonly key: string | null; readonly value: number }[], by: 'day' | 'hour') {
  const values = new Map(bars.map(({ key, value }) => [Date.parse(key ?? ''), value]));
  const lastMs = Math.max(...values.keys());
  const stepMs = by === 'day' ? 86_400_000 : 3_600_000;
  const firstMs = Math.max(Math.min(...values.keys()), lastMs - (mostBars - 1) * stepMs);
  const steps = Number.isFinite(firstMs) ? Math.round((lastMs - firstMs) / stepMs) + 1 : 0;
  return Array.from({ length: steps }, (_, step) => {
    const atMs = firstMs + step * stepMs;
    return { at: new Date(atMs).toISOString(), value: values.get(atMs) ?? 0 };
  });
}

const mostNames = 12;

type Units = UsageSums['units'];

export interface UnitColumn {
  readonly title: string;
  countOf(units: Units): number;
  /** In billionths of a dollar. */
  readonly isMoney?: boolean;
}

/** What usage counts beside tokens and search units: a column each, shown where anything was counted. */
export const unitColumns: readonly UnitColumn[] = [
  { title: 'Cached tokens', countOf: ({ cachedTokens = 0 }) => cachedTokens },
  { title: 'Reasoning tokens', countOf: ({ reasoningTokens = 0 }) => reasoningTokens },
  { title: 'Images', countOf: ({ images = 0 }) => images },
  { title: 'Seconds', countOf: ({ seconds = 0 }) => Math.round(seconds * 10) / 10 },
  { title: 'Characters', countOf: ({ characters = 0 }) => characters },
  { title: 'Tool calls', countOf: ({ toolCalls = {} }) => Object.values(toolCalls).reduce((sum, one) => sum + one, 0) },
  { title: 'Items saved', countOf: ({ savedItems = 0 }) => savedItems },
  { title: 'Cost saved', countOf: ({ savedNanos = 0 }) => savedNanos, isMoney: true },
];

const nanosInADollar = 1e9;

export const toDollarText = (nanos: number): string => (nanos / nanosInADollar).toFixed(9);
