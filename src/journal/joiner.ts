/** Joins the journal's start records with their settlements into rows, and makes rows of requests that never ended. */

import type { IntentRecord, LedgerRow } from '../core/accounting/ledger-row.ts';
import type { ImportedRow } from '../core/store/ledger.ts';
import type { Frame } from './journal-frame.ts';
import { ItemReader, idNumberOf } from './journal-items.ts';
import { type FramePosition, type JournalLine, parseLine } from './journal-records.ts';

/** The rows and other results of reading a piece of journal. */
export interface Joined {
  readonly rows: ImportedRow[];
  readonly endedNodes: string[];
  readonly damage: string[];
}

export function nothingJoined(): Joined {
  return { rows: [], endedNodes: [], damage: [] };
}

interface OpenIntent {
  readonly intent: IntentRecord;
  readonly segment: number;
  readonly number: number;
}

const listCount = 1024;

/** Open intents, in lists by the number in their ID. A `Map` that changes all the time leaves tables, and what they refer to, in V8's old generation. */
class OpenIntents {
  readonly #lists: OpenIntent[][] = Array.from({ length: listCount }, () => []);
  size = 0;

  values(): OpenIntent[] {
    return this.#lists.flat();
  }

  set(intent: OpenIntent): void {
    this.delete(intent.intent.row.id, intent.number);
    this.#lists[intent.number % listCount]?.push(intent);
    this.size += 1;
  }

  delete(id: string, number: number): void {
    const list = this.#lists[number % listCount] ?? [];
    const at = list.findIndex((other) => other.number === number && other.intent.row.id === id);
    if (at < 0) return;
    list.splice(at, 1);
    this.size -= 1;
  }

  clear(): void {
    for (const list of this.#lists) list.length = 0;
    this.size = 0;
  }
}

export class Joiner {
  readonly #open = new OpenIntents();
  readonly #items = new ItemReader();
  #itemsSegment = 0;
  /** The end of the last whole frame of each segment, deleted segments included, to know whether a repeated frame was read already. */
  readonly #ends = new Map<number, number>();
  #node: string | undefined = undefined;

  get openIntents(): number {
    return this.#open.size;
  }

  hasOpenIn(segment: number): boolean {
    for (const intent of this.#open.values()) if (intent.segment === segment) return true;
    return false;
  }

  take(frame: Pick<Frame, 'payload' | 'isItems' | 'end'>, segment: number, into: Joined): void {
    this.#ends.set(segment, frame.end);
    if (this.#itemsSegment !== segment) this.#items.clear();
    this.#itemsSegment = segment;
    let isLate = false;
    for (const item of this.#items.read(frame)) {
      const record = typeof item === 'string' ? parseLine(item) : item;
      if (record === undefined) {
        into.damage.push(
          `segment ${segment} holds a record that cannot be read before byte ${frame.end}; it is skipped.`,
        );
      } else if (record.kind === 'again') {
        if (record.places.some((position) => this.#wasRead(position))) return;
        isLate = record.isLate;
      } else {
        this.#join(record, typeof item === 'string' ? undefined : this.#items.idNumber, segment, isLate, into);
      }
    }
  }

  /** Ends all open exchanges as lost, because their writer is gone. */
  endAll(into: Joined): void {
    for (const { intent } of this.#open.values()) into.rows.push(toLostRow(intent));
    this.#open.clear();
    if (this.#node !== undefined) into.endedNodes.push(this.#node);
    this.#node = undefined;
  }

  /** Forgets the names read so far, for readers of frames that each hold all names they need. */
  forgetNames(): void {
    this.#items.clear();
  }

  #join(
    record: Exclude<JournalLine, { kind: 'again' }>,
    idNumber: number | undefined,
    segment: number,
    isLate: boolean,
    into: Joined,
  ): void {
    switch (record.kind) {
      case 'intent':
        this.#enter(record.row.node, into);
        this.#open.set({ intent: record, segment, number: idNumber ?? idNumberOf(record.row.id) });
        break;
      case 'settlement': {
        this.#enter(record.row.node, into);
        this.#open.delete(record.row.id, idNumber ?? idNumberOf(record.row.id));
        const row = isLate ? toLateRow(record.row) : record.row;
        into.rows.push({ row, accounts: record.accounts, capture: record.capture });
        break;
      }
      case 'start':
        // A process began anew, perhaps under the same name: exchanges that were open before are lost.
        if (this.#node === record.node) this.#node = undefined;
        this.endAll(into);
        this.#node = record.node;
        break;
      case 'more':
        this.#enter(record.node, into);
        break;
      case 'end':
        this.#enter(record.node, into);
        this.endAll(into);
        break;
      case 'void':
        for (const id of record.ids) this.#open.delete(id, idNumberOf(id));
        break;
    }
  }

  /** Notes the node of a record: where the first record of a process is missing, its other records name the node as well. */
  #enter(node: string, into: Joined): void {
    if (this.#node === node) return;
    if (this.#node !== undefined) this.endAll(into);
    this.#node = node;
  }

  #wasRead({ segment, offset }: FramePosition): boolean {
    return (this.#ends.get(segment) ?? 0) > offset;
  }
}

function toLostRow({ row, reservedNanos, accounts }: IntentRecord): ImportedRow {
  const lost: LedgerRow = {
    ...row,
    upstream: null,
    upstreamModel: null,
    attempts: 0,
    tries: [],
    outcome: 'lost',
    status: 0,
    error: null,
    promptTokens: null,
    completionTokens: null,
    totalTokens: null,
    searchUnits: null,
    cachedTokens: null,
    billedInputTokens: null,
    billedOutputTokens: null,
    billedSearchUnits: null,
    isEstimated: true,
    costNanos: reservedNanos === 0 ? null : reservedNanos,
    responseBytes: 0,
    durationMs: 0,
    firstByteMs: null,
    upstreamMs: null,
    cache: null,
    queueMs: null,
    connectMs: null,
    units: null,
  };
  return { row: lost, accounts };
}

/** The row of a request whose end was written too late: the journal failed, so the client never got the end. */
function toLateRow(row: LedgerRow): LedgerRow {
  if (row.outcome !== 'ok' && row.outcome !== 'error') return row;
  return { ...row, outcome: 'cut', error: 'store_unavailable' };
}
