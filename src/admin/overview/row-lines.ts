/** Rows as the lines that sums come in, for stretches that are too short for sums. */

import type { LedgerRow, RowOutcome } from '../../core/accounting/ledger-row.ts';
import type { UsageSums } from '../../core/store/ledger.ts';
import type { Breakdown } from './contract/overview.ts';

/** What a chart and a list are made of, wherever it comes from. */
export interface Line {
  readonly atMs: number;
  readonly outcome: RowOutcome;
  readonly sums: UsageSums;
}

/** As the import adds a row to the sums. */
export function toSumsOfRow(row: LedgerRow): UsageSums {
  const isUnpriced = row.costNanos === null && (row.billedInputTokens !== null || row.outcome === 'lost');
  return {
    requests: 1,
    errors: row.outcome === 'ok' ? 0 : 1,
    inputTokens: row.billedInputTokens ?? 0,
    outputTokens: row.billedOutputTokens ?? 0,
    searchUnits: row.billedSearchUnits ?? 0,
    items: row.items,
    costNanos: BigInt(row.costNanos ?? 0),
    unpriced: isUnpriced ? 1 : 0,
    estimated: row.isEstimated ? 1 : 0,
    requestBytes: row.requestBytes,
    responseBytes: row.responseBytes,
    durationMs: row.durationMs,
  };
}

export function idOf(row: LedgerRow, by: Breakdown): string {
  return row[by] ?? '';
}
