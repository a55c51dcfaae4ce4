/** The journal's records about itself, and the JSON lines that version 0.1.0 wrote. */

import { Buffer } from 'node:buffer';
import type { IntentRecord, SettlementRecord } from '../core/accounting/ledger-row.ts';
import { isMapping } from '../lib/is-mapping.ts';
import { readJson } from '../lib/json/read-json.ts';
import { itemHeadBytes, itemKinds, type RowItem } from './journal-items.ts';

/** Where a frame was written, or should have been. */
export interface FramePosition {
  readonly segment: number;
  readonly offset: number;
}

/** First in the first segment of a process. */
interface StartRecord {
  readonly kind: 'start';
  readonly node: string;
  readonly atMs: number;
}

/** First in each further one. */
interface MoreRecord {
  readonly kind: 'more';
  readonly node: string;
}

/** The process wrote everything it had to. */
interface EndRecord {
  readonly kind: 'end';
  readonly node: string;
}

/** These exchanges were refused, though their intents may be in the journal. */
interface VoidRecord {
  readonly kind: 'void';
  readonly ids: readonly string[];
}

/** Repeats frames whose writes had an unknown result: counts where none of them can be read. `isLate`: the clients no longer wait. */
interface AgainRecord {
  readonly kind: 'again';
  readonly places: readonly FramePosition[];
  readonly isLate: boolean;
}

export type JournalLine =
  | IntentRecord
  | SettlementRecord
  | StartRecord
  | MoreRecord
  | EndRecord
  | VoidRecord
  | AgainRecord;

type OwnRecord = StartRecord | MoreRecord | EndRecord | VoidRecord | AgainRecord;

export function toItem(record: OwnRecord): RowItem {
  const text = JSON.stringify(record);
  const length = itemHeadBytes + Buffer.byteLength(text);
  const buffer = Buffer.alloc(length);
  buffer[0] = itemKinds.own;
  buffer.writeUInt32LE(length - itemHeadBytes, 1);
  buffer.write(text, itemHeadBytes);
  return { buffer, length, names: [] };
}

/** Undefined where it is none. The checksum proves that a Postern wrote it. */
export function parseLine(line: string): JournalLine | undefined {
  const value = readJson(line);
  return isLine(value) ? value : undefined;
}

function isLine(value: unknown): value is JournalLine {
  if (!isMapping(value)) return false;
  switch (value.kind) {
    case 'intent':
    case 'settlement':
      return isMapping(value.row) && typeof value.row.id === 'string' && typeof value.row.node === 'string';
    case 'start':
    case 'more':
    case 'end':
      return typeof value.node === 'string';
    case 'void':
      return Array.isArray(value.ids);
    case 'again':
      return Array.isArray(value.places);
    default:
      return false;
  }
}
