/** Contract: the gateway's state, its activity over a time range, and live samples. */

import * as z from 'zod';
import { rowOutcomes } from '../../../core/accounting/ledger-row.ts';
import { operations } from '../../../core/operations/index.ts';
import { targetStates } from '../../../core/target-state.ts';
import { recordOf } from '../../../lib/record-of.ts';
import { endpointsOf } from '../../endpoint.ts';
import { usageFigures } from '../../ledger/contract/ledger.ts';
import { dollars, instant, reported } from '../../shapes/common.ts';

const overviewEndpoint = endpointsOf('Overview');

export const healthTarget = z.object({
  upstream: z.string(),
  model: z.string().describe("The upstream's name for it."),
  ...reported,
  latencyMs: reported.latencyMs.nullable().describe('Of the slowest node; null where nothing was called lately.'),
  restingCredentials: z.array(z.string()),
  nodes: z.number().describe('How many spoke of it.'),
});

export const agreement = z.object({
  model: z.string(),
  with: z.string().describe('Its shadow, or the target whose canaries are held against what they were.'),
  kind: z.enum(['shadow', 'canary']),
  measure: z.enum(['cosine', 'ranks', 'verdicts', 'overlap']).nullable(),
  value: z.number().nullable().describe('One is wholly; null where nothing tells yet.'),
  compared: z.number().describe('Requests of a shadow, nodes of a canary.'),
  hasChanged: z.boolean(),
});

export const health = z.object({
  targets: z.array(healthTarget),
  agreements: z.array(agreement).describe('Of models with a shadow or canaries, over all nodes.'),
  nodes: z.array(
    z.object({
      id: z.string(),
      lastSpokeAt: instant,
      isSilent: z.boolean().describe('It should have spoken since, and what it said counts no more.'),
    }),
  ),
  store: z.object({ isUp: z.boolean() }),
  journal: z.object({
    bytes: z.number().nullable().describe('Not in the store yet.'),
    rows: z.number().nullable().describe('So many rows among it.'),
    oldestMs: z.number().nullable(),
    isFailing: z.boolean().describe('It cannot be written, so no request is taken.'),
  }),
  redis: z
    .object({ isUp: z.boolean(), countingAlone: z.number() })
    .nullable()
    .describe('Null where none is configured.'),
  workers: z.number(),
  workerRestarts: z.number(),
  loopDelayMs: z.number().nullable(),
});

export const about = z.object({
  version: z.string(),
  runtime: z.string(),
  startedAt: instant,
  uptimeMs: z.number(),
  clientUrl: z.string().describe('Where clients are served.'),
  configuration: z.object({
    file: z.string().nullable().describe('Null: the embedded configuration holds.'),
    readAt: instant,
    revision: z.number().nullable().describe('The last change of the store that is in force everywhere.'),
    warnings: z.array(z.string()),
  }),
  store: z.object({ kind: z.enum(['memory', 'sqlite', 'postgres']), bytes: z.number().nullable() }),
  workers: z.number(),
  memoryBytes: z.number().nullable(),
  counts: z.object({ upstreams: z.number(), models: z.number(), keys: z.number(), projects: z.number() }),
  docs: z.array(z.object({ title: z.string(), path: z.string() })).describe('Files that come with this version.'),
});

export const notice = z.object({
  id: z.string().describe('The same as long as it is about the same thing.'),
  kind: z.enum([
    'target',
    'changed-model',
    'slo',
    'budget',
    'configuration',
    'journal',
    'store',
    'redis',
    'price',
    'secret-key',
    'secret-key-backup',
    'key-expiry',
  ]),
  severity: z.enum(['bad', 'warning', 'hint']),
  title: z.string(),
  detail: z.string().nullable(),
  about: z
    .object({ kind: z.enum(['upstream', 'model', 'key', 'project', 'settings']), id: z.string().nullable() })
    .describe('Where to act on it.'),
  at: instant.nullable().describe('When it happens, where it is yet to come.'),
});

export const firstSteps = z.object({
  hasKey: z.boolean().describe("There is a key that works, beside the console's own."),
  requests: z.number().describe('In the last 30 days, by keys of clients.'),
  tries: z.number().describe('The same by the Playground.'),
  sample: z
    .object({ path: z.string(), body: z.string() })
    .nullable()
    .describe('A request that works here; null where no model can be seen by clients.'),
});

export const getHealth = overviewEndpoint('GET /api/health', 'viewer', {
  summary: 'Say how every target is, over all nodes, and how store, journal and Redis are',
  answer: health,
});

export const getAbout = overviewEndpoint('GET /api/about', 'viewer', {
  summary: 'Say which version runs, since when, on what, and by which configuration',
  answer: about,
});

export const getNotices = overviewEndpoint('GET /api/notices', 'viewer', {
  summary: 'List what an operator may want to look at, the worst first',
  answer: z.object({ items: z.array(notice) }),
});

const configurationState = z.object({
  file: z.string().nullable(),
  readAt: instant.describe('When what is in force was read.'),
  refused: z
    .object({
      at: instant.describe('When it was first refused as it is.'),
      faults: z.array(
        z.object({ file: z.string().nullable(), line: z.number().int().nullable(), message: z.string() }),
      ),
    })
    .nullable()
    .describe('A change of the file that is not in force, as it is refused; null once it is repaired.'),
});

