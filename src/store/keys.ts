/** Stores virtual keys in the database, to be found by digest; secrets are never stored. */

import { randomBytes } from 'node:crypto';
import type { Kysely, Selectable, Transaction } from 'kysely';
import type { KeyRecord, KeyTerms } from '../core/key.ts';
import { lanes } from '../core/lane.ts';
import { type Operation, operations } from '../core/operations/index.ts';
import type { KeyChange, KeyStore, NewKey, StoredKey } from '../core/store/keys.ts';
import { rerankShapes } from '../core/translation.ts';
import type { Clock } from '../lib/clock.ts';
import { pick } from '../lib/record-of.ts';
import { inBackground } from '../lib/time-slices.ts';
import { toRow } from './columns.ts';
import { insertNew } from './ledger/ledger-insert.ts';
import type { Recorder, Trace } from './recording.ts';
import type { KeyTable, Schema } from './schema.ts';
import { StoreError } from './store-error.ts';
import { oneOf, readCaps, readTextMap, readTexts } from './stored-json.ts';

interface KeyStoreDeps {
  readonly db: Kysely<Schema>;
  /** The database connections for look-ups that a request waits for. */
  readonly quick: Kysely<Schema>;
  readonly clock: Clock;
  readonly recorder: Recorder;
}

/** The ID of every first key, so that only one of two processes that create a first key succeeds. */
const firstKeyId = 'key_first';

const defaultActor = 'command line';

const numericColumns: ReadonlySet<string> = new Set<keyof KeyRow>([
  ...(['created_at', 'revoked_at', 'old_digest_until', 'version', 'capture_ms', 'expires_at'] as const),
]);

const columnsOf = (row: KeyRow) => Object.keys(row) as (keyof KeyRow)[];

export function createKeyStore({ db, quick, clock, recorder }: KeyStoreDeps): KeyStore {
  return {
    async find(digest) {
      const row = await quick
        .selectFrom('keys')
        .selectAll()
        .where((is) =>
          is.or([
            is('digest', '=', digest),
            is.and([is('old_digest', '=', digest), is('old_digest_until', '>', clock.nowMs())]),
          ]),
        )
        .executeTakeFirst();
      if (row === undefined) return undefined;
      const record = toKeyRecord(row);
      if (row.digest === digest || row.old_digest_until === null) return record;
      // A former secret ends with its overlap, or earlier with the key.
      return { ...record, expiresAtMs: Math.min(row.old_digest_until, record.expiresAtMs ?? row.old_digest_until) };
    },

    async holder(digest) {
      const row = await findHolder(db, digest);
      return row && { id: row.id, isCurrent: row.digest === digest };
    },

    async get(id) {
      const row = await db.selectFrom('keys').selectAll().where('id', '=', id).executeTakeFirst();
      return row && toStoredKey(row);
    },

    async list() {
      const rows = await db.selectFrom('keys').selectAll().orderBy('created_at').orderBy('id').execute();
      return inBackground.inSlices(rows, toStoredKey);
    },

    create: (key, actor = defaultActor) =>
      recorder.write(actor, async (transaction, trace) => {
        const row = toKeyRow(key.id ?? createKeyId(), key, clock.nowMs());
        await refuseKnown(transaction, key.digest);
        const isNew = (await insertNew(transaction, 'keys', [row])) === 1;
        if (!isNew && (await take(transaction, row.id))) throw new StoreError('A key with this ID is there already.');
        if (!isNew) throw knownSecret();
        await trace(toTrace('key.create', undefined, row));
        return toStoredKey(row);
      }),

    createFirst: (key: NewKey) =>
      recorder.write('first start', async (transaction, trace) => {
        const row = toKeyRow(firstKeyId, key, clock.nowMs());
        // One statement, so that no other process can insert between the check and the insertion.
        const made = await transaction
          .insertInto('keys')
          .columns(columnsOf(row))
          .expression(
            transaction
              .selectNoFrom(({ cast, val }) =>
                columnsOf(row).map((column) =>
                  cast<string | number | null>(val(row[column]), numericColumns.has(column) ? 'bigint' : 'text').as(
                    column,
                  ),
                ),
              )
              .where(({ not, exists, selectFrom }) => not(exists(selectFrom('keys').select('id')))),
          )
          .onConflict((conflict) => conflict.doNothing())
          .executeTakeFirst();
        if (made.numInsertedOrUpdatedRows !== 1n) return undefined;
        await trace(toTrace('key.create', undefined, row));
        return toStoredKey(row);
      }),

    change: (id, change, actor = defaultActor) =>
      recorder.write(actor, async (transaction, trace) => {
        const before = await take(transaction, id);
        return before && apply(change, before, transaction, trace);
      }),

    changeVersion: (id, expected, change, actor) =>
      recorder.write(actor, async (transaction, trace) => {
        const before = await take(transaction, id);
        if (before !== undefined && before.version !== expected) return 'conflict';
        return before && apply(change, before, transaction, trace);
      }),

    rotate: (id, secret, oldUntilMs, actor = defaultActor) =>
      recorder.write(actor, async (transaction, trace) => {
        const before = await take(transaction, id);
        if (before === undefined || before.revoked_at !== null) return undefined;
        await refuseKnown(transaction, secret.digest);
        const { digest, hint } = secret;
        const old = { old_digest: before.digest, old_digest_until: oldUntilMs };
        const renewed = { digest, hint, ...old, version: before.version + 1 };
        await transaction.updateTable('keys').set(renewed).where('id', '=', id).execute();
        const after = { ...before, ...renewed };
        await trace(toTrace('key.rotate', before, after));
        return toStoredKey(after);
      }),

    revoke: (id, actor = defaultActor) =>
      recorder.write(actor, async (transaction, trace) => {
        const before = await take(transaction, id);
        if (before === undefined) return false;
        if (before.revoked_at !== null) return true;
        const ended = { revoked_at: clock.nowMs(), version: before.version + 1 };
        await transaction.updateTable('keys').set(ended).where('id', '=', id).execute();
        await trace(toTrace('key.revoke', before, { ...before, ...ended }));
        return true;
      }),
  };
}

