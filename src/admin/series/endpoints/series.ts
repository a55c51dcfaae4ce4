/** Implements the endpoints for time series, states of targets and upstreams, and the gateway as it is now. */

import type * as z from 'zod';
import { rowOutcomes } from '../../../core/accounting/ledger-row.ts';
import {
  latencyKinds,
  type Percentiles,
  resultOf,
  type SeriesAnswer,
  type SeriesFigures,
  type SeriesLine,
  type SeriesPoints,
  type SeriesQuery,
  wholeStretch,
} from '../../../core/store/series.ts';
import { nanosPerDollar, toDollars } from '../../../lib/money.ts';
import { recordOf } from '../../../lib/record-of.ts';
import { inBackground } from '../../../lib/time-slices.ts';
import { readOpenAlerts } from '../../alerts/endpoints/alerts.ts';
import type { AdminContext } from '../../context.ts';
import { type Given, implement } from '../../implement.ts';
import { toAgreements } from '../../overview/node-reports.ts';
import { budgetShare, readSpentBudgets, type SpentBudget } from '../../overview/notices.ts';
import { lookAtField } from '../../problem.ts';
import { createRecently } from '../../recently.ts';
import { toInstant } from '../../shapes/common.ts';
import { readTargetReports } from '../../target-index.ts';
import type { series, seriesQuery } from '../contract/series.ts';
import * as contract from '../contract/series.ts';
import { pointCounts, pointPercentiles } from '../contract/series.ts';
import { readStates } from '../states.ts';

type Query = z.output<typeof seriesQuery>;
type Shown = Given<z.input<typeof series>>;

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

export const getSeries = implement(contract.getSeries, async ({ query, context }) => {
  const toMs = query.to ?? context.clock.nowMs();
  const fromMs = query.from ?? Math.max(0, toMs - hourMs);
  if (fromMs >= toMs) throw lookAtField('from', '"from" must be before "to".');
  const asked = toQuery(query, fromMs, toMs);
  const found = await read(context.series, asked);
  const before = query.compare === undefined ? undefined : await compare(context.series, asked, found, query.compare);
  return show(query, found, before);
});

type Reader = AdminContext['series'];

async function read(reader: Reader, query: SeriesQuery): Promise<SeriesAnswer> {
  try {
    return await reader.read(query);
  } catch (thrown) {
    if (thrown instanceof RangeError) throw lookAtField('step', thrown.message);
    throw thrown;
  }
}

/** Reads the same steps and lines for an earlier span, for comparison. */
function compare(reader: Reader, query: SeriesQuery, found: SeriesAnswer, what: 'before' | 'day' | 'week') {
  const lengthMs = found.toMs - found.fromMs;
  // An earlier span that also begins with a step has the same steps.
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
  const { model, upstream, key, project, operation, code, cache, outcome, by, top, order, latency } = query;
  const outcomes = rowOutcomes.filter((one) => one === outcome || resultOf[one] === outcome);
  return {
    ...{ fromMs, toMs, by, top, order, latency },
    stepMs: query.step && stepMs[query.step],
    zoneMs: query.zone * minuteMs,
    filter: { model, upstream, key, project, operation, code, cache, outcomes: outcome && outcomes },
    wantsHeatmap: query.heatmap,
    wantsPoints: true,
  };
}

