/** Declares the endpoints for ledger rows, their export and live tail, usage reports from sums, and the audit log. */

import * as z from 'zod';
import { rowOutcomes } from '../../../core/accounting/ledger-row.ts';
import { priceSources } from '../../../core/accounting/price.ts';
import { unitNames, unitTerms } from '../../../core/accounting/units.ts';
import { operations } from '../../../core/operations/index.ts';
import { type UsageGroup, usageGroups } from '../../../core/store/ledger.ts';
import { parseDollars } from '../../../lib/money.ts';
import { toInstantMs } from '../../../lib/quantities.ts';
import { recordOf } from '../../../lib/record-of.ts';
import { endpointsOf } from '../../endpoint.ts';
import { dollars, instant, pageOf, pageQuery } from '../../shapes/common.ts';

const auditEndpoint = endpointsOf('Audit');
const ledgerEndpoint = endpointsOf('Ledger');

const dayMs = 86_400_000;

const asked = z.string().max(40);

/** The beginning of a time span: a time, or a day in UTC, from its beginning. */
export const fromTime = asked
  .transform((text, issues) => toTime(text, issues))
  .optional()
  .describe('A time such as 2026-11-21T09:00Z, or a day in UTC such as 2026-11-21.');

/** The end of a time span: a time, or a day in UTC, to its end. */
export const toTimeOf = asked
  .transform((text, issues) => toTime(text, issues) + (text.length === 'yyyy-mm-dd'.length ? dayMs : 0))
  .optional()
  .describe('Exclusive; a day in UTC is included entirely.');

function toTime(text: string, issues: z.RefinementCtx): number {
  const ms = toInstantMs(text);
  if (ms !== undefined && ms >= 0) return ms;
  issues.addIssue(`"${text}" is not a valid time; use the form 2026-11-21 or 2026-11-21T09:00Z.`);
  return z.NEVER;
}

interface Span {
  readonly from?: number | undefined;
  readonly to?: number | undefined;
}

/** Checks that `from` is before `to`; a fault is reported for `from`, which is wrong more often. */
export function checkSpan({ from, to }: Span, issues: z.RefinementCtx): void {
  if (from !== undefined && to !== undefined && from >= to) {
    issues.addIssue({ code: 'custom', path: ['from'], message: '"from" must be before "to".' });
  }
}

export const auditEntry = z.object({
  id: z.string(),
  at: instant,
  actor: z.string().describe('Such as `command line` or `console: ada@example.com`.'),
  action: z.string().describe('Such as `key.create`.'),
  subject: z.string(),
  name: z.string().nullable().describe('Name of the subject, where that is an ID; null if unknown.'),
  before: z.unknown().describe('Before the change, without secrets; null if it did not exist.'),
  after: z.unknown().describe('After the change, without secrets; null if it was removed.'),
});

const name = z.string().min(1).max(256).optional();

const pageOfIds = (where: string) => ({
  ...pageQuery.shape,
  before: z
    .string()
    .regex(/^[0-9a-f]{32}$/, `This is no cursor of ${where}; give the \`next\` of the page before as it came.`)
    .optional()
    .describe('The `next` of the page before.'),
});

const auditQuery = z
  .strictObject({
    from: fromTime,
    to: toTimeOf,
    actor: name,
    action: name.describe('Beginning of the action: `key.` for all actions on keys.'),
    subject: name,
    ...pageOfIds('the audit log'),
  })
  .superRefine(checkSpan);

export const listAudit = auditEndpoint('GET /api/audit', 'admin', {
  summary: 'List changes with author, before and after, newest first',
  query: auditQuery,
  answer: pageOf(auditEntry),
});

/** Filters that can be used for rows and for usage sums. */
const usageFilters = {
  from: fromTime,
  to: toTimeOf,
  key: name.describe('The ID of a key.'),
  project: name,
  model: name,
  upstream: name,
  operation: z.enum(operations).optional(),
  outcome: z.enum(rowOutcomes).optional(),
};

const rowFilters = {
  ...usageFilters,
  status: z
    .string()
    .regex(/^\d{1,3}$/, 'A status is a whole number from 0 to 599.')
    .transform(Number)
    .refine((status) => status <= 599, 'A status is a whole number from 0 to 599.')
    .optional(),
  clientRequestId: z.string().min(1).max(256).optional().describe("The client's complete `x-request-id`."),
};

