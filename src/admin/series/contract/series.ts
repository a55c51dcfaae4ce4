/** Declares the endpoints for counts, rates, percentiles and cost over time from the ledger, and for the states of targets. */

import * as z from 'zod';
import { rowOutcomes } from '../../../core/accounting/ledger-row.ts';
import { holderKinds } from '../../../core/caps.ts';
import { operations } from '../../../core/operations/index.ts';
import { latencyKinds, requestResults, seriesDimensions, seriesOrders } from '../../../core/store/series.ts';
import { recordOf } from '../../../lib/record-of.ts';
import { alert } from '../../alerts/contract/alerts.ts';
import { endpointsOf } from '../../endpoint.ts';
import { checkSpan, fromTime, toTimeOf } from '../../ledger/contract/ledger.ts';
import { agreement } from '../../overview/contract/state.ts';
import { dollars, instant, pageQuery, reportedStates } from '../../shapes/common.ts';

const seriesEndpoint = endpointsOf('Series');

const name = z.string().max(256).optional();

const seriesSteps = ['1m', '5m', '15m', '1h', '6h', '1d'] as const;

const comparisons = ['before', 'day', 'week'] as const;

const by = z
  .string()
  .max(100)
  .default('')
  .transform((text, issues) => {
    const names = new Set(text === '' ? [] : text.split(',').map((each) => each.trim()));
    const known = seriesDimensions.filter((dimension) => names.has(dimension));
    if (known.length === names.size && known.length <= 2) {
      return [...names].flatMap((each) => seriesDimensions.filter((dimension) => dimension === each));
    }
    issues.addIssue(`Give at most two of ${seriesDimensions.join(', ')}, separated by commas.`);
    return z.NEVER;
  })
  .describe(`At most two of ${seriesDimensions.join(', ')}, separated by commas: a line for each value.`);

const most = { minutesEast: 14 * 60, lines: 50 };

export const seriesQuery = z
  .strictObject({
    from: fromTime.describe('Default: an hour before `to`.'),
    to: toTimeOf.describe('Default: now. Both are rounded outwards to minutes.'),
    step: z.enum(seriesSteps).optional().describe('Length of a point; by default it depends on the range.'),
    zone: z.coerce
      .number()
      .int()
      .min(-most.minutesEast)
      .max(most.minutesEast)
      .default(0)
      .describe('Time zone in minutes east of UTC, for points of six hours and of a day.'),
    by,
    top: z.coerce
      .number()
      .int()
      .min(1)
      .max(most.lines)
      .default(10)
      .describe('Maximum of lines; all others are one more line, `isOthers`.'),
    order: z.enum(seriesOrders).default('requests'),
    latency: z
      .enum(latencyKinds)
      .default('duration')
      .describe('Duration for percentiles and heat map: whole request, to the first byte, until sent, or in a queue.'),
    heatmap: z.stringbool().default(false),
    compare: z
      .enum(comparisons)
      .optional()
      .describe('With the stretch of the same length just before, a day earlier, or a week earlier.'),
    model: name,
    upstream: name,
    key: name,
    project: name,
    operation: z.enum(operations).optional(),
    outcome: z
      .enum([...requestResults, ...rowOutcomes])
      .optional()
      .describe('`failed` is `error`, `cut` and `lost`; the others are outcomes of the ledger.'),
    code: name.describe('The error code, or the status where an upstream answered with an error.'),
    cache: z.enum(['hit', 'partial', 'miss']).optional(),
  })
  .superRefine(checkSpan);

const count = z.number();

const percentiles = z
  .object({ count, p50: z.number(), p95: z.number(), p99: z.number() })
  .nullable()
  .describe('Milliseconds, within 1 %; null without measurements.');

const figures = z.object({
  requests: count,
  succeeded: count,
  failed: count.describe('Ended with an error of an upstream, were cut off, or have an unknown end.'),
  refused: count.describe('Refused by the gateway: nothing was sent to an upstream.'),
  cancelled: count.describe('The client disconnected first.'),
  cached: count.describe('Answered from the cache, at least in part.'),
  attempts: count.describe('Calls to upstreams.'),
  failedAttempts: count.describe('Of these, calls without a usable response.'),
  items: count,
  inputTokens: count,
  outputTokens: count,
  searchUnits: count,
  cost: dollars,
  unpriced: count.describe('Requests with unknown cost, not included in the sum.'),
  savedItems: count.describe('Items of lists answered from the cache.'),
  saved: dollars.describe('What these would have cost.'),
  duration: percentiles,
  firstByte: percentiles,
  overhead: percentiles.describe('Time until the call was sent, waits included; for requests with one call.'),
  wait: percentiles.describe('Time in the queue of an upstream; for requests that waited.'),
});

const numbers = z.array(z.number());
const known = z.array(z.number().nullable());

export const pointCounts = [
  'requests',
  ...requestResults,
  'attempts',
  'failedAttempts',
  'inputTokens',
  'outputTokens',
  'items',
] as const;
export const pointPercentiles = ['p50', 'p95', 'p99'] as const;

const points = z
  .object({
    ...recordOf(pointCounts, () => numbers),
    cost: numbers.describe('US dollars, as numbers for a chart.'),
    ...recordOf(pointPercentiles, () => known),
  })
  .describe('Each list has a value for each of `times`.');

const line = z.object({
  by: z
    .partialRecord(z.enum(seriesDimensions), z.string().nullable())
    .describe('A value for each requested dimension; null for requests without one.'),
  isOthers: z.boolean().describe('All other lines, and names too rare to be stored separately.'),
  figures,
  points,
});