/** Reads a key's row and locks it until the transaction ends. In every database, an update that changes nothing locks the row. */
function take(transaction: Transaction<Schema>, id: string): Promise<KeyRow | undefined> {
  return transaction
    .updateTable('keys')
    .set((column) => ({ name: column.ref('name') }))
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirst();
}

/** Applies a change. An update that changes nothing makes no new version and no audit entry. */
async function apply(
  change: KeyChange,
  before: KeyRow,
  transaction: Transaction<Schema>,
  trace: (trace: Trace) => Promise<void>,
): Promise<StoredKey> {
  if (isSame(before, { ...before, ...toColumns(change) })) return toStoredKey(before);
  const changed = { ...toColumns(change), version: before.version + 1 };
  await transaction.updateTable('keys').set(changed).where('id', '=', before.id).execute();
  const after = { ...before, ...changed };
  await trace(toTrace('key.change', before, after));
  return toStoredKey(after);
}

/** Refuses a secret that any key has or had: a former secret stays with its key, even after the rotation. */
async function refuseKnown(transaction: Transaction<Schema>, digest: string): Promise<void> {
  if ((await findHolder(transaction, digest)) !== undefined) throw knownSecret();
}

function findHolder(db: Kysely<Schema>, digest: string): Promise<Pick<KeyRow, 'id' | 'digest'> | undefined> {
  return db
    .selectFrom('keys')
    .select(['id', 'digest'])
    .where((is) => is.or([is('digest', '=', digest), is('old_digest', '=', digest)]))
    .executeTakeFirst();
}

const knownSecret = () => new StoreError('A key with this secret is there already.');

function toTrace(action: string, before: KeyRow | undefined, after: KeyRow): Trace {
  return {
    changed: { kind: 'key', id: after.id },
    action,
    subject: after.id,
    before: before === undefined ? null : toAudited(before),
    after: toAudited(after),
  };
}

function isSame(one: KeyRow, other: KeyRow): boolean {
  return columnsOf(one).every((column) => one[column] === other[column]);
}

type KeyRow = Selectable<KeyTable>;

/** A new key ID: 80 random bits in letters and digits that are not easily confused. */
function createKeyId(): string {
  const alphabet = 'abcdefghijkmnpqrstuvwxyz23456789';
  return `key_${Array.from(randomBytes(16), (byte) => alphabet.charAt(byte % alphabet.length)).join('')}`;
}

const termFields = [
  ...(['models', 'operations', 'addresses', 'project', 'caps', 'metadata', 'captureMs', 'shape', 'lane'] as const),
  'expiresAtMs',
] as const satisfies readonly (keyof KeyTerms)[];

function toKeyRow(id: string, key: NewKey, nowMs: number): KeyRow {
  const { name, digest, hint } = key;
  const times = { created_at: nowMs, revoked_at: null, old_digest_until: null };
  return { id, name, digest, hint, ...toRow(pick(key, termFields)), ...times, old_digest: null, version: 1 };
}

function toColumns(change: KeyChange): Partial<KeyRow> {
  const changed = (['name', ...termFields] as const).filter((field) => change[field] !== undefined);
  return toRow(pick(change, changed)) as Partial<KeyRow>;
}

function toStoredKey(row: KeyRow): StoredKey {
  return {
    ...toKeyRecord(row),
    name: row.name,
    hint: row.hint,
    createdAtMs: row.created_at,
    oldSecretUntilMs: row.old_digest_until ?? undefined,
    version: row.version,
  };
}

function toKeyRecord(row: KeyRow): KeyRecord {
  return { id: row.id, managedBy: 'store', ...toTerms(row), revokedAtMs: row.revoked_at ?? undefined };
}

/** The key as the audit log has it: only the hint of its secret. */
function toAudited(row: KeyRow): unknown {
  const { id, managedBy, version, ...shown } = toStoredKey(row);
  return shown;
}

function toTerms(row: KeyRow): KeyTerms {
  const { id } = row;
  return {
    models: wanted(readTexts(row.models), id, 'models'),
    // Operations that only another version knows are left out, as this version cannot serve them.
    operations: row.operations === null ? undefined : known(wanted(readTexts(row.operations), id, 'operations')),
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

/** Returns the value of a stored limit; throws where it cannot be read, as a key must not work without its limit. */
function wanted<T>(value: T | undefined, id: string, field: string): T {
  if (value === undefined) {
    throw new StoreError(`The ${field} of the key ${id} cannot be read; revoke it and create another.`);
  }
  return value;
}

const known = (texts: readonly string[]): Operation[] => texts.flatMap((text) => oneOf(operations, text) ?? []);
