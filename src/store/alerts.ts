/** Stores alerts in the database, and which node has the lease to evaluate the alert rules. */

import { type Kysely, type Selectable, sql } from 'kysely';
import { type AlertStore, alertRules, alertSubjects, type StoredAlert } from '../core/store/alerts.ts';
import type { Clock } from '../lib/clock.ts';
import { isMapping } from '../lib/is-mapping.ts';
import { readJson } from '../lib/json/read-json.ts';
import { fromRow, toRow } from './columns.ts';
import { toStorable } from './ledger/ledger-rows.ts';
import type { Schema } from './schema.ts';
import { oneOf, readTexts } from './stored-json.ts';

const leaseId = 1;
const mostAtOnce = 1_000;

export function createAlertStore(db: Kysely<Schema>, clock: Clock): AlertStore {
  return {
    async lease(holder, untilMs) {
      const lease = { holder, until: untilMs };
      const { numInsertedOrUpdatedRows: written } = await db
        .insertInto('alert_lease')
        .values({ id: leaseId, ...lease })
        .onConflict((conflict) =>
          conflict
            .column('id')
            .doUpdateSet(lease)
            .where(({ or, eb }) =>
              or([eb('alert_lease.holder', '=', holder), eb('alert_lease.until', '<', clock.nowMs())]),
            ),
        )
        .executeTakeFirstOrThrow();
      return written === 1n;
    },

    async get(id) {
      const row = await db.selectFrom('alerts').selectAll().where('id', '=', toStorable(id)).executeTakeFirst();
      return row && toAlert(row)[0];
    },

    async page({ isOpen, before, limit }) {
      let query = db.selectFrom('alerts').selectAll().orderBy('id', 'desc').limit(Math.min(limit, mostAtOnce));
      if (isOpen !== undefined) query = query.where('closed_at', isOpen ? 'is' : 'is not', null);
      if (before !== undefined) query = query.where('id', '<', toStorable(before));
      return (await query.execute()).flatMap(toAlert);
    },

    async untold() {
      const rows = await db.selectFrom('alerts').selectAll().where('untold', 'is not', null).orderBy('id').execute();
      return rows.flatMap(toAlert);
    },

    async put(alert) {
      const row = toRow({ explore: undefined, ...alert, untold: alert.untold.length === 0 ? undefined : alert.untold });
      const { id: _, ...rest } = row;
      await db
        .insertInto('alerts')
        .values(row)
        .onConflict((conflict) => conflict.column('id').doUpdateSet(rest))
        .execute();
    },

    async prune(beforeMs) {
      await db.deleteFrom('alerts').where(sql<boolean>`closed_at < ${beforeMs}`).execute();
    },
  };
}

/** The alert of a row; none for a rule that this version does not know. */
function toAlert(row: Selectable<Schema['alerts']>): StoredAlert[] {
  const rule = oneOf(alertRules, row.rule);
  const kind = oneOf(alertSubjects, row.kind);
  if (rule === undefined || kind === undefined) return [];
  return [
    {
      ...fromRow(row),
      ...{ rule, kind, severity: row.severity === 'bad' ? 'bad' : 'warning' },
      explore: row.explore === null ? undefined : toExplore(row.explore),
      untold: row.untold === null ? [] : (readTexts(row.untold) ?? []),
    },
  ];
}

function toExplore(text: string): Record<string, string> {
  const said = readJson(text);
  if (!isMapping(said)) return {};
  return Object.fromEntries(Object.entries(said).map(([name, value]) => [name, String(value)]));
}
