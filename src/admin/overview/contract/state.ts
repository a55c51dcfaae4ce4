/** How the gateway is: its targets, its nodes, what it stands on, and what an operator may want to look at. */

import * as z from 'zod';
import { targetStates } from '../../../core/target-state.ts';
import { defineEndpoint } from '../../endpoint.ts';
import { instant } from '../../shapes/common.ts';

export const healthTarget = z.object({
  upstream: z.string(),
  model: z.string().meta({ description: "The upstream's name for it." }),
  state: z.enum([...targetStates, 'unknown']).meta({
    description:
      'The worst that any node sees; `unknown` where none said, or none called it or looked at it since it started.',
  }),
  why: z.string().nullable(),
  restsForMs: z.number(),
  latencyMs: z.number().nullable().meta({
    description: 'Moving time to the first byte, as measured; null where nothing was called in the last five minutes.',
  }),
  calls: z.number().int().meta({ description: 'Of the last five minutes, over all nodes.' }),
  failedCalls: z.number().int().meta({ description: 'So many of them failed.' }),
  inFlight: z.number(),
  waiting: z.number(),
  restingCredentials: z.array(z.string()),
  nodes: z.number().meta({ description: 'How many spoke of it.' }),
});

export const agreement = z.object({
  model: z.string(),
  with: z.string().meta({ description: 'Its shadow, or the target whose canaries are held against what they were.' }),
  kind: z.enum(['shadow', 'canary']),
  measure: z.enum(['cosine', 'ranks', 'verdicts', 'overlap']).nullable(),
  value: z.number().nullable().meta({ description: 'One is wholly; null where nothing tells yet.' }),
  compared: z.number().meta({ description: 'Requests of a shadow, nodes of a canary.' }),
  hasChanged: z.boolean(),
});

export const health = z.object({
  targets: z.array(healthTarget),
  agreements: z.array(agreement).meta({ description: 'Of models with a shadow or canaries, over all nodes.' }),
  nodes: z.array(
    z.object({
      id: z.string(),
      lastSpokeAt: instant,
      isSilent: z.boolean().meta({ description: 'It should have spoken since, and what it said counts no more.' }),
    }),
  ),
  store: z.object({ isUp: z.boolean() }),
  journal: z.object({
    bytes: z.number().nullable().meta({ description: 'Not in the store yet.' }),
    rows: z.number().nullable().meta({ description: 'So many rows among it.' }),
    oldestMs: z.number().nullable(),
    isFailing: z.boolean().meta({ description: 'It cannot be written, so no request is taken.' }),
  }),
  redis: z.object({ isUp: z.boolean(), countingAlone: z.number() }).nullable().meta({
    description: 'Null where none is configured.',
  }),
  workers: z.number(),
  workerRestarts: z.number(),
  loopDelayMs: z.number().nullable(),
});

export const about = z.object({
  version: z.string(),
  runtime: z.string(),
  startedAt: instant,
  uptimeMs: z.number(),
  clientUrl: z.string().meta({ description: 'Where clients are served.' }),
  configuration: z.object({
    file: z.string().nullable().meta({ description: 'Null: the embedded configuration holds.' }),
    readAt: instant,
    revision: z.number().nullable().meta({ description: 'The last change of the store that is in force everywhere.' }),
    warnings: z.array(z.string()),
  }),
  store: z.object({ kind: z.enum(['memory', 'sqlite', 'postgres']), bytes: z.number().nullable() }),
  workers: z.number(),
  memoryBytes: z.number().nullable(),
  counts: z.object({ upstreams: z.number(), models: z.number(), keys: z.number(), projects: z.number() }),
  docs: z.array(z.object({ title: z.string(), path: z.string() })).meta({
    description: 'Files that come with this version.',
  }),
});

export const notice = z.object({
  id: z.string().meta({ description: 'The same as long as it is about the same thing.' }),
  kind: z.enum([
    'target',
    'changed-model',
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
    .meta({ description: 'Where to act on it.' }),
  at: instant.nullable().meta({ description: 'When it happens, where it is yet to come.' }),
});

const notices = z.object({ items: z.array(notice) });

export const firstSteps = z.object({
  hasKey: z.boolean().meta({ description: "There is a key that works, beside the console's own." }),
  requests: z.number().meta({ description: 'In the last 30 days, by keys of clients.' }),
  tries: z.number().meta({ description: 'The same by the Playground.' }),
  sample: z
    .object({ path: z.string(), body: z.string() })
    .nullable()
    .meta({ description: 'A request that works here; null where no model can be seen by clients.' }),
});

export const getHealth = defineEndpoint({
  method: 'GET',
  path: '/api/health',
  summary: 'Say how every target is, over all nodes, and how store, journal and Redis are',
  tag: 'Overview',
  needs: 'viewer',
  answer: health,
});

export const getAbout = defineEndpoint({
  method: 'GET',
  path: '/api/about',
  summary: 'Say which version runs, since when, on what, and by which configuration',
  tag: 'Overview',
  needs: 'viewer',
  answer: about,
});

export const getNotices = defineEndpoint({
  method: 'GET',
  path: '/api/notices',
  summary: 'List what an operator may want to look at, the worst first',
  tag: 'Overview',
  needs: 'viewer',
  answer: notices,
});

export const confirmBackup = defineEndpoint({
  method: 'POST',
  path: '/api/notices/secret-key-backup',
  summary: 'Say that there is a copy of the secret key elsewhere, so that nobody is reminded of it',
  tag: 'Overview',
  needs: 'owner',
});

export const getFirstSteps = defineEndpoint({
  method: 'GET',
  path: '/api/first-steps',
  summary: 'Say how far a new gateway has come: a key, a first request, a first try in the Playground',
  tag: 'Overview',
  needs: 'viewer',
  answer: firstSteps,
});
