/** Virtual keys in a database. The secret never comes here: a key is found by its digest alone. */

import { randomBytes } from 'node:crypto';
import type { Kysely, Selectable } from 'kysely';
import type { KeyRecord } from '../core/key.ts';
import { type Operation, operations } from '../core/operation.ts';
import type { KeyStore, NewKey, StoredKey } from '../core/store.ts';
import type { Clock } from '../lib/clock.ts';
import type { KeyTable, Schema } from './schema.ts';
import { StoreError } from './store-error.ts';

type KeyRow = Selectable<KeyTable>;

/** One ID for every first key, so that of two processes that each make one, only one can. */
const firstKeyId = 'key_first';

const textColumns = ['id', 'name', 'digest', 'hint', 'models', 'operations', 'addresses'] as const;
const timeColumns = ['created_at', 'expires_at', 'revoked_at'] as const;
const columns = [...textColumns, ...timeColumns];

export function createKeyStore(db: Kysely<Schema>, clock: Clock): KeyStore {
  return {
    async find(digest) {
      const row = await db
        .selectFrom('keys')
        .select(['id', 'models', 'operations', 'addresses', 'expires_at', 'revoked_at'])
        .where('digest', '=', digest)
        .executeTakeFirst();
      return row === undefined ? undefined : toKeyRecord(row);
    },

    async list() {
      const rows = await db.selectFrom('keys').selectAll().orderBy('created_at').orderBy('id').execute();
      return rows.map(toStoredKey);
    },

    async create(key) {
      const row = toRow(createKeyId(), key, clock.nowMs());
      const made = await db
        .insertInto('keys')
        .values(row)
        .onConflict((conflict) => conflict.column('digest').doNothing())
        .executeTakeFirst();
      if (made.numInsertedOrUpdatedRows === 0n) throw new StoreError('A key with this secret is there already.');
      return toStoredKey(row);
    },

    async createFirst(key) {
      const row = toRow(firstKeyId, key, clock.nowMs());
      // One statement, so that no other process can come between the look and the insertion.
      const made = await db
        .insertInto('keys')
        .columns(columns)
        .expression(
          db
            .selectNoFrom(({ cast, val }) => [
              ...textColumns.map((column) => val(row[column]).as(column)),
              ...timeColumns.map((column) => cast<number | null>(val(row[column]), 'bigint').as(column)),
            ])
            .where(({ not, exists, selectFrom }) => not(exists(selectFrom('keys').select('id')))),
        )
        .onConflict((conflict) => conflict.doNothing())
        .executeTakeFirst();
      return made.numInsertedOrUpdatedRows === 1n ? toStoredKey(row) : undefined;
    },

    async revoke(id) {
      const result = await db
        .updateTable('keys')
        .set((column) => ({ revoked_at: column.fn.coalesce('revoked_at', column.val(clock.nowMs())) }))
        .where('id', '=', id)
        .executeTakeFirst();
      return result.numUpdatedRows > 0n;
    },
  };
}

/** 80 bits in letters and digits that nobody mixes up. */
function createKeyId(): string {
  const alphabet = 'abcdefghijkmnpqrstuvwxyz23456789';
  return `key_${Array.from(randomBytes(16), (byte) => alphabet.charAt(byte % alphabet.length)).join('')}`;
}

function toRow(id: string, key: NewKey, nowMs: number): KeyRow {
  return {
    id,
    name: key.name,
    digest: key.digest,
    hint: key.hint,
    models: JSON.stringify(key.models),
    operations: key.operations === undefined ? null : JSON.stringify(key.operations),
    addresses: key.addresses === undefined ? null : JSON.stringify(key.addresses),
    created_at: nowMs,
    expires_at: key.expiresAtMs ?? null,
    revoked_at: null,
  };
}

function toStoredKey(row: KeyRow): StoredKey {
  return { ...toKeyRecord(row), name: row.name, hint: row.hint, createdAtMs: row.created_at };
}

function toKeyRecord(row: Omit<KeyRow, 'name' | 'digest' | 'hint' | 'created_at'>): KeyRecord {
  return {
    id: row.id,
    managedBy: 'store',
    models: toTexts(row.models, row.id),
    // What another version of Postern knows beyond these, this one cannot serve.
    operations: row.operations === null ? undefined : toTexts(row.operations, row.id).filter(isOperation),
    addresses: row.addresses === null ? undefined : toTexts(row.addresses, row.id),
    expiresAtMs: row.expires_at ?? undefined,
    revokedAtMs: row.revoked_at ?? undefined,
  };
}

function toTexts(json: string, id: string): string[] {
  let list: unknown;
  try {
    list = JSON.parse(json);
  } catch (cause) {
    throw new StoreError(`The key ${id} holds a list that is no JSON; revoke it and create another.`, cause);
  }
  if (!Array.isArray(list) || !list.every((item) => typeof item === 'string')) {
    throw new StoreError(`The key ${id} holds something else than a list of text; revoke it and create another.`);
  }
  return list;
}

function isOperation(text: string): text is Operation {
  return (operations as readonly string[]).includes(text);
}
