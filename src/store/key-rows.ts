/** Keys as rows, and rows as keys. */

import { randomBytes } from 'node:crypto';
import type { Selectable } from 'kysely';
import type { KeyRecord } from '../core/key.ts';
import type { KeyChange, NewKey, StoredKey } from '../core/store/keys.ts';
import { toChangedColumns, toTermColumns, toTerms } from './key-columns.ts';
import type { KeyTable } from './schema.ts';

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
    ...toTermColumns(key),
    old_digest: null,
    created_at: nowMs,
    revoked_at: null,
    old_digest_until: null,
    version: 1,
  };
}

/** The columns that a change names. */
export function toColumns(change: KeyChange): Partial<KeyRow> {
  return { ...(change.name !== undefined && { name: change.name }), ...toChangedColumns(change) };
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
  return { id: row.id, managedBy: 'store', ...toTerms(row), revokedAtMs: row.revoked_at ?? undefined };
}

/** A key as the audit log shows it: of the secret, no more than the hint. */
export function toAudited(row: KeyRow): unknown {
  const { id, managedBy, version, ...shown } = toStoredKey(row);
  return shown;
}
