/** Contract: keys, projects and their spending. */

import * as z from 'zod';
import { budgetPeriods } from '../../../core/caps.ts';
import { keyTermsDocument } from '../../../core/key.ts';
import { endpointsOf } from '../../endpoint.ts';
import { usageFigures } from '../../ledger/contract/ledger.ts';
import { dollars, instant, managed, pageOf, pageQuery, place } from '../../shapes/common.ts';
import { keyManagers, keyStates } from '../facts.ts';

const keysEndpoint = endpointsOf('Keys and projects');

const managedBy = z.enum(keyManagers);

/** The settings of a key; unset ones are absent. */
export const keyDocument = z.object({
  name: z.string().optional(),
  expires: instant.optional(),
  ...keyTermsDocument.shape,
});

/** Validated by the configuration file's schema, with its messages. */
const writtenKey = z.record(z.string(), z.unknown()).meta({
  description: `The fields of \`document\`, in the words of the configuration file: ${Object.keys(keyDocument.shape).join(', ')}; \`expires\` may be a date, a time, or from now such as \`30d\`.`,
  examples: [
    {
      name: 'Search, production',
      models: ['text-embedding-3-small'],
      expires: '90d',
      limits: { requests_per_minute: 600 },
      budgets: [{ every: 'month', amount: '50', alerts: ['80%', '100%'] }],
    },
  ],
});

export const budgetState = z.object({
  every: z.enum(budgetPeriods),
  amount: dollars,
  spent: dollars.describe('As far as the ledger knows by now.'),
  outstanding: dollars.describe('Set aside by the gateways for requests under way, and not spent yet.'),
  left: dollars.describe('What may still be spent; never below 0.'),
  startsAt: instant.nullable().describe('Null for a total, which begins with the first request.'),
  endsAt: instant.nullable().describe('When it begins anew, in UTC; null for a total.'),
});

export const key = z.object({
  id: z.string(),
  managedBy,
  place: place.nullable().describe('Where the configuration file declares it.'),
  hint: z.string().nullable().describe('How the secret begins.'),
  state: z.enum(keyStates),
  createdAt: instant.nullable(),
  revokedAt: instant.nullable(),
  oldSecretUntil: instant.nullable().describe('Until then the secret before the last rotation works too.'),
  version: z.number().int().nullable(),
  document: keyDocument,
  budgets: z.array(budgetState),
});

const used = { lastUsedAt: instant.nullable().describe('When the newest request in the ledger began.') };

export const listedKey = key.extend({
  ...used,
  traffic: z
    .object({ requests: z.number(), duration: z.object({ p95: z.number() }).nullable(), cost: dollars })
    .nullable()
    .describe('Of the last 24 hours; null where there was none.'),
});

export const keyDetail = key.extend({
  ...used,
  warnings: z.array(z.string()),
});

export const keyWithSecret = keyDetail.extend({
  secret: z.string().describe('Here and now, and never again.'),
});

export const keyQuery = pageQuery.extend({
  q: z.string().max(200).optional().describe('Part of the name, the ID, the hint or a note.'),
  project: z.string().max(64).optional(),
  state: z.enum(keyStates).optional(),
  managedBy: managedBy.optional(),
  sort: z.enum(['name', 'requests', 'p95', 'cost', 'lastUsed']).optional().describe('Traffic is of the last 24 hours.'),
  direction: z.enum(['asc', 'desc']).default('desc'),
});

const rotation = z.strictObject({
  overlap: z
    .string()
    .max(40)
    .default('24h')
    .describe('For how long the former secret goes on working: `24h`, or `0s` for not at all.'),
});

export const listKeys = keysEndpoint('GET /api/keys', 'viewer', {
  summary:
    'List the keys: without `sort` those of the configuration file first, then those of the store, the newest first',
  query: keyQuery,
  answer: pageOf(listedKey),
});

export const createKey = keysEndpoint('POST /api/keys', 'admin', {
  summary: 'Make a key; its secret is in the answer, and never shown again',
  body: writtenKey,
  answer: keyWithSecret,
  status: 201,
  once: true,
});

