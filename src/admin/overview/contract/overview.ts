/** The shape of the overview: sums over time and by key, model or upstream, and how long requests took. */

import * as z from 'zod';
import { rowOutcomes } from '../../../core/accounting/ledger-row.ts';
import { operations } from '../../../core/operations/index.ts';
import { defineEndpoint } from '../../endpoint.ts';
import { usageSums } from '../../ledger/contract/usage.ts';
import { instant } from '../../shapes/common.ts';
import { percentiles } from './live.ts';

const ranges = ['1h', '24h', '7d', '30d'] as const;
export type Range = (typeof ranges)[number];

const breakdowns = ['operation', 'model', 'key', 'project', 'upstream'] as const;
export type Breakdown = (typeof breakdowns)[number];

const orders = ['cost', 'requests', 'errors'] as const;

const name = z.string().min(1).max(256).optional();

export const overviewQuery = z.strictObject({
  range: z.enum(ranges).default('24h'),
  by: z.enum(breakdowns).default('model'),
  order: z.enum(orders).default('requests'),
  key: name,
  project: name,
  model: name,
  upstream: name,
  operation: z.enum(operations).optional(),
});

const figures = usageSums.pick({
  requests: true,
  errors: true,
  inputTokens: true,
  outputTokens: true,
  cost: true,
  unpriced: true,
});

export const overviewSums = figures.extend({
  meanMs: z.number().nullable().meta({ description: 'How long a request took on average; null where there was none.' }),
});

export const overviewBucket = overviewSums.extend({
  at: instant.meta({ description: 'When it begins.' }),
  byOutcome: z.partialRecord(z.enum(rowOutcomes), z.number()),
});

const overviewLine = overviewSums.extend({
  id: z.string().nullable().meta({ description: 'Null: requests that have none.' }),
});

export const overview = z.object({
  from: instant,
  to: instant,
  bucket: z.enum(['minute', 'hour', 'day']).meta({
    description: 'Minutes come from the rows, where an hour has few of them; hours and days, in UTC, from the sums.',
  }),
  total: overviewSums,
  buckets: z.array(overviewBucket),
  top: z.array(overviewLine).meta({ description: 'Ten at most, the first by the order that was asked for.' }),
  others: overviewSums.extend({ count: z.number() }).nullable().meta({ description: 'All behind the first ten.' }),
  comparison: z
    .object({ from: instant, to: instant, now: overviewSums, before: overviewSums })
    .nullable()
    .meta({ description: 'The whole hours of this stretch, and the same hours of the one before it.' }),
  latency: z
    .object({ rows: z.number(), isAll: z.boolean(), duration: percentiles, firstByte: percentiles.nullable() })
    .nullable()
    .meta({ description: 'Of the newest requests of the stretch, 1,000 at most.' }),
  today: z
    .object({ from: instant, total: overviewSums, hours: z.array(z.object({ at: instant, cost: z.string() })) })
    .meta({ description: 'Since midnight, UTC; whatever the filters.' }),
});

export const getOverview = defineEndpoint({
  method: 'GET',
  path: '/api/overview',
  summary: 'Say what happened in the last hour, day, week or month: sums over time, the top ten, and latency',
  tag: 'Overview',
  needs: 'viewer',
  query: overviewQuery,
  answer: overview,
});
