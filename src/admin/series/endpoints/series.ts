/** Endpoints: time series for charts and lists. */

import type * as z from 'zod';
import { rowOutcomes } from '../../../core/accounting/ledger-row.ts';
import {
  type Percentiles,
  resultOf,
  type SeriesAnswer,
  type SeriesFigures,
  type SeriesLine,
  type SeriesPoints,
  type SeriesQuery,
} from '../../../core/store/series.ts';
import { toDollars } from '../../../lib/money.ts';
import { timeSliced } from '../../../lib/time-slices.ts';
import { implement } from '../../implement.ts';
import { lookAtField } from '../../problem.ts';
import { toInstant } from '../../shapes/common.ts';
import type { series, seriesQuery } from '../contract/series.ts';
import * as contract from '../contract/series.ts';

type Query = z.output<typeof seriesQuery>;
type Shown = z.input<typeof series>;

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;
const stepMs = {
  '1m': minuteMs,
  '5m': 5 * minuteMs,
  '15m': 15 * minuteMs,
  '1h': hourMs,
  '6h': 6 * hourMs,
  '1d': dayMs,
};
const nanosPerDollar = 1e9;

export const getSeries = implement(contract.getSeries, async ({ query, context }) => {
  const toMs = query.to ?? context.clock.nowMs();
  const fromMs = query.from ?? Math.max(0, toMs - hourMs);
  if (fromMs >= toMs) throw lookAtField('from', '"from" has to be before "to".');
  const asked = toQuery(query, fromMs, toMs);
  const found = await read(context.series, asked);
  const before = query.compare === undefined ? undefined : await compare(context.series, asked, found, query.compare);
  return timeSliced(showing(query, found, before));
});

interface Reader {
  read(query: SeriesQuery): Promise<SeriesAnswer>;
}

async function read(reader: Reader, query: SeriesQuery): Promise<SeriesAnswer> {
  try {
    return await reader.read(query);
  } catch (thrown) {
    if (thrown instanceof RangeError) throw lookAtField('step', thrown.message);
    throw thrown;
  }
}

/** The same steps and lines, as much earlier as is asked for. */
function compare(reader: Reader, query: SeriesQuery, found: SeriesAnswer, what: 'before' | 'day' | 'week') {
  const lengthMs = found.toMs - found.fromMs;
  // A stretch before that begins with a step as well has the same steps.
  const byMs = { before: Math.ceil(lengthMs / found.stepMs) * found.stepMs, day: dayMs, week: 7 * dayMs }[what];
  return read(reader, {
    ...query,
    fromMs: found.fromMs - byMs,
    toMs: found.toMs - byMs,
    stepMs: found.stepMs,
    wantsHeatmap: false,
    lines: found.lines.flatMap(({ names, isOthers }) => (isOthers ? [] : [names])),
  });
}

function toQuery(query: Query, fromMs: number, toMs: number): SeriesQuery {
  const { model, upstream, key, project, operation, code, cache, outcome } = query;
  const outcomes = rowOutcomes.filter((one) => one === outcome || resultOf[one] === outcome);
  return {
    fromMs,
    toMs,
    stepMs: query.step && stepMs[query.step],
    zoneMs: query.zone * minuteMs,
    filter: { model, upstream, key, project, operation, code, cache, outcomes: outcome && outcomes },
    by: query.by,
    top: query.top,
    order: query.order,
    latency: query.latency,
    wantsHeatmap: query.heatmap,
    wantsPoints: true,
  };
}

function* showing(
  query: Query,
  found: SeriesAnswer,
  before: SeriesAnswer | undefined,
): Generator<undefined, Shown, undefined> {
  const lines: Shown['lines'] = [];
  for (const line of found.lines) {
    yield;
    lines.push({ ...toNames(query, line), figures: toFigures(line.figures), points: toPoints(line.points) });
  }
  return {
    from: toInstant(found.fromMs),
    to: toInstant(found.toMs),
    stepMs: found.stepMs,
    since: found.sinceMs > found.fromMs ? toInstant(found.sinceMs) : null,
    times: found.timesMs.map(toInstant),
    total: { figures: toFigures(found.total.figures), points: toPoints(found.total.points) },
    lines,
    heatmap:
      found.heatmap === undefined
        ? null
        : { bounds: [...found.heatmap.bounds], counts: found.heatmap.counts.map((column) => [...column]) },
    codes: found.codes.map((one) => ({ ...one })),
    attemptErrors: found.attemptErrors.map((one) => ({ ...one })),
    comparison:
      before === undefined
        ? null
        : {
            from: toInstant(before.fromMs),
            to: toInstant(before.toMs),
            isCovered: before.sinceMs <= before.fromMs,
            figures: toFigures(before.total.figures),
            points: toPoints(before.total.points),
            lines: before.lines.map((line) => ({ ...toNames(query, line), figures: toFigures(line.figures) })),
          },
  };
}

function toNames({ by }: Query, { names, isOthers }: SeriesLine): Pick<Shown['lines'][number], 'by' | 'isOthers'> {
  return { by: Object.fromEntries(by.map((name, index) => [name, names[index] || null])), isOthers };
}

export function toFigures(figures: SeriesFigures): Shown['total']['figures'] {
  const { costNanos, savedNanos, duration, firstByte, overhead, wait, ...counts } = figures;
  return {
    ...counts,
    cost: toDollars(costNanos),
    saved: toDollars(savedNanos),
    duration: toPercentiles(duration),
    firstByte: toPercentiles(firstByte),
    overhead: toPercentiles(overhead),
    wait: toPercentiles(wait),
  };
}

const tenths = (ms: number): number => Math.round(ms * 100) / 100;

const toPercentiles = (found: Percentiles | undefined) =>
  found === undefined
    ? null
    : { count: found.count, p50: tenths(found.p50), p95: tenths(found.p95), p99: tenths(found.p99) };

function toPoints({ counts, percentiles }: SeriesPoints): Shown['total']['points'] {
  const of = (name: keyof SeriesPoints['counts']): number[] => [...(counts[name] ?? [])];
  const each = (name: 'p50' | 'p95' | 'p99') => percentiles.map((one) => (one === null ? null : tenths(one[name])));
  return {
    requests: of('requests'),
    succeeded: of('succeeded'),
    failed: of('failed'),
    refused: of('refused'),
    cancelled: of('cancelled'),
    attempts: of('attempts'),
    failedAttempts: of('failedAttempts'),
    inputTokens: of('inputTokens'),
    outputTokens: of('outputTokens'),
    items: of('items'),
    cost: of('costNanos').map((nanos) => nanos / nanosPerDollar),
    p50: each('p50'),
    p95: each('p95'),
    p99: each('p99'),
  };
}