export const getKey = keysEndpoint('GET /api/keys/:id', 'viewer', {
  summary: 'Show one key, with how far its budgets have come',
  answer: keyDetail,
});

export const changeKey = keysEndpoint('PATCH /api/keys/:id', 'admin', {
  summary: 'Change what a key may do: only the fields that are sent, each as a whole; null takes away what is there',
  body: writtenKey,
  answer: keyDetail,
});

export const rotateKey = keysEndpoint('POST /api/keys/:id/rotate', 'admin', {
  summary: 'Give a key another secret; the former one goes on working for a while',
  body: rotation,
  answer: keyWithSecret,
  once: true,
});

export const restoreKey = keysEndpoint('POST /api/keys/:id/restore', 'admin', {
  summary: 'Put in force again what a key was before a change: its terms, not its secret',
  body: z.strictObject({ entry: z.string().max(64).describe('The ID of the change in the audit log.') }),
  answer: keyDetail,
});

export const revokeKey = keysEndpoint('POST /api/keys/:id/revoke', 'admin', {
  summary: 'End a key for good: every gateway refuses it within two seconds',
  answer: keyDetail,
});

export const project = z.object({
  id: z.string(),
  ...managed,
  document: z.record(z.string(), z.unknown()).describe('As an element of `projects` in the file.'),
  keys: z.number().int().describe('Keys that belong to it, and are not revoked.'),
  budgets: z.array(budgetState),
});

export const projectWritten = project.extend({ warnings: z.array(z.string()) });

export const listProjects = keysEndpoint('GET /api/projects', 'viewer', {
  summary: 'List the projects, with how far their budgets have come',
  answer: pageOf(project),
});

export const getProject = keysEndpoint('GET /api/projects/:id', 'viewer', {
  summary: 'Show one project',
  answer: project,
});

export const putProject = keysEndpoint('PUT /api/projects/:id', 'admin', {
  summary: 'Make a project, or change one',
  body: z.record(z.string(), z.unknown()).meta({
    description: 'As an element of `projects` in the configuration file; without `id`, or with the one of the path.',
    examples: [{ name: 'Search', limits: { requests_per_minute: 6000 }, budgets: [{ every: 'month', amount: '500' }] }],
  }),
  answer: projectWritten,
});

export const deleteProject = keysEndpoint('DELETE /api/projects/:id', 'admin', {
  summary: 'Remove a project to which no key belongs',
});

const spendQuery = z.object({ days: z.coerce.number().int().min(1).max(366).default(30) });

export const spend = z.object({
  days: z.array(usageFigures.extend({ day: z.iso.date() })).describe('Every day in UTC, the oldest first.'),
  total: usageFigures,
});

const burnDownQuery = z.object({
  period: z.enum(budgetPeriods).optional().describe('Whose budget; the first one where none is named.'),
});

export const burnDown = z.object({
  budget: budgetState,
  step: z.enum(['hour', 'day']),
  points: z
    .array(z.object({ at: instant, spent: dollars.describe('Since the beginning of the period.') }))
    .describe('What was spent by the end of each step, up to now.'),
  projected: z.object({
    atEnd: dollars.nullable().describe('What will be spent by the end at the pace so far; null for a total.'),
    runsOutAt: instant.nullable().describe('Null where it lasts.'),
  }),
});

export const showKeyUsage = keysEndpoint('GET /api/keys/:id/usage', 'viewer', {
  summary: 'Show what a key used on each of the last days',
  query: spendQuery,
  answer: spend,
});

export const showKeyBurnDown = keysEndpoint('GET /api/keys/:id/burn-down', 'viewer', {
  summary: 'Show how a budget of a key is spent within its period, and whether it lasts at this pace',
  query: burnDownQuery,
  answer: burnDown,
});

export const showProjectUsage = keysEndpoint('GET /api/projects/:id/usage', 'viewer', {
  summary: 'Show what a project used on each of the last days',
  query: spendQuery,
  answer: spend,
});

export const showProjectBurnDown = keysEndpoint('GET /api/projects/:id/burn-down', 'viewer', {
  summary: 'Show how a budget of a project is spent within its period, and whether it lasts at this pace',
  query: burnDownQuery,
  answer: burnDown,
});