const stretch = z.object({ from: instant, to: instant });

export const series = z.object({
  from: instant.describe('The range after rounding.'),
  to: instant,
  stepMs: z.number(),
  since: instant.nullable().describe('Beginning of the stored series, if the range begins earlier; null otherwise.'),
  times: z.array(instant).describe('When each point begins; the first and the last may be cut short.'),
  total: z.object({ figures, points }),
  lines: z.array(line).describe('In the requested order; empty without a dimension.'),
  heatmap: z
    .object({
      bounds: numbers.describe('Milliseconds: upper bounds of the rows.'),
      counts: z.array(numbers).describe('For each of `times`, a count for each row.'),
    })
    .nullable(),
  codes: z
    .array(z.object({ code: z.string(), outcome: z.enum(rowOutcomes), requests: count }))
    .describe('The most frequent bad outcomes, ten at most.'),
  attemptErrors: z
    .array(z.object({ upstream: z.string(), kind: z.string(), code: z.string(), attempts: count }))
    .describe(
      'The most frequent failures of calls, ten at most; `code` is a status or the kind of failure. `upstream` is empty if an older version summed the calls of a key or project without it.',
    ),
  comparison: stretch
    .extend({
      isCovered: z.boolean().describe('False if series do not reach so far back: there is no data.'),
      figures,
      points: points.describe('The same points, shifted back in time.'),
      lines: z
        .array(line.pick({ by: true, isOthers: true, figures: true }))
        .describe('For the same values as `lines`.'),
    })
    .nullable(),
});

export const getSeries = seriesEndpoint('GET /api/series', 'viewer', {
  summary: 'Get counts, rates, percentiles, tokens and cost over time, with filters, splits and a comparison',
  query: seriesQuery,
  answer: series,
});

/** The displayed states of a target or an upstream. */
export const shownStates = ['failing', 'cooldown', 'degraded', 'healthy', 'untested'] as const;

/** The limits by which a target counts as degraded or failing. */
export const stateRule = {
  windowMs: 600_000,
  leastAttempts: 10,
  /** Share of successful calls below which a target is degraded; next, the share at which it fails. */
  successShare: 0.95,
  failingShare: 0.5,
  /** A target is degraded where its p95 is this many times that of the past week. */
  slower: 2,
  leastMeasured: 20,
  leastOfWeek: 100,
} as const;

const evidence = z.object({
  attempts: count.describe('Calls of the last ten minutes, as are the next five.'),
  failedAttempts: count,
  successShare: z.number().nullable(),
  p95Ms: z.number().nullable(),
  topCode: z
    .object({ kind: z.string(), code: z.string(), attempts: count })
    .nullable()
    .describe('The most frequent failure.'),
  requestsPerSecond: z.number(),
  weekP95Ms: z.number().nullable().describe('Of the last seven days; null with too few calls.'),
  since: instant.nullable().describe('Beginning of this state, to the minute; null if healthy or untested.'),
});

export const shownTarget = z.object({
  model: z.string(),
  upstream: z.string(),
  upstreamModel: z.string(),
  state: z.enum(shownStates),
  reported: z.enum(reportedStates).describe('The worst state on any node.'),
  cooldownMs: z.number(),
  cause: z.string().nullable().describe('The reason as a sentence; null if there is none.'),
  evidence,
});

export const shownUpstream = z.object({
  id: z.string(),
  state: z.enum(shownStates).describe('The worst state of its targets with traffic.'),
  cause: z.string().nullable(),
  targets: z.partialRecord(z.enum(shownStates), z.number()),
  models: z.array(z.string()).describe('Of the targets in the worst state, five at most.'),
  evidence,
});

const statesQuery = z.strictObject({
  model: name,
  upstream: name,
  state: z.enum(shownStates).optional(),
  before: z.string().max(20).optional().describe('The `next` of the page before.'),
  limit: pageQuery.shape.limit,
});

export const listStates = seriesEndpoint('GET /api/states', 'viewer', {
  summary: 'Get the state of each target of each model with its evidence, worst first',
  query: statesQuery,
  answer: z.object({ items: z.array(shownTarget), next: z.string().nullable() }),
});

const nearBudget = z.object({
  kind: z.enum(holderKinds),
  id: z.string(),
  name: z.string(),
  period: z.string(),
  spent: dollars,
  amount: dollars,
  share: z.number(),
  endsAt: instant.nullable().describe('When the next period begins.'),
});

export const now = z.object({
  at: instant,
  windowMs: z.number().describe('Window of rates and percentiles.'),
  requestsPerSecond: z.number(),
  p95Ms: z.number().nullable(),
  failedShare: z.number().nullable().describe('Of the requests that succeeded or failed.'),
  figures,
  today: z.object({
    from: instant,
    cost: dollars,
    requests: count,
    budget: dollars.nullable().describe('Sum of all daily budgets.'),
    budgetSpent: dollars.nullable().describe('What those with a daily budget spent today.'),
  }),
  upstreams: z.array(shownUpstream).describe('Worst first, 100 at most.'),
  upstreamCount: z.number(),
  budgets: z.array(nearBudget).describe('At least 80 % spent, highest first, 20 at most.'),
  alerts: z.array(alert).describe('Open alerts.'),
  agreements: z.array(agreement).describe('Of models with a shadow or canaries, over all nodes.'),
});

export const getNow = seriesEndpoint('GET /api/now', 'viewer', {
  summary: 'Get the current state: upstreams, rates, spend, budgets and open alerts',
  answer: now,
});
