/** Contract: usage reports from the ledger's sums. */

import * as z from 'zod';
import { priceSources } from '../../../core/accounting/price.ts';
import { type UsageGroup, usageGroups } from '../../../core/store/ledger.ts';
import { endpointsOf } from '../../endpoint.ts';
import { dollars, instant } from '../../shapes/common.ts';
import { checkSpan, unitCounts, usageFilters } from './ledger.ts';

const ledgerEndpoint = endpointsOf('Ledger');

const groups = z
  .string()
  .max(100)
  .default('day')
  .transform((text, issues): UsageGroup[] => {
    const names = new Set(text.split(',').map((name) => name.trim()));
    const known = usageGroups.filter((group) => names.has(group));
    if (known.length === names.size) return [...names].flatMap((name) => usageGroups.filter((group) => group === name));
    issues.addIssue(`Give one or more of ${usageGroups.join(', ')}, separated by commas.`);
    return z.NEVER;
  })
  .describe(`One or more of ${usageGroups.join(', ')}, separated by commas.`);

const sums = {
  requests: z.number(),
  errors: z.number().describe('Of them, those that ended otherwise than well.'),
  inputTokens: z.number(),
  outputTokens: z.number(),
  searchUnits: z.number(),
  items: z.number(),
  cost: dollars,
  unpriced: z.number().describe('Requests whose cost is not known, and is not in the sum.'),
  estimated: z.number().describe('Requests whose usage is an estimate, at least in part.'),
  requestBytes: z.number(),
  responseBytes: z.number(),
  durationMs: z.number(),
  units: z
    .object({
      cachedTokens: z.number().optional().describe('Of the input, what the cache of the service held.'),
      ...unitCounts,
    })
    .describe('What else was counted; what is not there is nothing.'),
};

export const usageSums = z.object(sums);

/** The figures of most answers. */
export const usageFigures = usageSums.pick({
  requests: true,
  errors: true,
  inputTokens: true,
  outputTokens: true,
  cost: true,
  unpriced: true,
});

const usageLine = z.object({
  by: z
    .partialRecord(z.enum(usageGroups), z.string().nullable())
    .describe('A value for each group that was asked for; null where a request had none.'),
  ...sums,
});

export const usage = z.object({
  from: instant.nullable().describe('What is added up is whole hours.'),
  to: instant.nullable(),
  lines: z.array(usageLine),
  total: usageSums,
  prices: z
    .array(
      z.object({
        source: z.enum(priceSources),
        asOf: z.iso.date(),
        models: z.int().describe('How many of the configured models go by it.'),
      }),
    )
    .describe('The price lists that configured models go by now, the oldest first.'),
});

export const getUsage = ledgerEndpoint('GET /api/usage', 'viewer', {
  summary:
    'Add up who used what and what it cost, by key, project, model, upstream, route, operation, outcome, hour or day',
  query: z
    .strictObject({ by: groups, ...usageFilters, format: z.enum(['json', 'csv']).default('json') })
    .superRefine(checkSpan),
  answer: usage,
});
