/** Declares the endpoints for keys, projects and their spending. */

import * as z from 'zod';
import { budgetPeriods } from '../../../core/caps.ts';
import { keyTermsDocument } from '../../../core/key.ts';
import { endpointsOf } from '../../endpoint.ts';
import { usageFigures } from '../../ledger/contract/ledger.ts';
import {
  dollars,
  instant,
  managed,
  pageOf,
  pageQuery,
  place,
  shownTraffic,
  trafficSorts,
} from '../../shapes/common.ts';
import { keyManagers, keyStates } from '../facts.ts';

const keysEndpoint = endpointsOf('Keys and projects');

const managedBy = z.enum(keyManagers);

/** The settings of a key; unset ones are absent. */
export const keyDocument = z.object({
  name: z.string().optional(),
  expires: instant.optional(),
  ...keyTermsDocument.shape,
});

/** The settings of a key in a request: validated by the configuration file's schema, with its messages. */
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
  spent: dollars.describe('As far as requests are in the ledger.'),
  outstanding: dollars.describe('Held by the gateways for requests now and soon, and not spent yet.'),
  left: dollars.describe('Neither spent nor held; never below 0.'),
  startsAt: instant.nullable().describe('Null for a total, which begins with the first request.'),
  endsAt: instant.nullable().describe('When the next period begins, in UTC; null for a total.'),
});

export const key = z.object({
  id: z.string(),
  managedBy,
  place: place.nullable().describe('Where the configuration file declares it.'),
  hint: z.string().nullable().describe('The first characters of the secret.'),
  state: z.enum(keyStates),
  createdAt: instant.nullable(),
  revokedAt: instant.nullable(),
  oldSecretUntil: instant.nullable().describe('Until then the previous secret works too.'),
  version: z.number().int().nullable(),
  document: keyDocument,
  budgets: z.array(budgetState),
});

const used = { lastUsedAt: instant.nullable().describe('When the newest request in the ledger began.') };

export const listedKey = key.extend({ ...used, ...shownTraffic });

export const keyDetail = key.extend({
  ...used,
  warnings: z.array(z.string()),
});

export const keyWithSecret = keyDetail.extend({
  secret: z.string().describe('Only in this response.'),
});

export const keyQuery = pageQuery.extend({
  q: z.string().max(200).optional().describe('Part of the name, the ID, the hint or a note.'),
  project: z.string().max(64).optional(),
  state: z.enum(keyStates).optional(),
  managedBy: managedBy.optional(),
  sort: z
    .enum(['name', ...trafficSorts, 'lastUsed'])
    .optional()
    .describe('Traffic is that of the last 24 hours.'),
  direction: z.enum(['asc', 'desc']).default('desc'),
});

const rotation = z.strictObject({
  overlap: z
    .string()
    .max(40)
    .default('24h')
    .describe('How long the previous secret stays valid: `24h`, or `0s` for not at all.'),
});

export const listKeys = keysEndpoint('GET /api/keys', 'viewer', {
  summary: 'List the keys: without `sort`, those of the configuration file, then those of the store, newest first',
  query: keyQuery,
  answer: pageOf(listedKey),
});

export const createKey = keysEndpoint('POST /api/keys', 'admin', {
  summary: 'Create a key; its secret is only in this response',
  body: writtenKey,
  answer: keyWithSecret,
  status: 201,
  once: true,
});

export const getKey = keysEndpoint('GET /api/keys/:id', 'viewer', {
  summary: 'Get a key with the state of its budgets',
  answer: keyDetail,
});

export const changeKey = keysEndpoint('PATCH /api/keys/:id', 'admin', {
  summary: 'Change only the fields of a key that are sent; null removes a field',
  body: writtenKey,
  answer: keyDetail,
});

export const rotateKey = keysEndpoint('POST /api/keys/:id/rotate', 'admin', {
  summary: 'Rotate the secret of a key; the previous one stays valid for a while',
  body: rotation,
  answer: keyWithSecret,
  once: true,
});

export const restoreKey = keysEndpoint('POST /api/keys/:id/restore', 'admin', {
  summary: 'Restore a key to its state before a change: its terms, not its secret',
  body: z.strictObject({ entry: z.string().max(64).describe('The ID of the change in the audit log.') }),
  answer: keyDetail,
});

export const revokeKey = keysEndpoint('POST /api/keys/:id/revoke', 'admin', {
  summary: 'Revoke a key permanently: every gateway refuses it within two seconds',
  answer: keyDetail,
});

export const project = z.object({
  id: z.string(),
  ...managed,
  document: z.record(z.string(), z.unknown()).describe('As an element of `projects` in the file.'),
  keys: z.number().int().describe('Keys that belong to it, and are not revoked.'),
  budgets: z.array(budgetState),
});

const projectWritten = project.extend({ warnings: z.array(z.string()) });

export const listProjects = keysEndpoint('GET /api/projects', 'viewer', {
  summary: 'List the projects with the state of their budgets',
  answer: pageOf(project),
});

export const getProject = keysEndpoint('GET /api/projects/:id', 'viewer', {
  summary: 'Show one project',
  answer: project,
});

export const putProject = keysEndpoint('PUT /api/projects/:id', 'admin', {
  summary: 'Create or change a project',
  body: z.record(z.string(), z.unknown()).meta({
    description: 'As an element of `projects` in the configuration file; without `id`, or with the one of the path.',
    examples: [{ name: 'Search', limits: { requests_per_minute: 6000 }, budgets: [{ every: 'month', amount: '500' }] }],
  }),
  answer: projectWritten,
});

export const deleteProject = keysEndpoint('DELETE /api/projects/:id', 'admin', {
  summary: 'Remove a project without keys',
});

const spendQuery = z.strictObject({ days: z.coerce.number().int().min(1).max(366).default(30) });

export const spend = z.object({
  days: z.array(usageFigures.extend({ day: z.iso.date() })).describe('Every day in UTC, oldest first.'),
  total: usageFigures,
});

const burnDownQuery = z.strictObject({
  period: z.enum(budgetPeriods).optional().describe('The period of the budget; by default the first one.'),
});

export const burnDown = z.object({
  budget: budgetState,
  step: z.enum(['hour', 'day']),
  points: z
    .array(z.object({ at: instant, spent: dollars.describe('Since the beginning of the period.') }))
    .describe('The amount spent by the end of each step so far.'),
  projected: z.object({
    atEnd: dollars.nullable().describe('Forecast for the end of the period at the present rate; null for a total.'),
    runsOutAt: instant.nullable().describe('Null if it lasts for the period.'),
  }),
});

export const showKeyUsage = keysEndpoint('GET /api/keys/:id/usage', 'viewer', {
  summary: 'Get the usage of a key on each of the last days',
  query: spendQuery,
  answer: spend,
});

export const showKeyBurnDown = keysEndpoint('GET /api/keys/:id/burn-down', 'viewer', {
  summary: 'Get the spending of a budget of a key within its period, with a forecast',
  query: burnDownQuery,
  answer: burnDown,
});

export const showProjectUsage = keysEndpoint('GET /api/projects/:id/usage', 'viewer', {
  summary: 'Get the usage of a project on each of the last days',
  query: spendQuery,
  answer: spend,
});

export const showProjectBurnDown = keysEndpoint('GET /api/projects/:id/burn-down', 'viewer', {
  summary: 'Get the spending of a budget of a project within its period, with a forecast',
  query: burnDownQuery,
  answer: burnDown,
});
