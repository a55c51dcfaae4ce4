/** Composes the ledger store of a database from its parts: import, pages, usage, pruning and verification. */

import type { Kysely } from 'kysely';
import type { LedgerStore } from '../../core/store/ledger.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Schema } from '../schema.ts';
import { getCompact } from './ledger-compact.ts';
import { createFormerMove } from './ledger-former.ts';
import { createLedgerImport } from './ledger-import.ts';
import { isSqlite } from './ledger-insert.ts';
import { readPage } from './ledger-page.ts';
import { countBefore, moveMark, pruneCaptures, pruneRows, readMark, setMark } from './ledger-prune.ts';
import { fromTableRow, isId } from './ledger-rows.ts';
import { readLastUse, readUnitUsage, readUsage } from './ledger-usage.ts';
import { verifySums } from './ledger-verify.ts';

export function createLedgerStore(db: Kysely<Schema>, clock: Clock, secure: LedgerStore['secure']): LedgerStore {
  const importRows = createLedgerImport(db, clock);
  return {
    import: importRows,

    async position(journal) {
      const row = await db.selectFrom('journals').selectAll().where('id', '=', journal).executeTakeFirst();
      return row && { segment: row.segment, offset: row.position };
    },

    async get(id) {
      if (!isId(id)) return undefined;
      const compact = async () => (isSqlite(db) ? getCompact(db, id) : undefined);
      const row =
        (await compact()) ??
        (await db.selectFrom('ledger').selectAll().where('id', '=', id).executeTakeFirst()) ??
        // The row may have moved to the other table meanwhile.
        (await compact());
      return row && fromTableRow(row);
    },

    async capture(id) {
      if (!isId(id)) return undefined;
      const row = await db
        .selectFrom('captures')
        .selectAll()
        .where('id', '=', id)
        .where('expires_at', '>', clock.nowMs())
        .executeTakeFirst();
      return row && { request: row.request, response: row.response, expiresAtMs: row.expires_at };
    },

    secure,
    page: (filter, options) => readPage(db, filter, options, clock),
    usage: (filter, by, only) => readUsage(db, filter, by, only),
    lastUse: (fromMs) => readLastUse(db, fromMs),
    unitUsage: (filter, by) => readUnitUsage(db, filter, by),
    moveFormer: createFormerMove(db),
    prune: (beforeMs) => pruneRows(db, beforeMs),
    pruneCaptures: (nowMs) => pruneCaptures(db, nowMs),
    moveMark: (nowMs, reachedMs) => moveMark(db, nowMs, reachedMs),
    readMark: () => readMark(db),
    setMark: (nowMs) => setMark(db, nowMs),
    countBefore: (beforeMs) => countBefore(db, beforeMs),
    verify: (fromMs, toMs) => verifySums(db, fromMs, toMs),
  };
}
