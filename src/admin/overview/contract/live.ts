/** The shape of the live stream: one sample of the gateway a second. */

import * as z from 'zod';
import { rowOutcomes } from '../../../core/accounting/ledger-row.ts';
import { defineEndpoint } from '../../endpoint.ts';
import { dollars, instant } from '../../shapes/common.ts';

const count = z.number();

export const percentiles = z.object({ p50: z.number(), p95: z.number(), p99: z.number() }).meta({
  description: 'Milliseconds, estimated from counts in buckets.',
});

/** What happened between the reading before and this one; `inFlight` and what follows the loop delay are as they were at its end. */
export const liveSample = z.object({
  at: instant,
  spanMs: z.number().meta({ description: 'How long ago the reading before was: counts by this are rates.' }),
  requests: count,
  byOutcome: z.partialRecord(z.enum(rowOutcomes), count),
  byStatus: z.record(z.string(), count).meta({ description: 'By class, such as 2xx.' }),
  byOperation: z.record(z.string(), count).meta({ description: '`none`: paths that are no client route.' }),
  latency: percentiles.nullable().meta({ description: 'Of what ended in the ten seconds up to then.' }),
  firstByte: percentiles.nullable().meta({ description: 'Of what ended in the ten seconds up to then.' }),
  inputTokens: count,
  outputTokens: count,
  cost: dollars,
  items: count.meta({ description: 'Inputs, prompts and documents that upstreams were asked for.' }),
  savedItems: count.meta({ description: 'Items of lists that nobody was asked for, as they were known.' }),
  saved: dollars.meta({ description: 'What these would have cost.' }),
  unpriced: count,
  attempts: z.record(z.string(), count).meta({ description: 'Calls to upstreams, by what came of them.' }),
  retries: count.meta({ description: 'Calls beyond one for each request.' }),
  limitHits: count,
  budgetHits: count,
  inFlight: count,
  loopDelayMs: z.number().nullable().meta({ description: 'How late timers fired: the 99th percentile of 10 seconds.' }),
  cpuShare: z.number().nullable().meta({ description: 'Of one core, all processes together.' }),
  memoryBytes: z.number().nullable(),
  journalBytes: z.number().nullable(),
  journalOldestMs: z.number().nullable(),
});

const targetCounts = z.object({
  healthy: z.number(),
  probing: z.number(),
  loading: z.number(),
  resting: z.number(),
  failing: z.number(),
});

export const liveUpstream = z.object({
  id: z.string(),
  answered: count.meta({ description: 'Calls that were answered since the reading before.' }),
  otherwise: count.meta({ description: 'Calls of which something else came.' }),
  firstByteMs: z.number().nullable().meta({ description: 'Mean of the ten seconds up to then.' }),
  inFlight: count,
  waiting: count,
  targets: targetCounts.meta({ description: 'With workers: how many of them see it so.' }),
});

/** The first event of the stream has what was seen so far; each later one has one sample. */
export const liveEvent = z.object({
  isHistory: z.boolean(),
  samples: z.array(liveSample).meta({ description: 'The oldest first.' }),
  upstreams: z.array(liveUpstream),
  isBehind: z.boolean().meta({ description: 'True while no reading can be had.' }),
});

export const getLive = defineEndpoint({
  method: 'GET',
  path: '/api/live',
  summary: 'Follow rates, latency, tokens and cost as they are: five minutes of history, then a sample a second',
  tag: 'Overview',
  needs: 'viewer',
  streams: 'text/event-stream',
});
