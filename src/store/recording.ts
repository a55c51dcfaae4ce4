/** Records a change: its audit log entry, and its number in the change feed of all nodes. */

import { type Kysely, type Selectable, sql, type Transaction } from 'kysely';
import type { AuditEntry, AuditStore, Change, ChangeFeed } from '../core/store/store.ts';

import type { Clock } from '../lib/clock.ts';
import { createId } from '../lib/ids.ts';
import { isMapping } from '../lib/is-mapping.ts';
import { firstIdOf, toStorable } from './ledger/ledger-rows.ts';
import type { Schema } from './schema.ts';
import { oneOf, readJson } from './stored-json.ts';

/** How a database tells others at once that something changed. */
export interface Signal {
  /** Reaches them when the transaction ends well. */
  raise(transaction: Transaction<Schema>): Promise<void>;
  listen(onChange: () => void): { close(): Promise<void> };
}

/** Where nobody is told, everybody looks. */
export const noSignal: Signal = {
  raise: async () => undefined,
  listen: () => ({ close: async () => undefined }),
};

/** What was done, and to which thing other nodes have to look: none where they keep nothing of it. */
export interface Trace extends Pick<AuditEntry, 'action' | 'subject' | 'before' | 'after'> {
  readonly changed?: Pick<Change, 'kind' | 'id'>;
}

export type Recorder = ReturnType<typeof createRecorder>;

/** Who reads less often than this many changes are made reads everything anew. */
const keptChanges = 10_000;
const pruneEvery = 1_000;

export function createRecorder(db: Kysely<Schema>, clock: Clock, signal: Signal) {
  return {
    /** The work leaves a trace last of all, and none where it changed nothing. */
    write: <T>(
      actor: string,
      work: (transaction: Transaction<Schema>, trace: (trace: Trace) => Promise<void>) => Promise<T>,
    ): Promise<T> =>
      db.transaction().execute((transaction) =>
        work(transaction, async ({ changed, ...entry }) => {
          await addAuditEntry(transaction, clock.nowMs(), { actor, ...entry });
          if (changed === undefined) return;
          await addChange(transaction, clock.nowMs(), changed);
          await signal.raise(transaction);
        }),
      ),
  };
}

async function addAuditEntry(
  db: Kysely<Schema>,
  nowMs: number,
  { actor, action, subject, before, after }: Omit<AuditEntry, 'id' | 'atMs'>,
): Promise<void> {
  await db
    .insertInto('audit')
    .values({
      id: createId(nowMs),
      at: nowMs,
      actor,
      action,
      subject,
      before: toText(before),
      after: toText(after),
    })
    .execute();
}

async function addChange(
  transaction: Transaction<Schema>,
  nowMs: number,
  { kind, id }: Pick<Change, 'kind' | 'id'>,
): Promise<void> {
  // The row is ours until the transaction ends, so numbers become visible in their order. It is taken after everything else,
  // so that no two writers wait for each other.
  const { latest } = await transaction
    .updateTable('change_counter')
    .set((column) => ({ latest: column('latest', '+', 1) }))
    .where('id', '=', 1)
    .returning('latest')
    .executeTakeFirstOrThrow();
  await transaction.insertInto('changes').values({ sequence: latest, kind, subject: id, changed_at: nowMs }).execute();
  if (latest % pruneEvery === 0) {
    await transaction
      .deleteFrom('changes')
      .where('sequence', '<=', latest - keptChanges)
      .execute();
  }
}

function toText(value: unknown): string | null {
  return value === null || value === undefined ? null : JSON.stringify(withoutSecrets(value));
}

const sealed = '(sealed)';

/** Fields that hold a credential by their name, whatever is in them. */
const secretNames = /(^|_)(key|secret|token|password|passphrase)$/i;
/** A reference to the environment is no secret, and says where one comes from. */
const reference = /^\$\{[A-Za-z_][A-Za-z0-9_]*\}$/;

/** What of a document may stand in the audit log: everything but secrets, sealed ones too. */
function withoutSecrets(value: unknown): unknown {
  if (typeof value === 'string') return value.startsWith('sealed:') ? sealed : value;
  if (Array.isArray(value)) return value.map(withoutSecrets);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, toShown(name, inner)]));
}

function toShown(name: string, value: unknown): unknown {
  if (secretNames.test(name) && typeof value === 'string') return reference.test(value) ? value : sealed;
  // Static headers carry credentials under any name.
  if (name === 'headers' && isMapping(value)) {
    return Object.fromEntries(Object.keys(value).map((header) => [header, sealed]));
  }
  return withoutSecrets(value);
}

const mostEntries = 1_000;

/** The audit log in a database: who changed what. */
export function createAuditStore(db: Kysely<Schema>, clock: Clock): AuditStore {
  return {
    add: (entry) => addAuditEntry(db, clock.nowMs(), entry),

    async page({ before, limit, actor, action, subject, fromMs, toMs }) {
      // IDs sort by time.
      let query = db.selectFrom('audit').selectAll().orderBy('id', 'desc').limit(Math.min(limit, mostEntries));
      if (before !== undefined) query = query.where('id', '<', toStorable(before));
      if (fromMs !== undefined) query = query.where('id', '>=', firstIdOf(fromMs));
      if (toMs !== undefined) query = query.where('id', '<', firstIdOf(toMs));
      if (actor !== undefined) query = query.where('actor', '=', toStorable(actor));
      if (subject !== undefined) query = query.where('subject', '=', toStorable(subject));
      // No LIKE: an underscore in a name is no wild card.
      if (action !== undefined) {
        const beginning = toStorable(action);
        const length = [...beginning].length;
        query = query.where(sql<string>`substr(action, 1, ${sql.lit(length)})`, '=', beginning);
      }
      return (await query.execute()).map(toEntry);
    },
  };
}

function toEntry(row: Selectable<Schema['audit']>): AuditEntry {
  const { id, at, actor, action, subject, before, after } = row;
  return { id, atMs: at, actor, action, subject, before: toValue(before), after: toValue(after) };
}

/** A look at the log is worth more than an error about one entry. */
function toValue(text: string | null): unknown {
  return text === null ? null : (readJson(text) ?? null);
}

const mostAtOnce = 1_000;
const kinds = ['key', 'resource', 'setting'] as const;

/** The feed of changes in a database: what changed, in order, for all nodes. */
export function createChangeFeed(db: Kysely<Schema>, signal: Signal): ChangeFeed {
  return {
    async latest() {
      const row = await db.selectFrom('change_counter').select('latest').where('id', '=', 1).executeTakeFirst();
      return row?.latest ?? 0;
    },

    async since(sequence) {
      const rows = await db
        .selectFrom('changes')
        .select(['sequence', 'kind', 'subject'])
        .where('sequence', '>', sequence)
        .orderBy('sequence')
        .limit(mostAtOnce)
        .execute();
      return rows.map(({ sequence: number, kind, subject }): Change => {
        // What a newer version tells of is for us at least a reason to look at the configuration again.
        return { sequence: number, kind: oneOf(kinds, kind) ?? 'resource', id: subject };
      });
    },

    listen: (onChange) => signal.listen(onChange),
  };
}
