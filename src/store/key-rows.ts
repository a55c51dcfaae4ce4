/** Keys as rows, and rows as keys. */

import { randomBytes } from 'node:crypto';
import type { Selectable } from 'kysely';
import type { KeyRecord } from '../core/key.ts';
import { type Operation, operations } from '../core/operation.ts';
import type { KeyChange, NewKey, StoredKey } from '../core/store/keys.ts';
import { rerankShapes } from '../core/translation.ts';
import type { KeyTable } from './schema.ts';
import { StoreError } from './store-error.ts';
import { oneOf, readCaps, readTextMap, readTexts } from './stored-json.ts';

export type KeyRow = Selectable<KeyTable>;

/** 80 bits in letters and digits that nobody mixes up. */
export function createKeyId(): string {
  const alphabet = 'abcdefghijkmnpqrstuvwxyz23456789';
  return `key_${Array.from(randomBytes(16), (byte) => alphabet.charAt(byte % alphabet.length)).join('')}`;
}

export function toRow(id: string, key: NewKey, nowMs: number): KeyRow {
  return {
    id,
    name: key.name,
    digest: key.digest,
    hint: key.hint,
    models: JSON.stringify(key.models),
    operations: toText(key.operations),
    addresses: toText(key.addresses),
    project: key.project ?? null,
    caps: toText(key.caps),
    metadata: toText(key.metadata),
    old_digest: null,
    created_at: nowMs,
    expires_at: key.expiresAtMs ?? null,
    revoked_at: null,
    capture_ms: key.captureMs ?? null,
    shape: key.shape ?? null,
    old_digest_until: null,
    version: 1,
  };
}

/** The columns that a change names. */
export function toColumns(change: KeyChange): Partial<KeyRow> {
  const columns: { -readonly [Column in keyof KeyTable]?: KeyTable[Column] } = {};
  if (change.name !== undefined) columns.name = change.name;
  if (change.models !== undefined) columns.models = JSON.stringify(change.models);
  if (change.operations !== undefined) columns.operations = toText(change.operations);
  if (change.addresses !== undefined) columns.addresses = toText(change.addresses);
  if (change.project !== undefined) columns.project = change.project;
  if (change.caps !== undefined) columns.caps = toText(change.caps);
  if (change.metadata !== undefined) columns.metadata = toText(change.metadata);
  if (change.captureMs !== undefined) columns.capture_ms = change.captureMs;
  if (change.shape !== undefined) columns.shape = change.shape;
  if (change.expiresAtMs !== undefined) columns.expires_at = change.expiresAtMs;
  return columns;
}

export function toStoredKey(row: KeyRow): StoredKey {
  return {
    ...toKeyRecord(row),
    name: row.name,
    hint: row.hint,
    createdAtMs: row.created_at,
    oldSecretUntilMs: row.old_digest_until ?? undefined,
    version: row.version,
  };
}

export function toKeyRecord(row: KeyRow): KeyRecord {
  const { id } = row;
  return {
    id,
    managedBy: 'store',
    models: wanted(readTexts(row.models), id, 'models'),
    // What another version of Postern knows beyond these, this one cannot serve.
    operations:
      row.operations === null ? undefined : wanted(readTexts(row.operations), id, 'operations').filter(isOperation),
    addresses: row.addresses === null ? undefined : wanted(readTexts(row.addresses), id, 'addresses'),
    project: row.project ?? undefined,
    caps: wanted(readCaps(row.caps), id, 'caps'),
    metadata: readTextMap(row.metadata),
    captureMs: row.capture_ms ?? undefined,
    // One that another version knows is none here.
    shape: row.shape === null ? undefined : oneOf(rerankShapes, row.shape),
    expiresAtMs: row.expires_at ?? undefined,
    revokedAtMs: row.revoked_at ?? undefined,
  };
}

/** A key as the audit log shows it: of the secret, no more than the hint. */
export function toAudited(row: KeyRow): unknown {
  const { id, managedBy, version, ...shown } = toStoredKey(row);
  return shown;
}

/** Without its limits a key may not be used: it is better that it does not work. */
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
