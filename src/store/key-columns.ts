/** Database columns of key settings: how each is written and read. */

import type { KeyTerms } from '../core/key.ts';
import { lanes } from '../core/lane.ts';
import { type Operation, operations } from '../core/operations/index.ts';
import type { KeyChange, NewKey } from '../core/store/keys.ts';
import { rerankShapes } from '../core/translation.ts';
import { StoreError } from './store-error.ts';
import { oneOf, readCaps, readTextMap, readTexts } from './stored-json.ts';

export interface KeyTermColumns {
  readonly models: string;
  /** A JSON list of text; null for all of them. */
  readonly operations: string | null;
  /** A JSON list of text; null for all of them. */
  readonly addresses: string | null;
  readonly project: string | null;
  /** JSON, as `Caps`; null for none. */
  readonly caps: string | null;
  /** A JSON object of text; null for none. */
  readonly metadata: string | null;
  readonly capture_ms: number | null;
  /** Which service its clients were written for. */
  readonly shape: string | null;
  /** Its lane at upstreams; null where unset. */
  readonly lane: string | null;
  /** Milliseconds since the epoch. */
  readonly expires_at: number | null;
}

export function toTermColumns(terms: KeyChange | Pick<NewKey, keyof KeyTerms>): KeyTermColumns {
  return {
    models: JSON.stringify(terms.models),
    operations: toText(terms.operations),
    addresses: toText(terms.addresses),
    project: terms.project ?? null,
    caps: toText(terms.caps),
    metadata: toText(terms.metadata),
    capture_ms: terms.captureMs ?? null,
    shape: terms.shape ?? null,
    lane: terms.lane ?? null,
    expires_at: terms.expiresAtMs ?? null,
  };
}

const otherNames: Readonly<Record<string, string>> = { capture_ms: 'captureMs', expires_at: 'expiresAtMs' };

/** Only the columns of fields that are there. */
export function toChangedColumns(change: KeyChange): Partial<KeyTermColumns> {
  const isThere = (column: string): boolean => Reflect.get(change, otherNames[column] ?? column) !== undefined;
  return Object.fromEntries(Object.entries(toTermColumns(change)).filter(([column]) => isThere(column)));
}

export function toTerms(row: KeyTermColumns & { readonly id: string }): KeyTerms {
  const { id } = row;
  return {
    models: wanted(readTexts(row.models), id, 'models'),
    // This version cannot serve what another version knows beyond these.
    operations:
      row.operations === null ? undefined : wanted(readTexts(row.operations), id, 'operations').filter(isOperation),
    addresses: row.addresses === null ? undefined : wanted(readTexts(row.addresses), id, 'addresses'),
    project: row.project ?? undefined,
    caps: wanted(readCaps(row.caps), id, 'caps'),
    metadata: readTextMap(row.metadata),
    captureMs: row.capture_ms ?? undefined,
    // A shape that only another version knows counts as none.
    shape: row.shape === null ? undefined : oneOf(rerankShapes, row.shape),
    lane: row.lane === null ? undefined : oneOf(lanes, row.lane),
    expiresAtMs: row.expires_at ?? undefined,
  };
}

/** Throws where a limit cannot be read: without it the key must not work. */
function wanted<T>(value: T | undefined, id: string, field: string): T {
  if (value === undefined) {
    throw new StoreError(`The ${field} of the key ${id} cannot be read; revoke it and create another.`);
  }
  return value;
}

function toText(value: unknown): string | null {
  return value === undefined || value === null ? null : JSON.stringify(value);
}

function isOperation(text: string): text is Operation {
  return oneOf(operations, text) !== undefined;
}
