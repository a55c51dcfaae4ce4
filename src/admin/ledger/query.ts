/** Reads pages of ledger rows by filter or the beginning of an ID, and formats a row for the API. */

import type * as z from 'zod';
import type { LedgerRow } from '../../core/accounting/ledger-row.ts';
import type { LedgerFilter, LedgerPage, LedgerStore, UsageSums } from '../../core/store/ledger.ts';
import { toCsvText } from '../../lib/csv.ts';
import { toDollars } from '../../lib/money.ts';
import { withMasks } from '../../lib/secrets/secret-shapes.ts';
import { toInstant } from '../shapes/common.ts';
import { type ledgerDetail, ledgerRow } from './contract/ledger.ts';

/** A filter of rows with the API's names for its times, and with the beginning of a row's ID. */
type LedgerQuery = Omit<LedgerFilter, 'fromMs' | 'toMs'> & {
  readonly from?: number | undefined;
  readonly to?: number | undefined;
  readonly id?: string | undefined;
};

const idLength = 32;
/** The first hex digits of an ID, which are the time in milliseconds. */
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
  // IDs sort by time, so a common prefix is a time span.
  const firstMs = Number.parseInt(id.slice(0, timeDigits).padEnd(timeDigits, '0'), 16);
  const end = id.length === idLength ? nextId(id) : id.padEnd(idLength, 'f');
  const page = await ledger.page(
    { ...filter, fromMs: Math.max(firstMs, filter.fromMs ?? 0) },
    { before: before !== undefined && before < end ? before : end, limit },
  );
  const rows = page.rows.filter((row) => row.id.startsWith(id));
  return { rows, next: rows.length === page.rows.length ? page.next : undefined };
}

/** The ID that follows this one, as the store's bound is exclusive. */
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

export function toShownSums({ costNanos, durationMs, ...counts }: UsageSums) {
  return { ...counts, cost: toDollars(costNanos), durationMs: Math.round(durationMs) };
}

export function toDetail(
  row: LedgerRow,
  { hasCapture, traceUrl }: { readonly hasCapture: boolean; readonly traceUrl: string | undefined },
): z.input<typeof ledgerDetail> {
  const tries = row.tries.map(({ credential = null, detail = null, startMs = null, connectMs = null, ...one }) => ({
    ...{ ...one, credential, detail, startMs, connectMs },
  }));
  const { traceId } = row;
  const url = traceId === null ? undefined : traceUrl?.replaceAll('{trace_id}', () => encodeURIComponent(traceId));
  return { ...toRow(row), tries, hasCapture, traceUrl: url ?? null };
}

const mostExported = 100_000;
/** Rows that are read at a time: few enough to keep the event loop free. */
const rowsPerPage = 200;

/** Exports ledger rows as a file, page by page, as fast as the reader takes them; in one of these formats. */
type ExportFormat = 'csv' | 'ndjson';

interface Lines {
  readonly type: string;
  readonly head: string;
  line(row: Readonly<Record<string, unknown>>): string;
  readonly cut: string;
}

const columns = Object.keys(ledgerRow.shape);
const cutWords = `There are more rows: an export has ${mostExported} at most. Choose a shorter time.`;

const formats: Readonly<Record<ExportFormat, Lines>> = {
  csv: {
    type: 'text/csv; charset=utf-8',
    head: `${columns.join(',')}\r\n`,
    line: (row) => `${columns.map((column) => toCell(row[column])).join(',')}\r\n`,
    cut: `${toCsvText(cutWords)}\r\n`,
  },
  ndjson: {
    type: 'application/x-ndjson',
    head: '',
    line: (row) => `${JSON.stringify(row)}\n`,
    cut: `${JSON.stringify({ cut: cutWords })}\n`,
  },
};

const toCell = (value: unknown): string => {
  if (value === null || value === undefined) return '';
  if (typeof value === 'object') return toCsvText(JSON.stringify(value));
  return typeof value === 'string' ? toCsvText(value) : String(value);
};

export function exportRows(
  ledger: Pick<LedgerStore, 'get' | 'page'>,
  query: LedgerQuery,
  { format, most = mostExported }: { readonly format: ExportFormat; readonly most?: number },
): Response {
  const lines = formats[format];
  const pieces = toPieces(ledger, query, { ...lines, most });
  const encoder = new TextEncoder();
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { value, done } = await pieces.next();
      if (done === true) controller.close();
      else controller.enqueue(encoder.encode(value));
    },
    async cancel() {
      await pieces.return();
    },
  });
  return new Response(body, {
    headers: {
      'content-type': lines.type,
      'content-disposition': `attachment; filename="postern-requests.${format}"`,
      'x-postern-most-rows': String(most),
    },
  });
}

async function* toPieces(
  ledger: Pick<LedgerStore, 'get' | 'page'>,
  query: LedgerQuery,
  { head, line, cut, most }: Lines & { readonly most: number },
): AsyncGenerator<string, void, void> {
  if (head !== '') yield head;
  let left = most;
  let before: string | undefined;
  while (left > 0) {
    const { rows, next } = await readRows(ledger, query, { before, limit: Math.min(rowsPerPage, left) });
    left -= rows.length;
    if (rows.length > 0) yield rows.map((row) => withMasks(line(toRow(row)))).join('');
    if (next === undefined) return;
    before = next;
  }
  yield cut;
}
