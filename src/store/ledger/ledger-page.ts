/** Pages of the ledger, the newest row first. A page begins where the one before ended, so the thousandth costs what the first does. */

import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { LedgerFilter, LedgerPage } from '../../core/store/ledger.ts';
import type { LedgerTable, Schema } from '../schema.ts';
import { findStretch, isRarelyTogether, type Stretch } from './ledger-days.ts';
import { isSqlite } from './ledger-insert.ts';
import { firstIdOf, fromTableRow, isId, toConditions, toName } from './ledger-rows.ts';
import { selectFromSlices } from './ledger-slices.ts';

const mostRowsPerPage = 1_000;

/** Throws a RangeError where a cursor is none of ours, or a page too long. */
export async function readPage(
  db: Kysely<Schema>,
  filter: LedgerFilter,
  { before, limit }: { readonly before?: string | undefined; readonly limit: number },
): Promise<LedgerPage> {
  if (!Number.isInteger(limit) || limit < 1 || limit > mostRowsPerPage) {
    throw new RangeError(`"limit" is ${limit}; ask for 1 to ${mostRowsPerPage} rows.`);
  }
  if (before !== undefined && !isId(before)) {
    throw new RangeError('"before" is no cursor of the ledger; give the "next" of the page before as it came.');
  }
  // Nobody was answered with such a status.
  if (filter.status !== undefined && !Number.isSafeInteger(filter.status)) return { rows: [], next: undefined };

  const { fromMs = 0, toMs = Number.POSITIVE_INFINITY } = filter;
  let stretch: Stretch | undefined = { fromMs, toMs: Math.min(toMs, endOf(before)) };
  const { clientRequestId } = filter;
  if (clientRequestId === undefined && isRarelyTogether(filter))
    stretch = await findStretch(db, filter, stretch, limit + 1);
  if (stretch === undefined) return { rows: [], next: undefined };

  const end = Number.isFinite(stretch.toMs) ? firstIdOf(stretch.toMs) : undefined;
  const bound = end === undefined || (before !== undefined && before < end) ? before : end;
  const fits = toFits(filter);
  if (stretch.fromMs > 0) fits.push(sql`ledger.id >= ${firstIdOf(stretch.fromMs)}`);
  if (bound !== undefined) fits.push(sql`ledger.id < ${bound}`);
  const fit = fits.length === 0 ? sql<boolean>`true` : sql<boolean>`${sql.join(fits, sql` and `)}`;
  const fromSlices = isSqlite(db) && clientRequestId === undefined ? selectFromSlices(db, filter, stretch) : undefined;
  const query =
    fromSlices === undefined
      ? db.selectFrom('ledger').selectAll().where(fit).orderBy('id', 'desc')
      : fromSlices.where(fit).orderBy('ledger.id', 'desc');

  // One more than asked for tells whether there is a next page.
  const rows: readonly LedgerTable[] = await query.limit(limit + 1).execute();
  const shown = rows.slice(0, limit);
  return { rows: shown.map(fromTableRow), next: rows.length > limit ? shown.at(-1)?.id : undefined };
}

function toFits(filter: LedgerFilter): RawBuilder<boolean>[] {
  const { clientRequestId, status, outcome } = filter;
  const fits = toConditions(filter).map(({ column, value }) => {
    if (value === '') return isEmpty(column);
    // Few rows have one ID of a client; the index of anything else is kept out of it.
    if (clientRequestId !== undefined) return sql<boolean>`coalesce(${sql.ref(column)}, '') = ${value}`;
    return sql<boolean>`${sql.ref(column)} = ${value}`;
  });
  if (clientRequestId !== undefined) fits.push(sql`client_request_id = ${toName(clientRequestId)}`);
  if (status !== undefined) fits.push(sql`status = ${status}`);
  // The indices of these two leave out what nearly every row has; only in these words do they count as fitting.
  if (outcome !== undefined && outcome !== 'ok') fits.push(sql`outcome <> 'ok'`);
  if (status !== undefined && status !== 200) fits.push(sql`status <> 200`);
  return fits;
}

/** When everything has begun that stands before this row. */
const endOf = (id: string | undefined): number =>
  id === undefined ? Number.POSITIVE_INFINITY : Number.parseInt(id.slice(0, 12), 16) + 1;

/** Where there is none of a thing, it is empty text in sums, and null in most rows. */
const isEmpty = (column: string) => sql<boolean>`coalesce(${sql.ref(column)}, '') = ''`;
