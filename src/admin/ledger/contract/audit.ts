/** The shape of an entry of the audit log: who changed what. */

import * as z from 'zod';
import { defineEndpoint } from '../../endpoint.ts';
import { instant, pageOf } from '../../shapes/common.ts';
import { checkSpan, fromTime, toTimeOf } from './span.ts';

export const auditEntry = z.object({
  id: z.string(),
  at: instant,
  actor: z.string().meta({ description: 'Such as `command line` or `console: ada@example.com`.' }),
  action: z.string().meta({ description: 'Such as `key.create`.' }),
  subject: z.string(),
  before: z.unknown().meta({ description: 'As it was, without secrets; null where there was nothing.' }),
  after: z.unknown().meta({ description: 'As it is since, without secrets; null where there is nothing.' }),
});

const auditPage = pageOf(auditEntry);

const name = z.string().min(1).max(256).optional();

const auditQuery = z
  .strictObject({
    from: fromTime,
    to: toTimeOf,
    actor: name,
    action: name.meta({ description: 'How the action begins: `key.` for all that is done to keys.' }),
    subject: name,
    before: z
      .string()
      .regex(/^[0-9a-f]{32}$/, 'This is no cursor of the audit log; give the `next` of the page before as it came.')
      .optional()
      .meta({ description: 'The `next` of the page before.' }),
    limit: z.coerce.number().int().min(1).max(200).default(50),
  })
  .superRefine(checkSpan);

export const listAudit = defineEndpoint({
  method: 'GET',
  path: '/api/audit',
  summary: 'List who changed what, the newest first, with before and after',
  tag: 'Audit',
  needs: 'admin',
  query: auditQuery,
  answer: auditPage,
});
