/** The audit log: every write, and every look at what was captured. */

import type * as z from 'zod';
import type { AuditEntry } from '../../../core/store/audit.ts';
import { implement } from '../../implement.ts';
import { toInstant } from '../../shapes/common.ts';
import type { auditEntry } from '../contract/audit.ts';
import * as contract from '../contract/audit.ts';

const listAudit = implement(
  contract.listAudit,
  async ({ query: { from, to, before, limit, ...filter }, context: { store } }) => {
    // One more than asked for tells whether there is a next page.
    const entries = await store.audit.page({ ...filter, fromMs: from, toMs: to, before, limit: limit + 1 });
    const items = entries.slice(0, limit);
    return { items: items.map(toEntry), next: entries.length > limit ? (items.at(-1)?.id ?? null) : null };
  },
);

function toEntry({ atMs, ...entry }: AuditEntry): z.input<typeof auditEntry> {
  return { ...entry, at: toInstant(atMs) };
}

export default [listAudit];
