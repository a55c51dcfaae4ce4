/** Records every change: writes its audit log entry, and numbers it in the change feed of all nodes. */

import { isDeepStrictEqual } from 'node:util';
import { type Kysely, type Selectable, sql, type Transaction } from 'kysely';
import type { AuditEntry, AuditStore, Change, ChangeFeed } from '../core/store/store.ts';
import type { Clock } from '../lib/clock.ts';
import { createId } from '../lib/ids.ts';
import { isMapping } from '../lib/is-mapping.ts';
import { readJson } from '../lib/json/read-json.ts';
import { firstIdOf, toStorable } from './ledger/ledger-rows.ts';
import type { Schema } from './schema.ts';
import { oneOf } from './stored-json.ts';

/** Notifies other nodes of a change at once, if the database can. */
export interface Signal {
  /** Sends the notification when the transaction commits. */
  raise(transaction: Transaction<Schema>): Promise<void>;
  listen(onChange: () => void): { close(): Promise<void> };
}

/** No notifications: all nodes poll instead. */
export const noSignal: Signal = {
  raise: async () => undefined,
  listen: () => ({ close: async () => undefined }),
};

/** A change for the audit log. `changed`: the element that other nodes must read again; undefined where they cache nothing of it. */
export interface Trace extends Pick<AuditEntry, 'action' | 'subject' | 'before' | 'after'> {
  readonly changed?: Pick<Change, 'kind' | 'id'>;
}

export type Recorder = ReturnType<typeof createRecorder>;

/** Number of changes that are kept; a reader that is further behind reads everything again. */
const keptChanges = 10_000;
const pruneEvery = 1_000;

export function createRecorder(db: Kysely<Schema>, clock: Clock, signal: Signal) {
  return {
    /** Does the work in a transaction and writes its entry last; writes none where the work changed nothing. */
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
  const values = { before: toText(before), after: toText(after) };
  const row = { id: createId(nowMs), at: nowMs, actor, action, subject, ...values };
  await db.insertInto('audit').values(row).execute();
}

async function addChange(
  transaction: Transaction<Schema>,
  nowMs: number,
  { kind, id }: Pick<Change, 'kind' | 'id'>,
): Promise<void> {
  // The row stays locked until the transaction ends, so numbers become visible in their order. It is locked last, so that writers do not
  // wait for each other.
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

const secretNames = /(^|_)(key|secret|token|password|passphrase)$/i;
/** A reference to an environment variable, which is no secret, and shows where a secret comes from. */
const reference = /^\$\{[A-Za-z_][A-Za-z0-9_]*\}$/;

/** A document for the audit log: without its secrets, even encrypted ones. */
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
      // Not LIKE: an underscore in a name would match any character.
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

/** The value of a stored text; a damaged one must not make the whole log unreadable. */
function toValue(text: string | null): unknown {
  return text === null ? null : (readJson(text) ?? null);
}

const mostAtOnce = 1_001;
const kinds = ['key', 'resource', 'setting'] as const;

export function createChangeFeed(db: Kysely<Schema>, signal: Signal): ChangeFeed {
  return {
    async latest() {
      const row = await db.selectFrom('changes').selectAll().orderBy('sequence', 'desc').limit(1).executeTakeFirst();
      return row && toChange(row);
    },

    async since(known) {
      const first = known?.sequence ?? 1;
      const rows = db.selectFrom('changes').selectAll().where('sequence', '>=', first).orderBy('sequence');
      const found = (await rows.limit(mostAtOnce).execute()).map(toChange);
      if (known === undefined) return (found[0]?.sequence ?? first) === first ? found : undefined;
      return isDeepStrictEqual(found.shift(), known) ? found : undefined;
    },

    listen: (onChange) => signal.listen(onChange),
  };
}

/** A change as stored. A change of a kind that only a newer version knows still makes nodes read the configuration again. */
function toChange({ sequence, kind, subject, changed_at }: Selectable<Schema['changes']>): Change {
  return { sequence, kind: oneOf(kinds, kind) ?? 'resource', id: subject, atMs: changed_at };
}