export const getConfiguration = overviewEndpoint('GET /api/configuration', 'viewer', {
  summary: 'Say whether the configuration file as it is now is in force, and if not, why',
  answer: configurationState,
});

export const confirmBackup = overviewEndpoint('POST /api/notices/secret-key-backup', 'owner', {
  summary: 'Say that there is a copy of the secret key elsewhere, so that nobody is reminded of it',
});

export const getFirstSteps = overviewEndpoint('GET /api/first-steps', 'viewer', {
  summary: 'Say how far a new gateway has come: a key, a first request, a first try in the Playground',
  answer: firstSteps,
});

const count = z.number();

const percentiles = z
  .object({ p50: z.number(), p95: z.number(), p99: z.number() })
  .describe('Milliseconds, estimated from counts in buckets.');

/** Differences between the two latest readings; `inFlight` and the fields after the loop delay are values at their end. */
export const liveSample = z.object({
  at: instant,
  spanMs: z.number().describe('How long ago the reading before was: counts by this are rates.'),
  requests: count,
  byOutcome: z.partialRecord(z.enum(rowOutcomes), count),
  byStatus: z.record(z.string(), count).describe('By class, such as 2xx.'),
  byOperation: z.record(z.string(), count).describe('`none`: paths that are no client route.'),
  latency: percentiles.nullable().describe('Of what ended in the ten seconds up to then.'),
  firstByte: percentiles.nullable().describe('Of what ended in the ten seconds up to then.'),
  inputTokens: count,
  outputTokens: count,
  cost: dollars,
  items: count.describe('Inputs, prompts and documents that upstreams were asked for.'),
  savedItems: count.describe('Items of lists that nobody was asked for, as they were known.'),
  saved: dollars.describe('What these would have cost.'),
  unpriced: count,
  attempts: z.record(z.string(), count).describe('Calls to upstreams, by what came of them.'),
  retries: count.describe('Calls beyond one for each request.'),
  limitHits: count,
  budgetHits: count,
  inFlight: count,
  loopDelayMs: z.number().nullable().describe('How late timers fired: the 99th percentile of 10 seconds.'),
  cpuShare: z.number().nullable().describe('Of one core, all processes together.'),
  memoryBytes: z.number().nullable(),
  journalBytes: z.number().nullable(),
  journalOldestMs: z.number().nullable(),
});

const targetCounts = z.object(recordOf(targetStates, () => z.number()));

export const liveUpstream = z.object({
  id: z.string(),
  answered: count.describe('Calls that were answered since the reading before.'),
  otherwise: count.describe('Calls of which something else came.'),
  firstByteMs: z.number().nullable().describe('Mean of the ten seconds up to then.'),
  inFlight: count,
  waiting: count,
  targets: targetCounts.describe('With workers: how many of them see it so.'),
});

/** The first event has the samples so far; each later one has one sample. */
export const liveEvent = z.object({
  isHistory: z.boolean(),
  samples: z.array(liveSample).describe('The oldest first.'),
  upstreams: z.array(liveUpstream),
  isBehind: z.boolean().describe('True while no reading can be had.'),
});

export const getLive = overviewEndpoint('GET /api/live', 'viewer', {
  summary: 'Follow rates, latency, tokens and cost as they are: five minutes of history, then a sample a second',
  streams: 'text/event-stream',
});

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

export const overviewSums = usageFigures.extend({
  meanMs: z.number().nullable().describe('How long a request took on average; null where there was none.'),
});

export const overviewBucket = overviewSums.extend({
  at: instant.describe('When it begins.'),
  byOutcome: z.partialRecord(z.enum(rowOutcomes), z.number()),
});

const overviewLine = overviewSums.extend({
  id: z.string().nullable().describe('Null: requests that have none.'),
});

export const overview = z.object({
  from: instant,
  to: instant,
  bucket: z
    .enum(['minute', 'hour', 'day'])
    .describe('Minutes come from the rows, where an hour has few of them; hours and days, in UTC, from the sums.'),
  total: overviewSums,
  buckets: z.array(overviewBucket),
  top: z.array(overviewLine).describe('Ten at most, the first by the order that was asked for.'),
  others: overviewSums.extend({ count: z.number() }).nullable().describe('All behind the first ten.'),
  comparison: z
    .object({ from: instant, to: instant, now: overviewSums, before: overviewSums })
    .nullable()
    .describe('The whole hours of this stretch, and the same hours of the one before it.'),
  latency: z
    .object({ rows: z.number(), isAll: z.boolean(), duration: percentiles, firstByte: percentiles.nullable() })
    .nullable()
    .describe('Of the newest requests of the stretch, 1,000 at most.'),
  today: z
    .object({ from: instant, total: overviewSums, hours: z.array(z.object({ at: instant, cost: z.string() })) })
    .describe('Since midnight, UTC; whatever the filters.'),
});

export const getOverview = overviewEndpoint('GET /api/overview', 'viewer', {
  summary: 'Say what happened in the last hour, day, week or month: sums over time, the top ten, and latency',
  query: overviewQuery,
  answer: overview,
});
