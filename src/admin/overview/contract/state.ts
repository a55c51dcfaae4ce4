/** Declares the endpoints for the gateway's state, and for live samples of its metrics. */

import * as z from 'zod';
import { rowOutcomes } from '../../../core/accounting/ledger-row.ts';
import { targetStates } from '../../../core/target-state.ts';
import { recordOf } from '../../../lib/record-of.ts';
import { endpointsOf } from '../../endpoint.ts';
import { dollars, instant, reported } from '../../shapes/common.ts';

const overviewEndpoint = endpointsOf('Overview');

export const healthTarget = z.object({
  upstream: z.string(),
  model: z.string().describe("The upstream's name for it."),
  ...reported,
  latencyMs: reported.latencyMs.nullable().describe('Of the slowest node; null without recent calls.'),
  restingCredentials: z.array(z.string()),
  nodes: z.number().describe('Number of nodes that reported it.'),
});

export const agreement = z.object({
  model: z.string(),
  with: z.string().describe('Its shadow, or the target whose canary vectors are compared with earlier ones.'),
  kind: z.enum(['shadow', 'canary']),
  measure: z.enum(['cosine', 'ranks', 'verdicts', 'overlap']).nullable(),
  value: z.number().nullable().describe('1 is full agreement; null if unknown.'),
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
      isSilent: z.boolean().describe('No report for too long: its last report is ignored.'),
    }),
  ),
  store: z.object({ isUp: z.boolean() }),
  journal: z.object({
    bytes: z.number().nullable().describe('Not in the store yet.'),
    rows: z.number().nullable().describe('Number of rows in it.'),
    oldestMs: z.number().nullable(),
    isFailing: z.boolean().describe('It cannot be written, so requests are refused.'),
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
  clientUrl: z.string().describe('Address of the client listener.'),
  configuration: z.object({
    file: z.string().nullable().describe('Null: the embedded configuration is in force.'),
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
  id: z.string().describe('Stays the same for the same subject.'),
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
    .describe('Page of the console to act on it.'),
  at: instant.nullable().describe('Time of a coming event.'),
});

export const firstSteps = z.object({
  hasKey: z.boolean().describe("There is a valid key, other than the console's own."),
  requests: z.number().describe('In the last 30 days, by keys of clients.'),
  tries: z.number().describe('The same by the Playground.'),
  sample: z
    .object({ path: z.string(), body: z.string() })
    .nullable()
    .describe('An example request for this gateway; null if clients see no model.'),
});

export const getHealth = overviewEndpoint('GET /api/health', 'viewer', {
  summary: 'Get the health of every target over all nodes, and of store, journal and Redis',
  answer: health,
});

export const getAbout = overviewEndpoint('GET /api/about', 'viewer', {
  summary: 'Get version, start time, runtime and configuration',
  answer: about,
});

export const getNotices = overviewEndpoint('GET /api/notices', 'viewer', {
  summary: 'List notices for the operator, most severe first',
  answer: z.object({ items: z.array(notice) }),
});

const configurationState = z.object({
  file: z.string().nullable(),
  readAt: instant.describe('When the configuration in force was read.'),
  refused: z
    .object({
      at: instant.describe('When it was first refused.'),
      faults: z.array(
        z.object({ file: z.string().nullable(), line: z.number().int().nullable(), message: z.string() }),
      ),
    })
    .nullable()
    .describe('A change of the file that was refused and is not in force; null otherwise.'),
});

export const getConfiguration = overviewEndpoint('GET /api/configuration', 'viewer', {
  summary: 'Get whether the current configuration file is applied, and if not, why',
  answer: configurationState,
});

export const confirmBackup = overviewEndpoint('POST /api/notices/secret-key-backup', 'owner', {
  summary: 'Confirm that a copy of the secret key exists, which ends the reminder',
});

export const getFirstSteps = overviewEndpoint('GET /api/first-steps', 'viewer', {
  summary: 'Get the setup progress: a key, a first request, a first try in the Playground',
  answer: firstSteps,
});

const count = z.number();

const percentiles = z
  .object({ p50: z.number(), p95: z.number(), p99: z.number() })
  .describe('Milliseconds, estimated from counts in buckets.');

/** The changes between the two latest readings; `inFlight` and the fields after the loop delay are values at the latest one. */
export const liveSample = z.object({
  at: instant,
  spanMs: z.number().describe('Time since the previous sample: divide counts by it to get rates.'),
  requests: count,
  byOutcome: z.partialRecord(z.enum(rowOutcomes), count),
  byStatus: z.record(z.string(), count).describe('By class, such as 2xx.'),
  byOperation: z.record(z.string(), count).describe('`none`: paths that are not a client route.'),
  latency: percentiles.nullable().describe('Of requests that ended in the last ten seconds.'),
  firstByte: percentiles.nullable().describe('Of requests that ended in the last ten seconds.'),
  inputTokens: count,
  outputTokens: count,
  cost: dollars,
  items: count.describe('Inputs, prompts and documents sent to upstreams.'),
  savedItems: count.describe('Items of lists answered from the cache.'),
  saved: dollars.describe('What these would have cost.'),
  unpriced: count,
  attempts: z.record(z.string(), count).describe('Calls to upstreams, by result.'),
  retries: count.describe('Calls beyond one for each request.'),
  limitHits: count,
  budgetHits: count,
  inFlight: count,
  loopDelayMs: z.number().nullable().describe('How late timers fired: the 99th percentile of 10 seconds.'),
  cpuShare: z.number().nullable().describe('Share of one core, all processes together.'),
  memoryBytes: z.number().nullable(),
  journalBytes: z.number().nullable(),
  journalOldestMs: z.number().nullable(),
});

const targetCounts = z.object(recordOf(targetStates, () => z.number()));

export const liveUpstream = z.object({
  id: z.string(),
  answered: count.describe('Calls answered since the previous sample.'),
  otherwise: count.describe('Calls that ended otherwise.'),
  firstByteMs: z.number().nullable().describe('Mean of the last ten seconds.'),
  inFlight: count,
  waiting: count,
  targets: targetCounts.describe('With workers: how many of them see it so.'),
});

/** An event of the live view: the first one has the samples so far, each later one has one sample. */
export const liveEvent = z.object({
  isHistory: z.boolean(),
  samples: z.array(liveSample).describe('The oldest first.'),
  upstreams: z.array(liveUpstream),
  isBehind: z.boolean().describe('True while no sample is available.'),
});

export const getLive = overviewEndpoint('GET /api/live', 'viewer', {
  summary: 'Stream rates, latency, tokens and cost: five minutes of history, then a sample a second',
  streams: 'text/event-stream',
});