const idFilter = {
  id: z
    .string()
    .regex(/^[0-9a-fA-F]{4,32}$/, 'Give 4 to 32 hex digits: the ID of a row, or its beginning.')
    .transform((id) => id.toLowerCase())
    .optional()
    .describe('The ID of a row, or its beginning.'),
};

/** Filters without an index: a page may have fewer rows than its limit although further pages follow. */
const rareFilters = {
  code: name.describe('The error code of the gateway.'),
  cache: z.enum(['hit', 'partial', 'miss']).optional(),
  minDurationMs: z
    .string()
    .regex(/^\d{1,9}$/, 'A duration is whole milliseconds, such as 500.')
    .transform(Number)
    .optional()
    .describe('Minimum duration in milliseconds.'),
  minCost: z
    .string()
    .refine((text) => parseDollars(text) !== undefined, 'An amount in US dollars, such as 0.05.')
    .optional()
    .describe('Minimum cost in US dollars.'),
  tag: z
    .string()
    .regex(/^[^:]{1,64}:.{0,256}$/s, 'A tag is a name, a colon and a text, such as team:search.')
    .optional()
    .describe('Of keys with this in their `metadata`, such as `team:search`.'),
};

const tailQuery = z.strictObject(rowFilters).superRefine(checkSpan);

const ledgerQuery = z
  .strictObject({
    ...rowFilters,
    ...rareFilters,
    ...idFilter,
    ...pageOfIds('the ledger'),
  })
  .superRefine(checkSpan);

const ledgerId = z.object({
  id: z.string().regex(/^[0-9a-f]{32}$/, 'The ID of a row is 32 hex digits in lower case.'),
});

const count = z.number().nullable();
const text = z.string().nullable();

/** Billed units besides tokens. */
const unitCounts = {
  ...recordOf(unitNames, () => z.number().optional()),
  cacheWriteTokens: z.number().optional().describe('Input tokens written to the prompt cache of the service.'),
  cacheWriteHourTokens: z.number().optional().describe('Of those, tokens cached for an hour.'),
  calls: z.number().optional().describe('Number of sub-calls for a list, if more than one.'),
  savedItems: z.number().optional().describe('Items answered from the cache, without a call.'),
  savedTokens: z.number().optional().describe('Tokens that these would have used.'),
  savedNanos: z.number().optional().describe('What these would have cost, in billionths of a dollar.'),
  toolCalls: z
    .record(z.string(), z.number())
    .optional()
    .describe('Calls of tools that the service ran itself, by kind.'),
};

const units = z.object({ ...unitCounts, ...recordOf(unitTerms, () => z.string().optional()) });

const ledgerTry = z.object({
  upstream: z.string(),
  model: z.string(),
  credential: text.describe('Set if the upstream has several.'),
  outcome: z.string(),
  detail: z.union([z.number(), z.string()]).nullable().describe('A status, or the kind of failure.'),
  startMs: z.number().nullable().describe('Since the request arrived; null in rows of older versions.'),
  durationMs: z.number(),
  connectMs: count.describe('Of that, the time until it had a connection; null if one was open and free.'),
});

export const ledgerRow = z.object({
  id: z.string(),
  clientRequestId: text,
  startedAt: instant,
  node: z.string(),
  key: z.string(),
  project: text,
  route: z.string(),
  operation: z.enum(operations),
  label: z.string(),
  model: text,
  upstream: text,
  upstreamModel: text,
  attempts: z.number(),
  outcome: z.enum(rowOutcomes),
  status: z.number().describe('499 if the client disconnected, 0 if unknown.'),
  error: text,
  promptTokens: count,
  completionTokens: count,
  totalTokens: count,
  searchUnits: count,
  cachedTokens: count,
  billedInputTokens: count,
  billedOutputTokens: count,
  billedSearchUnits: count,
  isEstimated: z.boolean(),
  items: z.number(),
  cost: dollars.nullable().describe('US dollars, decimal and exact; null if the price is unknown.'),
  requestBytes: z.number(),
  responseBytes: z.number(),
  durationMs: z.number(),
  firstByteMs: count,
  upstreamMs: count,
  queueMs: count.describe('Time in queues of upstreams; null if it did not wait.'),
  connectMs: count.describe(
    'Until the call whose answer the client got had a connection: the wait for a free one, or TCP and TLS handshake of a new one. Null if one was open and free.',
  ),
  cache: text,
  clientAddress: text,
  traceId: text.describe('Trace ID, if tracing is on.'),
  units: units.nullable().describe('Other billed units, and terms that affect the price; null if there are none.'),
});

