/** From a query to rows of the ledger: pages by filter, or by how an ID begins; and a row as it goes over the wire. */

import type * as z from 'zod';
import type { LedgerRow } from '../../core/accounting/ledger-row.ts';
import type { LedgerFilter, LedgerPage, LedgerStore } from '../../core/store/ledger.ts';
import { toDollars } from '../../lib/money.ts';
import { toInstant } from '../shapes/common.ts';
import type { ledgerDetail, ledgerRow, tailQuery } from './contract/ledger.ts';

export type LedgerQuery = z.output<typeof tailQuery> & { readonly id?: string | undefined };

const idLength = 32;
/** Of which the first say the time, in milliseconds. */
const timeDigits = 12;

export function toFilter({ from, to, id: _, ...others }: LedgerQuery): LedgerFilter {
  return { ...others, fromMs: from, toMs: to };
}

export async function readRows(
  ledger: Pick<LedgerStore, 'get' | 'page'>,
  query: LedgerQuery,
  { before, limit }: { readonly before?: string | undefined; readonly limit: number },
): Promise<LedgerPage> {
  const { id } = query;
  const filter = toFilter(query);
  if (id === undefined) return ledger.page(filter, { before, limit });
  // IDs sort by time, so those that begin alike are a stretch of it.
  const firstMs = Number.parseInt(id.slice(0, timeDigits).padEnd(timeDigits, '0'), 16);
  const end = id.length === idLength ? nextId(id) : id.padEnd(idLength, 'f');
  const page = await ledger.page(
    { ...filter, fromMs: Math.max(firstMs, filter.fromMs ?? 0) },
    { before: before !== undefined && before < end ? before : end, limit },
  );
  const rows = page.rows.filter((row) => row.id.startsWith(id));
  return { rows, next: rows.length === page.rows.length ? page.next : undefined };
}

/** What is asked for stands before its bound. */
function nextId(id: string): string {
  return (BigInt(`0x${id}`) + 1n).toString(16).padStart(idLength, '0').slice(-idLength);
}

export function toRow(row: LedgerRow): z.input<typeof ledgerRow> {
  const { startedAtMs, costNanos, tries: _, ...others } = row;
  return {
    ...others,
    startedAt: toInstant(startedAtMs),
    cost: costNanos === null ? null : toDollars(costNanos),
  };
}

export function toDetail(row: LedgerRow, hasCapture: boolean): z.input<typeof ledgerDetail> {
  const tries = row.tries.map(({ upstream, model, credential, outcome, detail, durationMs }) => ({
    upstream,
    model,
    credential: credential ?? null,
    outcome,
    detail: detail ?? null,
    durationMs,
  }));
  return { ...toRow(row), tries, hasCapture };
}
