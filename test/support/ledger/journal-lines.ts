/** Lines of a journal as the ledger writes them, for tests of the journal itself, and all that a reader makes of them. */

import type { LedgerRow } from '../../../src/core/accounting/ledger-row.ts';
import type { ImportedRow, JournalPosition } from '../../../src/core/store/ledger.ts';
import type { JournalReader } from '../../../src/ledger/journal-reader.ts';
import { ledgerRow } from './ledger-rows.ts';

export function intentLine(id: string, node = 'node-1', reservedNanos = 700): string {
  const { clientRequestId, startedAtMs, key, project, route, operation, label, model, items, requestBytes } = row(id);
  const said = {
    id,
    clientRequestId,
    startedAtMs,
    node,
    key,
    project,
    route,
    operation,
    label,
    model,
    items,
    requestBytes,
  };
  return `${JSON.stringify({ kind: 'intent', row: { ...said, clientAddress: null }, reservedNanos, accounts: ['key/dev/total'] })}\n`;
}

export function settlementLine(id: string, node = 'node-1'): string {
  return `${JSON.stringify({ kind: 'settlement', row: { ...row(id), node }, accounts: ['key/dev/total'] })}\n`;
}

function row(id: string): LedgerRow {
  return ledgerRow({
    id,
    startedAtMs: 1_800_000_000_000,
    model: 'small – petit',
    upstream: 'up',
    upstreamModel: 'small',
    promptTokens: 3,
    totalTokens: 3,
    billedInputTokens: 3,
    costNanos: 60,
    requestBytes: 40,
    responseBytes: 400,
    durationMs: 1.5,
    firstByteMs: 1.2,
    upstreamMs: 1,
  });
}

export interface ReadThrough {
  readonly rows: ImportedRow[];
  readonly endedNodes: string[];
  readonly damage: string[];
  readonly position: JournalPosition;
}

/** Reads until nothing more comes; each batch is said to be imported, unless `import` is false. */
export async function readThrough(
  reader: JournalReader,
  options: { most?: number; import?: boolean } = {},
): Promise<ReadThrough> {
  const rows: ImportedRow[] = [];
  const endedNodes: string[] = [];
  const damage: string[] = [];
  let position: JournalPosition = { segment: -1, offset: -1 };
  for (;;) {
    const batch = await reader.read(options.most ?? 100);
    rows.push(...batch.rows);
    endedNodes.push(...batch.endedNodes);
    damage.push(...batch.damage);
    if (options.import !== false) await reader.imported(batch.position);
    const isSame = batch.position.segment === position.segment && batch.position.offset === position.offset;
    position = batch.position;
    if (isSame && batch.rows.length === 0 && batch.endedNodes.length === 0)
      return { rows, endedNodes, damage, position };
  }
}

/** `id outcome` of each row, in the order of the journal. */
export function outcomes(rows: readonly ImportedRow[]): string[] {
  return rows.map(({ row }) => `${row.id} ${row.outcome}`);
}
