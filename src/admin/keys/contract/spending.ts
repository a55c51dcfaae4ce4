/** What a key or a project used day by day, and where its budgets lead. */

import * as z from 'zod';
import { budgetPeriods } from '../../../core/caps.ts';
import { defineEndpoint } from '../../endpoint.ts';
import { dollars, idParam, instant } from '../../shapes/common.ts';
import { budgetState } from './keys.ts';

const spendQuery = z.object({ days: z.coerce.number().int().min(1).max(366).default(30) });

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

const burnDownQuery = z.object({
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

export const showKeyUsage = defineEndpoint({
  method: 'GET',
  path: '/api/keys/:id/usage',
  summary: 'Show what a key used on each of the last days',
  tag: 'Keys and projects',
  needs: 'viewer',
  params: idParam,
  query: spendQuery,
  answer: spend,
});

export const showKeyBurnDown = defineEndpoint({
  method: 'GET',
  path: '/api/keys/:id/burn-down',
  summary: 'Show how a budget of a key is spent within its period, and whether it lasts at this pace',
  tag: 'Keys and projects',
  needs: 'viewer',
  params: idParam,
  query: burnDownQuery,
  answer: burnDown,
});

export const showProjectUsage = defineEndpoint({
  method: 'GET',
  path: '/api/projects/:id/usage',
  summary: 'Show what a project used on each of the last days',
  tag: 'Keys and projects',
  needs: 'viewer',
  params: idParam,
  query: spendQuery,
  answer: spend,
});

export const showProjectBurnDown = defineEndpoint({
  method: 'GET',
  path: '/api/projects/:id/burn-down',
  summary: 'Show how a budget of a project is spent within its period, and whether it lasts at this pace',
  tag: 'Keys and projects',
  needs: 'viewer',
  params: idParam,
  query: burnDownQuery,
  answer: burnDown,
});