export const ledgerDetail = ledgerRow.extend({
  tries: z.array(ledgerTry).describe('All calls, unless one call succeeded at once.'),
  traceUrl: text.describe('Link to its trace, from `console.trace_url`.'),
  hasCapture: z.boolean().describe('Whether request and response bodies were captured.'),
});

/** Values to choose from in filters; others, which existed in the past, can be requested as well. */
export const ledgerChoices = z.object({
  keys: z.array(z.object({ id: z.string(), name: z.string() })),
  projects: z.array(z.object({ id: z.string(), name: z.string() })),
  models: z.array(z.string()),
  upstreams: z.array(z.string()),
});

export const listLedger = ledgerEndpoint('GET /api/ledger', 'viewer', {
  summary: 'List requests, newest first',
  query: ledgerQuery,
  answer: pageOf(ledgerRow),
});

export const exportLedger = ledgerEndpoint('GET /api/ledger/export', 'viewer', {
  summary: 'Download requests as CSV or as lines of JSON, 100,000 at most',
  query: z
    .strictObject({ ...rowFilters, ...rareFilters, ...idFilter, format: z.enum(['csv', 'ndjson']).default('csv') })
    .superRefine(checkSpan),
  streams: 'text/csv',
});

export const tailLedger = ledgerEndpoint('GET /api/ledger/tail', 'viewer', {
  summary: 'Stream requests as they end, as server-sent events',
  query: tailQuery,
  streams: 'text/event-stream',
});

export const listLedgerChoices = ledgerEndpoint('GET /api/ledger/choices', 'viewer', {
  summary: 'List the keys, projects, models and upstreams for filters',
  answer: ledgerChoices,
});

export const getLedgerRow = ledgerEndpoint('GET /api/ledger/:id', 'viewer', {
  summary: 'Get one request with its calls to upstreams',
  params: ledgerId,
  answer: ledgerDetail,
});

export const getCapture = ledgerEndpoint('GET /api/ledger/:id/capture', 'admin', {
  summary: 'Get captured bodies of a request; each access is in the audit log',
  params: ledgerId,
  answer: z.object({ request: z.string(), response: z.string(), expiresAt: instant }),
});

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
  errors: z.number().describe('Of these, requests that did not end well.'),
  inputTokens: z.number(),
  outputTokens: z.number(),
  searchUnits: z.number(),
  items: z.number(),
  cost: dollars,
  unpriced: z.number().describe('Requests with unknown cost, not included in the sum.'),
  estimated: z.number().describe('Requests whose usage is an estimate, at least in part.'),
  requestBytes: z.number(),
  responseBytes: z.number(),
  durationMs: z.number(),
  units: z
    .object({
      cachedTokens: z.number().optional().describe('Input tokens read from the prompt cache of the service.'),
      ...unitCounts,
    })
    .describe('Other units; an absent unit is zero.'),
};

export const usageSums = z.object(sums);

/** The usage figures that most answers have. */
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
    .describe('A value for each requested group; null for requests without one.'),
  ...sums,
});

export const usage = z.object({
  from: instant.nullable().describe('The sums cover whole hours.'),
  to: instant.nullable(),
  lines: z.array(usageLine),
  total: usageSums,
  prices: z
    .array(
      z.object({
        source: z.enum(priceSources),
        asOf: z.iso.date(),
        models: z.int().describe('Number of configured models that use it.'),
      }),
    )
    .describe('The price lists that configured models use, oldest first.'),
});

export const getUsage = ledgerEndpoint('GET /api/usage', 'viewer', {
  summary: 'Get usage and cost by key, project, model, upstream, route, operation, outcome, hour or day',
  query: z
    .strictObject({ by: groups, ...usageFilters, format: z.enum(['json', 'csv']).default('json') })
    .superRefine(checkSpan),
  answer: usage,
});
