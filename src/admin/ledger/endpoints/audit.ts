/** The audit log: every write, and every look at what was captured. */

import type * as z from 'zod';
import type { AuditEntry } from '../../../core/store.ts';
import { defineEndpoint } from '../../endpoint.ts';
import { Problem } from '../../problem.ts';
import { idParam, toInstant } from '../../shapes/common.ts';
import { auditEntry, auditPage, auditQuery } from '../contract/audit.ts';

const tag = 'Audit';

export const listAudit = defineEndpoint({
  method: 'GET',
  path: '/api/audit',
  summary: 'List who changed what, the newest first, with before and after',
  tag,
  needs: 'admin',
  query: auditQuery,
  answer: auditPage,
  async run({ query: { from, to, before, limit, ...filter }, context: { store } }) {
    // One more than asked for tells whether there is a next page.
    const entries = await store.audit.page({ ...filter, fromMs: from, toMs: to, before, limit: limit + 1 });
    const items = entries.slice(0, limit);
    return { items: items.map(toEntry), next: entries.length > limit ? (items.at(-1)?.id ?? null) : null };
  },
});

export const getAuditEntry = defineEndpoint({
  method: 'GET',
  path: '/api/audit/:id',
  summary: 'Show one change',
  tag,
  needs: 'admin',
  params: idParam,
  answer: auditEntry,
  async run({ params: { id }, context: { store } }) {
    const entry = await store.audit.get(id);
    if (entry === undefined) throw new Problem('not_found', { detail: 'The audit log holds no entry with this ID.' });
    return toEntry(entry);
  },
});

function toEntry({ atMs, ...entry }: AuditEntry): z.input<typeof auditEntry> {
  return { ...entry, at: toInstant(atMs) };
}
