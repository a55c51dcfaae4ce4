/** Journal records as the ledger writes them, and everything a reader returns, for tests of the journal. */

import { RowWriter } from '../../../src/accounting/row.ts';
import type { IntentRecord, LedgerRow, SettlementRecord } from '../../../src/core/accounting/ledger-row.ts';
import type { Reservation } from '../../../src/core/accounting/spending.ts';
import { Exchange } from '../../../src/core/exchange.ts';
import type { Snapshot } from '../../../src/core/snapshot.ts';
import type { ImportedRow, JournalPosition } from '../../../src/core/store/ledger.ts';
import { ItemReader, type RowItem, toPayload } from '../../../src/journal/journal-items.ts';
import type { JournalReader } from '../../../src/journal/journal-reader.ts';
import { ledgerRow } from './ledger-rows.ts';

const parts = new Map<string, unknown>();
const accounts = ['key/dev/total'];
const partial: unknown = { server: { logClientAddress: true } };
const snapshot = partial as Snapshot;

export function intentLine(id: string, node = 'node-1', reservedNanos = 700): RowItem {
  return intentItem({ ...row(id), node }, { nanos: reservedNanos, accounts });
}

export function settlementLine(id: string, node = 'node-1', more: Partial<LedgerRow> = {}): RowItem {
  return settlementItem({ ...row(id), node, ...more }, accounts);
}

/** As the gateway writes the intent of an exchange that has such a row in the end. Good until the next one is written. */
export function intentItem(of: LedgerRow, reservation: { nanos: number; accounts: readonly string[] }): RowItem {
  return writerOf(of).intent(exchangeOf(of), reservation as Reservation);
}

export function settlementItem(
  of: LedgerRow,
  ofAccounts: readonly string[],
  capture?: SettlementRecord['capture'],
): RowItem {
  const reservation = { accounts: ofAccounts } as Reservation;
  return writerOf(of).settlement(exchangeOf(of), reservation, of.durationMs, capture);
}

/** What a reader makes of an item. */
export function intentIn(item: RowItem): IntentRecord {
  const [record] = new ItemReader().read({ payload: toPayload(item), isItems: true });
  if (typeof record !== 'object' || record.kind !== 'intent') throw new Error('that is no intent');
  return record;
}

export function settlementIn(item: RowItem): SettlementRecord {
  const [record] = new ItemReader().read({ payload: toPayload(item), isItems: true });
  if (typeof record !== 'object' || record.kind !== 'settlement') throw new Error('that is no settlement');
  return record;
}

function writerOf({ node }: LedgerRow): RowWriter {
  return kept(`node ${node}`, () => new RowWriter(node));
}

/** The same object for the same words, as in a snapshot. */
function kept<T>(words: string, make: () => T): T {
  if (!parts.has(words)) parts.set(words, make());
  return parts.get(words) as T;
}

function exchangeOf(of: LedgerRow): Exchange {
  const { key, project, route: path, operation, label, upstream, upstreamModel: model } = of;
  const exchange = new Exchange(of.id, of.clientRequestId ?? undefined, snapshot, of.startedAtMs, 0);
  const hasBill = of.billedInputTokens !== null || of.costNanos !== 0 || of.isEstimated;
  const hasAnswer = of.firstByteMs !== null;
  return Object.assign(exchange, {
    key: kept(`key ${key} ${project}`, () => ({ id: key, project: project ?? undefined })),
    route: kept(`route ${path} ${operation} ${label}`, () => ({ path, operation, label })),
    target:
      upstream === null
        ? undefined
        : kept(`target ${upstream} ${model}`, () => ({ upstream: { id: upstream }, model })),
    modelId: of.model ?? undefined,
    estimate: { items: of.items },
    requestBytes: of.requestBytes,
    clientAddress: of.clientAddress ?? undefined,
    trace: of.traceId === null ? undefined : { traceId: of.traceId },
    attempts: of.attempts,
    tries: of.tries,
    outcome: of.outcome,
    status: of.status,
    errorCode: of.error ?? undefined,
    usage: of,
    bill: hasBill
      ? {
          inputTokens: of.billedInputTokens,
          outputTokens: of.billedOutputTokens,
          searchUnits: of.billedSearchUnits,
          isEstimated: of.isEstimated,
          costNanos: of.costNanos,
          units: of.units ?? undefined,
        }
      : null,
    responseBytes: of.responseBytes,
    queuedMs: of.queueMs ?? 0,
    client: { gone: false, work: undefined, connectMs: of.connectMs ?? undefined },
    firstByteAtMs: of.firstByteMs ?? 0,
    sentAtMs: hasAnswer && of.upstreamMs !== null ? (of.firstByteMs ?? 0) - of.upstreamMs : 0,
    cacheUse: of.cache === null ? undefined : { hits: of.cache === 'miss' ? 0 : 1, items: of.cache === 'hit' ? 1 : 2 },
  });
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
