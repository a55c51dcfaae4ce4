/** Joins start records with settlements in journal order, and makes rows of unfinished requests too. */

import type { Buffer } from 'node:buffer';
import type { IntentRecord, LedgerRow } from '../core/accounting/ledger-row.ts';
import type { ImportedRow } from '../core/store/ledger.ts';
import { ItemReader, idNumberOf } from './journal-items.ts';
import { type FramePosition, type JournalLine, parseLine } from './journal-records.ts';

/** What came of a piece of journal. */
export interface Joined {
  readonly rows: ImportedRow[];
  readonly endedNodes: string[];
  readonly damage: string[];
}

export function nothingJoined(): Joined {
  return { rows: [], endedNodes: [], damage: [] };
}

interface OpenIntent {
  readonly id: string;
  /** Of a line of text as it stands in the journal: most are never needed again. */
  readonly intent: IntentRecord | string;
  readonly segment: number;
}

/** By the numbers of their IDs, as texts would have to be hashed: by the text where two have one number. */
class OpenIntents {
  readonly #intents = new Map<number | string, OpenIntent>();
  #hasTexts = false;

  get size(): number {
    return this.#intents.size;
  }

  values(): Iterable<OpenIntent> {
    return this.#intents.values();
  }

  set(intent: OpenIntent, number: number): void {
    const other = this.#intents.get(number);
    const isTaken = other !== undefined && other.id !== intent.id;
    if (isTaken) this.#hasTexts = true;
    this.#intents.set(isTaken ? intent.id : number, intent);
  }

  delete(id: string, number: number): void {
    if (this.#intents.get(number)?.id === id) this.#intents.delete(number);
    if (this.#hasTexts) this.#intents.delete(id);
  }

  clear(): void {
    this.#intents.clear();
    this.#hasTexts = false;
  }
}

/** How the ledger writes intents. */
const intentStart = '{"kind":"intent","row":{"id":"';

export class Joiner {
  readonly #open = new OpenIntents();
  readonly #items = new ItemReader();
  /** Whose names are known. */
  #itemsSegment = 0;
  /** Where the last whole frame of a segment ended, also of those that were deleted: what is late may have stood in one. */
  readonly #ends = new Map<number, number>();
  #node: string | undefined = undefined;
  /** As it stands in its lines; a client's text cannot look like it, for its quotes are escaped. */
  #nodeText = '';

  get openIntents(): number {
    return this.#open.size;
  }

  hasOpenIn(segment: number): boolean {
    for (const intent of this.#open.values()) if (intent.segment === segment) return true;
    return false;
  }

  /** A whole frame of items, and where it stands. */
  take(payload: Buffer, segment: number, end: number, into: Joined): void {
    this.#ends.set(segment, end);
    if (this.#itemsSegment !== segment) this.#items.clear();
    this.#itemsSegment = segment;
    let isLate = false;
    for (const item of this.#items.read(payload)) {
      const record = typeof item === 'string' ? parseLine(item) : item;
      if (record === undefined) {
        into.damage.push(`segment ${segment} holds a record that cannot be read before byte ${end}; it is skipped.`);
      } else if (record.kind === 'again') {
        if (record.places.some((place) => this.#wasRead(place))) return;
        isLate = record.isLate;
      } else {
        this.#join(record, typeof item === 'string' ? undefined : this.#items.idNumber, segment, isLate, into);
      }
    }
  }

  /** The same of a frame of lines. */
  takeLines(lines: readonly string[], segment: number, end: number, into: Joined): void {
    this.#ends.set(segment, end);
    let isLate = false;
    for (const line of lines) {
      const id = this.#quickId(line);
      if (id !== undefined) {
        this.#open.set({ id, intent: line, segment }, idNumberOf(id));
        continue;
      }
      const record = parseLine(line);
      if (record === undefined) {
        into.damage.push(
          `segment ${segment} holds a record of ${line.length} characters that cannot be read; it is skipped.`,
        );
      } else if (record.kind === 'again') {
        if (record.places.some((place) => this.#wasRead(place))) return;
        isLate = record.isLate;
      } else {
        this.#join(record, undefined, segment, isLate, into);
      }
    }
  }

  /** Nobody writes any more: what is open stays without an end. */
  endAll(into: Joined): void {
    for (const { intent } of this.#open.values()) {
      const record = typeof intent === 'string' ? parseLine(intent) : intent;
      if (record?.kind === 'intent') into.rows.push(toLostRow(record));
    }
    this.#open.clear();
    if (this.#node !== undefined) into.endedNodes.push(this.#node);
    this.#node = undefined;
  }

  /** Where each frame holds all names that it needs. */
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
        this.#open.set({ id: record.row.id, intent: record, segment }, idNumber ?? idNumberOf(record.row.id));
        break;
      case 'settlement': {
        this.#enter(record.row.node, into);
        this.#open.delete(record.row.id, idNumber ?? idNumberOf(record.row.id));
        const row = isLate ? toLateRow(record.row) : record.row;
        into.rows.push({ row, accounts: record.accounts, capture: record.capture });
        break;
      }
      case 'start':
        // Even under the same name: what was open then has nobody any more.
        if (this.#node === record.node) this.#node = undefined;
        this.endAll(into);
        this.#begin(record.node);
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

  /** Where the first record of a process was lost, its others tell as well. */
  #enter(node: string, into: Joined): void {
    if (this.#node === node) return;
    if (this.#node !== undefined) this.endAll(into);
    this.#begin(node);
  }

  #begin(node: string): void {
    this.#node = node;
    this.#nodeText = `,"node":${JSON.stringify(node)},`;
  }

  /** Of an intent of the process that is read: half of all lines are, and nearly none is needed again. */
  #quickId(line: string): string | undefined {
    if (this.#node === undefined || !line.startsWith(intentStart)) return undefined;
    const end = line.indexOf('"', intentStart.length);
    const id = line.slice(intentStart.length, end);
    if (id.includes('\\') || !line.includes(this.#nodeText)) return undefined;
    return id;
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
    units: null,
  };
  return { row: lost, accounts };
}

/** It went well as far as it went; but the journal could not be written then, and its client was not given the end. */
function toLateRow(row: LedgerRow): LedgerRow {
  if (row.outcome !== 'ok' && row.outcome !== 'error') return row;
  return { ...row, outcome: 'cut', error: 'store_unavailable' };
}
