/** Virtual keys and projects: what they may do, in the words of the file, and how far they have come. */

import * as z from 'zod';
import { budgetPeriods } from '../../../core/caps.ts';
import { operations } from '../../../core/operation.ts';
import { rerankShapes } from '../../../core/translation.ts';
import { dollars, instant, pageOf, pageQuery } from '../../shapes/common.ts';

const managedBy = z.enum(['file', 'store']);

const place = z.object({ file: z.string(), line: z.number().int() });

const budgetDocument = z.object({ every: z.enum(budgetPeriods), amount: dollars, alerts: z.array(z.string()) });

const capsDocument = {
  limits: z.record(z.string(), z.number()).meta({
    description: 'At most so many within a minute, a day, and at a time: `requests_per_minute`, `concurrency`, …',
  }),
  budgets: z.array(budgetDocument),
};

/** What is said of a key; what is not said is left out. */
export const keyDocument = z.object({
  name: z.string().optional(),
  project: z.string().optional(),
  models: z.array(z.string()).meta({ description: 'Public IDs, each with one `*` at most.' }),
  operations: z.array(z.enum(operations)).optional().meta({ description: 'All of them where it is not there.' }),
  addresses: z.array(z.string()).optional().meta({ description: 'From anywhere where it is not there.' }),
  expires: instant.optional(),
  ...capsDocument,
  metadata: z.record(z.string(), z.string()),
  capture: z
    .string()
    .optional()
    .meta({ description: 'For how long the ledger keeps what is asked and answered, such as `7d`.' }),
  shape: z.enum(rerankShapes).optional().meta({ description: 'The service that its clients were written for.' }),
});

/** Judged by the schema of the configuration file, whose words the faults have. */
export const writtenKey = z.record(z.string(), z.unknown()).meta({
  description:
    'The fields of `document`, in the words of the configuration file: name, project, models, operations, addresses, expires (a date, a time, or from now such as `30d`), limits, budgets, metadata, capture, shape.',
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
  spent: dollars.meta({ description: 'As far as the ledger knows by now.' }),
  outstanding: dollars.meta({ description: 'Set aside by the gateways for requests under way, and not spent yet.' }),
  left: dollars.meta({ description: 'What may still be spent; never below 0.' }),
  startsAt: instant.nullable().meta({ description: 'Null for a total, which begins with the first request.' }),
  endsAt: instant.nullable().meta({ description: 'When it begins anew, in UTC; null for a total.' }),
});

export const key = z.object({
  id: z.string(),
  managedBy,
  place: place.nullable().meta({ description: 'Where the configuration file declares it.' }),
  hint: z.string().nullable().meta({ description: 'How the secret begins.' }),
  state: z.enum(['active', 'expired', 'revoked']),
  createdAt: instant.nullable(),
  revokedAt: instant.nullable(),
  oldSecretUntil: instant.nullable().meta({ description: 'Until then the secret before the last rotation works too.' }),
  version: z.number().int().nullable(),
  document: keyDocument,
  budgets: z.array(budgetState),
});

export const keyDetail = key.extend({
  lastUsedAt: instant.nullable().meta({ description: 'When the newest request in the ledger began.' }),
  warnings: z.array(z.string()),
});

export const keyWithSecret = keyDetail.extend({
  secret: z.string().meta({ description: 'Here and now, and never again.' }),
});

export const keyPage = pageOf(key);

export const keyQuery = pageQuery.extend({
  q: z.string().max(200).optional().meta({ description: 'Part of the name, the ID, the hint or a note.' }),
  project: z.string().max(64).optional(),
  state: z.enum(['active', 'expired', 'revoked']).optional(),
  managedBy: managedBy.optional(),
});

export const rotation = z.strictObject({
  overlap: z
    .string()
    .max(40)
    .default('24h')
    .meta({ description: 'For how long the former secret goes on working: `24h`, or `0s` for not at all.' }),
});

export const spendQuery = z.object({ days: z.coerce.number().int().min(1).max(366).default(30) });

const spending = {
  requests: z.number(),
  errors: z.number(),
  inputTokens: z.number(),
  outputTokens: z.number(),
  cost: dollars,
  unpriced: z.number().meta({ description: 'Requests whose cost is not known, and is not in the sum.' }),
};

export const spend = z.object({
  days: z
    .array(z.object({ day: z.iso.date(), ...spending }))
    .meta({ description: 'Every day in UTC, the oldest first.' }),
  total: z.object(spending),
});

export const burnDownQuery = z.object({
  period: z.enum(budgetPeriods).optional().meta({ description: 'Whose budget; the first one where none is named.' }),
});

export const burnDown = z.object({
  budget: budgetState,
  step: z.enum(['hour', 'day']),
  points: z
    .array(z.object({ at: instant, spent: dollars.meta({ description: 'Since the beginning of the period.' }) }))
    .meta({ description: 'What was spent by the end of each step, up to now.' }),
  projected: z.object({
    atEnd: dollars
      .nullable()
      .meta({ description: 'What will be spent by the end at the pace so far; null for a total.' }),
    runsOutAt: instant.nullable().meta({ description: 'Null where it lasts.' }),
  }),
});

export const project = z.object({
  id: z.string(),
  managedBy: z.enum(['file', 'store', 'embedded', 'built-in']),
  place: place.nullable(),
  version: z.number().int().nullable(),
  updatedAt: instant.nullable(),
  inForce: z.boolean().meta({ description: 'What was just written takes a moment.' }),
  document: z.record(z.string(), z.unknown()).meta({ description: 'As an element of `projects` in the file.' }),
  keys: z.number().int().meta({ description: 'Keys that belong to it, and are not revoked.' }),
  budgets: z.array(budgetState),
});

export const projectPage = pageOf(project);

export const projectWritten = project.extend({ warnings: z.array(z.string()) });

export const writtenProject = z.record(z.string(), z.unknown()).meta({
  description: 'As an element of `projects` in the configuration file; without `id`, or with the one of the path.',
  examples: [{ name: 'Search', limits: { requests_per_minute: 6000 }, budgets: [{ every: 'month', amount: '500' }] }],
});
