/** Who changed what. */

import type { Kysely, Selectable } from 'kysely';
import type { AuditEntry, AuditStore } from '../core/store.ts';
import type { Clock } from '../lib/clock.ts';
import { addAuditEntry } from './recording.ts';
import type { Schema } from './schema.ts';
import { readJson } from './stored-json.ts';

const mostEntries = 1_000;

export function createAuditStore(db: Kysely<Schema>, clock: Clock): AuditStore {
  return {
    add: (entry) => addAuditEntry(db, clock.nowMs(), entry),

    async page({ before, limit }) {
      // IDs sort by time.
      let query = db.selectFrom('audit').selectAll().orderBy('id', 'desc').limit(Math.min(limit, mostEntries));
      if (before !== undefined) query = query.where('id', '<', before);
      return (await query.execute()).map(toEntry);
    },
  };
}

function toEntry(row: Selectable<Schema['audit']>): AuditEntry {
  const { id, at, actor, action, subject, before, after } = row;
  return { id, atMs: at, actor, action, subject, before: toValue(before), after: toValue(after) };
}

/** A look at the log is worth more than an error about one entry. */
function toValue(text: string | null): unknown {
  return text === null ? null : (readJson(text) ?? null);
}
