/** Rows of the ledger as a file: read page by page, as the reader takes them. */

import type { LedgerStore } from '../../core/store/ledger.ts';
import { toCsvText } from '../../lib/csv.ts';
import { withMasks } from '../../lib/secrets/secret-shapes.ts';
import { ledgerRow } from './contract/ledger.ts';
import { type LedgerQuery, readRows, toRow } from './query.ts';

const mostExported = 100_000;
/** Few enough that a page holds up nobody. */
const rowsPerPage = 200;

export type ExportFormat = 'csv' | 'ndjson';

interface Lines {
  readonly type: string;
  readonly head: string;
  line(row: Readonly<Record<string, unknown>>): string;
  /** Where not all is in it. */
  readonly cut: string;
}

const columns = Object.keys(ledgerRow.shape);
const cutWords = `There are more rows: an export has ${mostExported} at most. Ask for a shorter time.`;

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
  format: ExportFormat,
  most: number = mostExported,
): Response {
  const lines = formats[format];
  const pieces = toPieces(ledger, query, lines, most);
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
  { head, line, cut }: Lines,
  most: number,
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
