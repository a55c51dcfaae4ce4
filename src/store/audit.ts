/** The audit log in a database: who changed what. */

import { type Kysely, type Selectable, sql } from 'kysely';
import type { AuditEntry, AuditStore } from '../core/store/audit.ts';
import type { Clock } from '../lib/clock.ts';
import { firstIdOf, toStorable } from './ledger/ledger-rows.ts';
import { addAuditEntry } from './recording.ts';
import type { Schema } from './schema.ts';
import { readJson } from './stored-json.ts';

const mostEntries = 1_000;

export function createAuditStore(db: Kysely<Schema>, clock: Clock): AuditStore {
  return {
    add: (entry) => addAuditEntry(db, clock.nowMs(), entry),

    async page({ before, limit, actor, action, subject, fromMs, toMs }) {
      // IDs sort by time.
      let query = db.selectFrom('audit').selectAll().orderBy('id', 'desc').limit(Math.min(limit, mostEntries));
      if (before !== undefined) query = query.where('id', '<', toStorable(before));
      if (fromMs !== undefined) query = query.where('id', '>=', firstIdOf(fromMs));
      if (toMs !== undefined) query = query.where('id', '<', firstIdOf(toMs));
      if (actor !== undefined) query = query.where('actor', '=', toStorable(actor));
      if (subject !== undefined) query = query.where('subject', '=', toStorable(subject));
      // No LIKE: an underscore in a name is no wild card.
      if (action !== undefined) {
        const beginning = toStorable(action);
        const length = [...beginning].length;
        query = query.where(sql<string>`substr(action, 1, ${sql.lit(length)})`, '=', beginning);
      }
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