async function show(query: Query, found: SeriesAnswer, before: SeriesAnswer | undefined): Promise<Shown> {
  return {
    from: toInstant(found.fromMs),
    to: toInstant(found.toMs),
    stepMs: found.stepMs,
    since: found.sinceMs > found.fromMs ? toInstant(found.sinceMs) : null,
    times: found.timesMs.map(toInstant),
    total: { figures: toFigures(found.total.figures), points: toPoints(found.total.points) },
    lines: await inBackground.inSlices(found.lines, (line) => ({
      ...{ ...toNames(query, line), figures: toFigures(line.figures), points: toPoints(line.points) },
    })),
    heatmap: found.heatmap ?? null,
    codes: found.codes,
    attemptErrors: found.attemptErrors,
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

function toFigures(figures: SeriesFigures): Shown['total']['figures'] {
  return {
    ...figures,
    cost: toDollars(figures.costNanos),
    saved: toDollars(figures.savedNanos),
    ...recordOf(latencyKinds, (kind) => toPercentiles(figures[kind])),
  };
}

const tenths = (ms: number): number => Math.round(ms * 100) / 100;

const toPercentiles = (found: Percentiles | undefined) =>
  found === undefined ? null : { count: found.count, ...recordOf(pointPercentiles, (name) => tenths(found[name])) };

function toPoints({ counts, percentiles }: SeriesPoints): Shown['total']['points'] {
  return {
    ...recordOf(pointCounts, (name) => counts[name] ?? []),
    cost: (counts.costNanos ?? []).map((nanos) => nanos / nanosPerDollar),
    ...recordOf(pointPercentiles, (name) => percentiles.map((one) => (one === null ? null : tenths(one[name])))),
  };
}

const windowMs = 5 * 60_000;
const most = { upstreams: 100, budgets: 20 };

export const listStates = implement(contract.listStates, async ({ query, context }) => {
  const { model, upstream, state, before, limit } = query;
  const first = before === undefined ? 0 : Number(before);
  if (!Number.isSafeInteger(first) || first < 0) {
    throw lookAtField('before', 'This is no cursor of the states; give the `next` of the page before as it came.');
  }
  const { targets } = await readStates(context);
  const fitting = targets.filter(
    (target) =>
      (model === undefined || target.model === model) &&
      (upstream === undefined || target.upstream === upstream) &&
      (state === undefined || target.state === state),
  );
  return {
    items: fitting.slice(first, first + limit),
    next: fitting.length > first + limit ? String(first + limit) : null,
  };
});

const recently = createRecently(3_000);

export const getNow = implement(contract.getNow, ({ context }) => recently(context, 'now', () => readNow(context)));

async function readNow(context: AdminContext) {
  const { series, store, clock, configuration } = context;
  const atMs = clock.nowMs();
  const midnight = Math.floor(atMs / dayMs) * dayMs;
  const [recent, states, budgets, [today], open, reports] = await Promise.all([
    series.read({ ...wholeStretch, fromMs: atMs - windowMs, toMs: atMs }),
    readStates(context),
    readSpentBudgets(context),
    store.ledger.usage({ fromMs: midnight }, []),
    readOpenAlerts(context),
    readTargetReports(context),
  ]);
  const { figures } = recent.total;
  const judged = figures.succeeded + figures.failed;
  return {
    at: toInstant(atMs),
    windowMs: recent.toMs - recent.fromMs,
    requestsPerSecond: figures.requests / ((atMs - recent.fromMs) / 1_000),
    p95Ms: figures.duration?.p95 ?? null,
    failedShare: judged === 0 ? null : figures.failed / judged,
    figures: toFigures(figures),
    today: {
      from: toInstant(midnight),
      cost: toDollars(today?.sums.costNanos ?? 0n),
      requests: today?.sums.requests ?? 0,
      ...toBudgetOfToday(budgets),
    },
    upstreams: states.upstreams.slice(0, most.upstreams),
    upstreamCount: states.upstreams.length,
    budgets: budgets
      .filter(({ share }) => share >= budgetShare)
      .sort((a, b) => b.share - a.share)
      .slice(0, most.budgets)
      .map(toNearBudget),
    alerts: open,
    agreements: toAgreements(configuration.snapshot(), reports.spoken),
  };
}

/** The sum of today's budgets: those of projects if any has a daily budget, because their keys share it; else those of keys. */
function toBudgetOfToday(budgets: readonly SpentBudget[]) {
  const daily = budgets.filter(({ budget }) => budget.period === 'day');
  const ofProjects = daily.filter(({ holder }) => holder.kind === 'project');
  const counted = ofProjects.length > 0 ? ofProjects : daily.filter(({ holder }) => holder.kind === 'key');
  if (counted.length === 0) return { budget: null, budgetSpent: null };
  const sumOf = (pick: (one: SpentBudget) => number): string =>
    toDollars(counted.reduce((sum, one) => sum + pick(one), 0));
  return { budget: sumOf(({ budget }) => budget.nanos), budgetSpent: sumOf(({ spentNanos }) => spentNanos) };
}

function toNearBudget({ holder, budget, spentNanos, share, endsAtMs }: SpentBudget) {
  const { kind, id, name } = holder;
  const { period, nanos } = budget;
  const endsAt = endsAtMs === undefined ? null : toInstant(endsAtMs);
  return { kind, id, name: name || id, period, spent: toDollars(spentNanos), amount: toDollars(nanos), share, endsAt };
}
