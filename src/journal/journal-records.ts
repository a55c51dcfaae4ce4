/** Defines the journal's records about itself, and parses the JSON lines that version 0.1.0 wrote. */

import { Buffer } from 'node:buffer';
import type { IntentRecord, SettlementRecord } from '../core/accounting/ledger-row.ts';
import { isMapping } from '../lib/is-mapping.ts';
import { readJson } from '../lib/json/read-json.ts';
import { itemHeadBytes, itemKinds, type RowItem } from './journal-items.ts';

/** Position at which a frame was written, or should have been. */
export interface FramePosition {
  readonly segment: number;
  readonly offset: number;
}

/** A process began: the first record in its first segment. */
interface StartRecord {
  readonly kind: 'start';
  readonly node: string;
  readonly atMs: number;
}

/** A process continues: the first record in each of its further segments. */
interface MoreRecord {
  readonly kind: 'more';
  readonly node: string;
}

/** A process ended, and had written everything before. */
interface EndRecord {
  readonly kind: 'end';
  readonly node: string;
}

/** These exchanges were refused, though the journal may have their intents. */
interface VoidRecord {
  readonly kind: 'void';
  readonly ids: readonly string[];
}

/** The frame repeats earlier ones whose writes had an unknown result: it counts where none can be read. `isLate`: clients no longer wait. */
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

/** Parses a line; undefined where it is no record. The checksum proves that a Postern wrote it. */
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
